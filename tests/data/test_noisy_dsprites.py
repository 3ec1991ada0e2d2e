import torch

from unbraid.data import open_data

BASE = "base=sprites:pixels=16+positions=4+orientations=5"
PLAIN = "sprites:pixels=16,positions=4,orientations=5"


def small(folder, monkeypatch):
    return f"noisy_dsprites:{BASE}"


def test_sprites_are_white_and_the_rest_is_uniform_noise():
    data, base = open_data(f"noisy_dsprites:{BASE}"), open_data(PLAIN)
    rows = torch.arange(len(data))
    x, plain = data.draw(rows), base.draw(rows).expand(-1, 3, -1, -1)
    assert (x[plain == 1] == 1).all()
    noise = (x[plain == 0] * 255).round().long()
    counts = torch.bincount(noise, minlength=256).double()
    expected = len(noise) / 256
    assert ((counts - expected) ** 2 / expected).sum() < 255 + 5 * (2 * 255) ** 0.5  # chi² of 255 degrees


def test_noise_of_pixels_channels_and_rows_is_unrelated():
    data = open_data(f"noisy_dsprites:{BASE}")
    x = data.draw(torch.arange(len(data)))[:, :, 0].flatten(1)  # the top line has no sprite
    away = x.T.corrcoef() - torch.eye(48)
    assert away.abs().max() < 5 / len(data) ** 0.5
    flat = x.flatten()
    for lag in (1, 2, 3, 4, 16, 48, 96):
        assert torch.stack([flat[lag:], flat[:-lag]]).corrcoef()[0, 1].abs() < 5 / len(flat) ** 0.5


def test_seed_and_row_determine_the_noise():
    data = open_data(f"noisy_dsprites:{BASE}")
    rows = torch.tensor([5, 700, 5])
    assert torch.equal(data.draw(rows)[1], data.draw(torch.tensor(700)))
    assert not torch.equal(open_data(f"noisy_dsprites:{BASE},seed=1").draw(rows), data.draw(rows))
