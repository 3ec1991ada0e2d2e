import math

import pytest
import torch

from unbraid.data.sprites import sprites


def centre(image):
    """Of the lit pixels' bounding box, in pixels, x and y."""
    lit = image[0].nonzero().float()
    return ((lit.min(0).values + lit.max(0).values + 1) / 2).flip(0)


@pytest.mark.parametrize(("pixels", "positions"), [(64, 32), (32, 32), (16, 16), (24, 5), (20, 1), (64, 50)])
def test_sprites_never_touch_the_edge(pixels, positions):
    data = sprites(scales=2, orientations=8, positions=positions, pixels=pixels)
    largest = data.values[:, 1] == 1
    corners = (data.values[:, 3:] % max(positions - 1, 1) == 0).all(1) & largest
    drawn = data.draw(corners.nonzero()[:, 0])[:, 0]
    assert drawn.sum((1, 2)).min() > 0
    assert drawn[:, 0].sum() + drawn[:, -1].sum() + drawn[:, :, 0].sum() + drawn[:, :, -1].sum() == 0


@pytest.mark.parametrize(("pixels", "positions", "step"), [(64, 32, 1), (64, 16, 2), (64, 3, 16), (32, 9, 2)])
def test_moving_is_in_equal_steps(pixels, positions, step):
    data = sprites(shapes=1, scales=1, orientations=1, positions=positions, pixels=pixels)
    images = data.draw(torch.arange(len(data))).view(positions, positions, pixels, pixels)
    for i in range(positions - 1):
        assert torch.equal(images[i].roll(step, -1), images[i + 1])
        assert torch.equal(images[:, i].roll(step, -2), images[:, i + 1])
    middle = (centre(images[0, 0][None]) + centre(images[-1, -1][None])) / 2
    assert (middle - pixels / 2).abs().max() <= 0.5


def test_steps_finer_than_a_pixel():
    data = sprites(shapes=1, scales=1, orientations=1, positions=32, pixels=32)
    images = data.draw(torch.arange(32 * 32)).view(32, 32, 32, 32)
    assert torch.equal(images[0].roll(1, -1), images[2])
    assert not torch.equal(images[0], images[1])


def test_scale_and_orientation():
    data = sprites(orientations=4, positions=1)
    images = data.draw(torch.arange(len(data))).view(3, 6, 4, 64, 64)
    lit = images.sum((-1, -2)) / 4096
    areas = [0.3**2, math.pi * 0.1995 * 0.1127]
    for shape, area in enumerate(areas):
        for scale in range(6):
            assert lit[shape, scale] == pytest.approx(area * (0.5 + 0.1 * scale) ** 2, rel=0.12)
    assert torch.equal(torch.rot90(images[2, 5, 0]), images[2, 5, 1])
    heart = images[2, 5, 0]
    assert torch.equal(heart, heart.flip(-1)) and heart[:32].sum() > heart[32:].sum()


def test_all_orientations_differ():
    images = sprites(positions=1).draw(torch.arange(720)).view(3, 6, 40, -1)
    assert len(torch.unique(images[2, 5], dim=0)) == 40
    assert torch.equal(images[0, 5, 0], images[0, 5, 10])


def test_default_is_all_of_dsprites():
    data = sprites()
    assert len(data) == 737280 and data.shape == (1, 64, 64)
    assert [factor.size for factor in data.factors] == [3, 6, 40, 32, 32]
    row = torch.tensor(((2 * 6 + 5) * 40) * 1024 + 3 * 32 + 20)
    assert data.factor_values(row).tolist() == [2, 5, 0, 3, 20]
    assert centre(data.draw(row)).tolist() == pytest.approx([32 - 15.5 + 3, 32 - 15.5 + 20], abs=0.6)
