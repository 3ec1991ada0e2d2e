import colorsys

import numpy as np
import pytest
import torch

from unbraid.data import open_data
from unbraid.errors import UserError
from unbraid.room_views import views
from unbraid.solids import SOLIDS, seen


def small(folder, monkeypatch):
    return "rooms:scales=2,orientations=3,pixels=16"


@pytest.fixture(scope="module")
def planes():
    """Planes (scale, shape, orientation, plane, pixels, pixels) in 0..1."""
    return views(3, 4, 5, 32).view(3, 4, 5, 4, 32, 32).float() / 255


def test_default_is_the_size_of_shapes3d():
    data = open_data("rooms:pixels=16")
    assert len(data) == 480_000 and [f.size for f in data.factors] == [10, 10, 10, 8, 4, 15]


def test_a_sample_is_planes_times_colours():
    data = open_data("rooms:scales=2,orientations=3,pixels=16,floors=3,walls=4,objects=5")
    planes = views(2, 4, 3, 16).float() / 255
    rows = torch.randint(len(data), (50,), generator=torch.Generator().manual_seed(0))
    for x, factors in zip(data.draw(rows), data.factor_values(rows).tolist(), strict=True):
        floor, wall, thing, scale, shape, turn = factors
        view = planes[(scale * 4 + shape) * 3 + turn]
        colours = [
            colorsys.hsv_to_rgb(floor / 3, 0.62, 1),
            colorsys.hsv_to_rgb(wall / 4, 0.62, 1),
            colorsys.hsv_to_rgb(thing / 5, 0.85, 1),
            (1, 1, 1),
        ]
        assert torch.allclose(x, torch.einsum("pc,phw->chw", torch.tensor(colours), view), atol=1e-6)


def test_floor_is_below_and_walls_above(planes):
    floor, wall = planes[:, :, :, 0], planes[:, :, :, 1]
    assert (floor[..., :8, :] == 0).all() and (wall[..., :8, [0, -1]] > 0.3).all()
    assert (wall[..., 26:, :] == 0).all() and (floor[..., 30:, :] > 0.5).all()
    assert planes.sum(3).max() <= 1


def test_object_stands_in_the_middle_and_grows(planes):
    there = planes[..., 2, :, :] + planes[..., 3, :, :] > 0.1
    area = there.sum((-1, -2))
    assert (area[1:] > area[:-1] * 1.1).all() and area.min() > 20
    across = torch.arange(32) + 0.5
    centre = (there.sum(-2) * across).sum(-1) / area
    assert (centre - 16).abs().max() < 1
    bottom = (there.any(-1) * torch.arange(32)).amax(-1)
    assert bottom.min() >= 17 and (bottom[1:] >= bottom[:-1]).all()


def test_every_shape_and_every_orientation_looks_different(planes):
    x = planes.transpose(0, 3).flatten(4)  # plane, shape, orientation, scale, pixels
    for a in range(4):
        for b in range(a):
            assert ((x[2, a] - x[2, b]).abs() > 0.2).sum(-1).min() >= 4
    walls = planes[1, 2, :, 1].flatten(1)
    apart = torch.cdist(walls, walls) + 9 * torch.eye(5)
    assert apart.min() > 1
    assert (walls - walls.view(5, 32, 32).flip(-1).flip(0).flatten(1)).abs().amax(1).min() > 0.1  # light tells sides


def test_shadow_falls_away_from_the_sun(planes):
    empty = planes[0, 2, 2, 0]
    shaded = planes[2, 2, 2, 0]
    lost = (empty - shaded).clamp_min(0) * (planes[2, 2, 2, 2] == 0)
    assert lost[:, 17:].sum() > 2 * lost[:, :15].sum() and lost.max() > 0.1


def test_rays_meet_solids_where_geometry_says():
    start = np.array([[0.2, 0.0], [0.3, 9.0], [9.0, 0.0]], np.float32)  # one from the front, one from above
    ray = np.array([[0, 0], [0, -1], [-1, 0]], np.float32)
    for name, (front, top) in {
        "cube": (9 - 0.56, 9 - 1.12),
        "cylinder": (9 - (0.36 - 0.04) ** 0.5, 9 - 1.3),
        "sphere": (9 - (0.49 - 0.04 - 0.16) ** 0.5, 9 - 1.4),
        "capsule": (9 - (0.46**2 - 0.04 - 0.16**2) ** 0.5, 9 - 1.75),
    }.items():
        near, normal = SOLIDS[name].meet(start, ray)
        assert near == pytest.approx([front, top], abs=1e-4), name
        assert np.linalg.norm(normal, axis=0) == pytest.approx([1, 1], abs=1e-4), name
        assert (np.sum(normal * ray, 0) < 0).all(), name
        assert not np.isfinite(SOLIDS[name].meet(start + np.float32(3) * np.array([[1], [0], [0]]), ray)[0]).any()


def test_a_ball_hides_the_share_of_the_sky_that_it_fills():
    sky = np.random.default_rng(0).normal(size=(4000, 3))
    sky[:, 1] = np.abs(sky[:, 1])
    sky /= np.linalg.norm(sky, axis=1, keepdims=True)
    points = np.array([[3.0], [0.0]], np.float32)
    sine = 0.7 / np.hypot(3, 0.7)
    half = 1 - np.sqrt(1 - sine**2)  # of the whole sphere's solid angle over 2π; the ball touches the floor
    rise = np.arctan(0.7 / 3)
    assert np.arcsin(sine) == pytest.approx(rise)
    assert 1 - seen(SOLIDS["sphere"], points, sky)[0] == pytest.approx(half, abs=5 * (half / 4000) ** 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("shapes=5", "cube, cylinder, sphere, capsule"),
        ("pixels=8", "at least 16"),
        ("floors=0", "floors=0"),
        ("pixels=2048", "too many for 480 views"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(UserError, match=message):
        open_data(f"rooms:{options}")
