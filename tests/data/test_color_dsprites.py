import pytest
import torch

from unbraid.data import open_data
from unbraid.errors import UserError

BASE = "base=sprites:pixels=16+positions=4+orientations=5"
PLAIN = "sprites:pixels=16,positions=4,orientations=5"


def small(folder, monkeypatch):
    return f"color_dsprites:{BASE}"


def test_a_sprite_is_itself_times_one_colour():
    data, base = open_data(f"color_dsprites:{BASE},copies=3"), open_data(PLAIN)
    rows = torch.arange(len(data))
    x, plain = data.draw(rows), base.draw(rows % len(base))
    colour = x.amax((2, 3))
    assert torch.equal(x, plain * colour[:, :, None, None])
    assert colour.min() >= 0.5 and colour.max() <= 1
    # Uniform and independent: mean 3/4, variance 1/48, within five standard errors.
    assert (colour.mean(0) - 0.75).abs().max() < 5 * (1 / 48 / len(data)) ** 0.5
    assert (colour.T.cov() - torch.eye(3) / 48).abs().max() < 5 / 48 / len(data) ** 0.5


def test_copies_have_the_factors_and_other_colours():
    data, base = open_data(f"color_dsprites:{BASE},copies=2"), open_data(PLAIN)
    assert len(data) == 2 * len(base) and data.factors == base.factors
    assert torch.equal(data.values, torch.cat([base.values, base.values]))
    first = torch.arange(len(base))
    assert (data.draw(first) != data.draw(first + len(base))).flatten(1).any(1).all()


def test_seed_and_row_determine_the_colour():
    data = open_data(f"color_dsprites:{BASE}")
    rows = torch.tensor([[5, 700], [5, 3]])
    x = data.draw(rows)
    assert torch.equal(x[0, 0], x[1, 0]) and torch.equal(x[0, 1], data.draw(torch.tensor([700]))[0])
    assert not torch.equal(open_data(f"color_dsprites:{BASE},seed=1").draw(rows), x)
    assert open_data(f"color_dsprites:{BASE},seed=1").name == f"color_dsprites:{BASE},seed=1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("base=linear_square", "must have pictures of one channel"),
        ("base=rooms:pixels=16+scales=1+orientations=1", "must have pictures of one channel"),
        ("base=sprits", "did you mean 'sprites'"),
        ("base=sprites:correlate=x-y", "not to its base"),
        (f"{BASE},copies=0", "copies=0: must be a whole number"),
        (f"{BASE},copies=100000000", "copies=100000000: at most"),
        (f"{BASE},seed=-1", "seed=-1"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(UserError, match=message):
        open_data(f"color_dsprites:{options}")


def test_notes_of_the_base_are_kept(tmp_path, monkeypatch):
    data = open_data(f"color_dsprites:{BASE},correlate=x-y")
    assert "correlated" in data.notes[-1] and data.name.endswith("correlate=x-y")
    assert open_data(data.name).name == data.name
