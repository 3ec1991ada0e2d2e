import pytest
import torch
from torch import nn

from unbraid import catalog
from unbraid.errors import UserError
from unbraid.networks import open_net
from unbraid.networks.spatial_broadcast import Broadcast

SHAPES = [(1, 64, 64), (3, 28, 28), (2, 17, 40), (1, 32, 32), (4, 100, 70)]


@pytest.mark.parametrize("shape", [*SHAPES, (5,), (1,)])
@pytest.mark.parametrize("name", catalog.names("networks"))
def test_every_net_fits_every_shape_or_says_why(name, shape):
    try:
        encoder, decoder = open_net(name, shape, "unit").build(3, 6)
    except UserError as error:
        assert len(shape) == 1 and "use net mlp" in str(error)
        return
    assert encoder(torch.zeros(2, *shape)).shape == (2, 6)
    assert decoder(torch.zeros(2, 3)).shape == (2, *shape)


def test_conv_at_64_is_disentanglement_libs():
    encoder, decoder = open_net("conv", (1, 64, 64), "unit").build(10, 20)
    convs = [(m.in_channels, m.out_channels, m.kernel_size[0]) for m in encoder.modules() if isinstance(m, nn.Conv2d)]
    assert convs == [(1, 32, 4), (32, 32, 4), (32, 64, 2), (64, 64, 2)]
    assert [m.out_features for m in encoder.modules() if isinstance(m, nn.Linear)] == [256, 20]
    ups = [(m.in_channels, m.out_channels) for m in decoder.modules() if isinstance(m, nn.ConvTranspose2d)]
    assert ups == [(64, 64), (64, 32), (32, 32), (32, 1)]
    assert [m.out_features for m in decoder.modules() if isinstance(m, nn.Linear)] == [256, 1024]


def test_burgess_is_the_papers():
    encoder, decoder = open_net("burgess", (1, 64, 64), "unit").build(10, 20)
    assert sum(isinstance(m, nn.Conv2d) for m in encoder.modules()) == 4
    assert [m.out_features for m in encoder.modules() if isinstance(m, nn.Linear)] == [256, 256, 20]
    assert [m.out_features for m in decoder.modules() if isinstance(m, nn.Linear)] == [256, 256, 512]
    assert [m.out_channels for m in decoder.modules() if isinstance(m, nn.ConvTranspose2d)] == [32, 32, 32, 1]
    assert (
        sum(isinstance(m, nn.Conv2d) for m in open_net("burgess", (1, 32, 32), "unit").build(10, 20)[0].modules()) == 3
    )


def test_thesis_mlps():
    encoder, decoder = open_net("higgins", (1, 64, 64), "binary").build(5, 10)
    assert [m.out_features for m in encoder.modules() if isinstance(m, nn.Linear)] == [1200, 1200, 10]
    assert [m.out_features for m in decoder.modules() if isinstance(m, nn.Linear)] == [1200, 1200, 1200, 4096]
    assert sum(isinstance(m, nn.Tanh) for m in decoder.modules()) == 3
    options = "mlp:encoder=400,decoder=500-500,activation=relu,decoder_activation=tanh"
    encoder, decoder = open_net(options, (1, 28, 28), "unit").build(6, 12)
    assert [m.out_features for m in decoder.modules() if isinstance(m, nn.Linear)] == [500, 500, 784]


def test_own_pair_and_own_function():
    pair = (nn.Linear(5, 7), nn.Linear(3, 5))
    encoder, decoder = open_net(pair, (5,), "real").build(3, 6)
    assert encoder(torch.zeros(2, 5)).shape == (2, 6)
    assert torch.equal(decoder.weight, pair[1].weight) and decoder is not pair[1]
    made = open_net(lambda shape, latents: (nn.Linear(*shape, 4), nn.Linear(latents, *shape)), (5,), "real")
    assert made.build(3, 6)[0](torch.zeros(1, 5)).shape == (1, 6)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("con", "did you mean 'conv'"),
        ("mlp:encodr=3", "did you mean 'encoder'"),
        ("mlp:encoder=a-b", "whole numbers joined by dashes"),
        ("mlp:activation=relo", "did you mean 'relu'"),
        ((nn.Linear(4, 2), nn.Linear(3, 5)), "does not take input of shape"),
        ((nn.Linear(5, 2), nn.Linear(3, 4)), "the data have"),
        (3, "must be a name"),
    ],
)
def test_mistakes_are_one_clear_line(what, words):
    with pytest.raises(UserError, match=words) as error:
        open_net(what, (5,), "real").build(3, 6)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("shape", [(1, 16, 16), (3, 9, 20)])
def test_broadcast_is_a_convolution_of_tiled_codes(shape):
    _, height, width = shape
    layer = Broadcast(5, 4, height, width)
    z = torch.randn(3, 5)
    rows, columns = torch.linspace(-1, 1, height), torch.linspace(-1, 1, width)
    places = torch.stack([rows[:, None].expand(height, width), columns.expand(height, width)]).expand(3, -1, -1, -1)
    tiled = torch.cat([z[:, :, None, None].expand(-1, -1, height, width), places], 1)
    torch.testing.assert_close(layer(z), layer.convolution(tiled), rtol=1e-4, atol=1e-5)


def test_spatial_broadcast_is_as_deep_and_wide_as_asked():
    encoder, decoder = open_net("spatial_broadcast:channels=24,hidden=3", (3, 32, 32), "unit").build(30, 60)
    convs = [(m.in_channels, m.out_channels, m.kernel_size[0]) for m in encoder.modules() if isinstance(m, nn.Conv2d)]
    assert convs == [(3, 32, 4), (32, 64, 4), (64, 64, 4)]
    assert [m.out_features for m in encoder.modules() if isinstance(m, nn.Linear)] == [256, 60]
    convs = [(m.in_channels, m.out_channels) for m in decoder.modules() if isinstance(m, nn.Conv2d)]
    assert convs == [(32, 24), (24, 24), (24, 24), (24, 3)]
    for options, words in (("channels=0", "channels=0: must be a whole number"), ("hidden=0", "hidden=0: must be")):
        with pytest.raises(UserError, match=words):
            open_net(f"spatial_broadcast:{options}", (3, 32, 32), "unit").build(3, 6)
    with pytest.raises(UserError, match="at least 8x8, the data have 32x7"):
        open_net("spatial_broadcast", (1, 32, 7), "unit").build(3, 6)
