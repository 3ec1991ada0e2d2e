"""Every data set keeps the contract."""

from pathlib import Path

import numpy as np
import pytest
import torch

from unbraid import catalog, official
from unbraid.data import Data, grid, open_data
from unbraid.errors import UserError

# A data set is opened by its bare name, unless tests/data/test_<name>.py has a function `small(folder, monkeypatch)`:
# it makes whatever files are needed and returns how to ask for few samples.
FOLDER = Path(__file__).parent / "data"


@pytest.fixture
def small(tmp_path, monkeypatch):
    """How to ask for a data set in a test; skips what would have to be downloaded."""

    def ask(name):
        monkeypatch.setattr(official, "_download", lambda dataset, file, path: pytest.skip(f"no {file.name} here"))
        path = FOLDER / f"test_{name}.py"
        if not path.is_file():
            return name
        make = getattr(catalog.import_file(path), "small", None)
        return make(tmp_path, monkeypatch) if make else name

    return ask


@pytest.mark.parametrize("name", catalog.names("data"))
def test_contract(name, small):
    name = small(name)
    data = open_data(name)
    rows = torch.tensor([[0, 1, 2], [7, len(data) - 1, 3]])
    drawn = data.draw(rows)
    assert drawn.shape == (2, 3, *data.shape)
    assert drawn.dtype == torch.float32
    assert torch.equal(drawn[1, 0], data.draw(torch.tensor(7)))
    assert torch.equal(drawn, open_data(name).draw(rows))
    assert torch.equal(drawn, data.to("cpu").draw(rows))
    assert len(torch.unique(data.draw(torch.arange(0, len(data), len(data) // 50)).flatten(1), dim=0)) > 25
    if data.pixels != "real":
        assert drawn.min() >= 0 and drawn.max() <= 1 and drawn.max() > 0.5
    if data.pixels == "binary":
        assert set(drawn.unique().tolist()) == {0.0, 1.0}

    each = [data] if not data.groups else [m for m in data.members.values() if m.factors]
    assert each, "some group has factors"
    for member in each:
        assert member.values.shape == (len(member), len(member.factors))
        for factor, column in zip(member.factors, member.values.T, strict=True):
            if factor.kind == "continuous":
                assert factor.size == 0 and column.is_floating_point()
            else:
                assert torch.equal(column.unique().long(), torch.arange(factor.size))

    parts = [data.rows(part) for part in ("train", "validation", "test")]
    assert torch.equal(torch.cat(parts).sort().values, torch.arange(len(data)))
    assert abs(len(parts[0]) / len(data) - 0.8) < 0.01


def test_every_data_set_has_help():
    for name in catalog.names("data"):
        entry = catalog.entry("data", name)
        assert entry.summary and all(option.text for option in entry.options)


def test_names_are_canonical():
    assert open_data("sprites:pixels=16,positions=4,shapes=3").name == "sprites:positions=4,pixels=16"
    assert open_data("linear_square:samples=20,ratio=2").name == "linear_square:samples=20"
    assert open_data("linear_square:ratio=1.5, samples=20").name == "linear_square:ratio=1.5,samples=20"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("sprits", "did you mean 'sprites'"),
        ("sprites:pixel=32", "did you mean 'pixels'"),
        ("sprites:pixels=big", "pixels=big: must be a whole number"),
        ("sprites:pixels=32.5", "must be a whole number"),
        ("sprites:pixels", "give the option a value"),
        ("sprites:pixels=8", "pixels=8: must be a whole number of at least 16"),
        ("sprites:shapes=4", "square, ellipse, heart"),
        ("sprites:positions=0", "at least 1"),
        ("sprites:positions=2000,pixels=16", "too fine for 16 pixels"),
        ("linear_square:ratio=-1", "ratio=-1.0: must be a positive number"),
        ("linear_square:samples=3", "at least 10"),
        ("nonlinear_square:seed=-1", "seed=-1"),
        ("dsprites:accept_other=maybe", "must be true or false"),
        ("missing/file.npy", "no such file or folder"),
        (3, "cannot read data from a int"),
    ],
)
def test_mistakes_are_named(what, message):
    with pytest.raises(UserError, match=message) as caught:
        open_data(what)
    assert "\n" not in str(caught.value)


def test_own_file_is_a_data_set(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import torch\nfrom unbraid.data import Data, Stored\n\n\n"
        "def mine(size: int, scale: float = 1.0) -> Data:\n"
        '    """Mine."""\n'
        '    return Data("mine", Stored(torch.ones(20, size) * scale), (size,), "real")\n'
    )
    data = open_data(f"{file}:size=3,scale=2")
    assert data.shape == (3,) and data.draw(torch.tensor(4)).tolist() == [2, 2, 2]
    assert data.name == f"{file}:size=3,scale=2.0" and data.fingerprint
    with pytest.raises(UserError, match="needs the option size"):
        open_data(str(file))


def test_data_pass_through():
    data = open_data("linear_square:samples=10")
    assert open_data(data) is data and isinstance(data, Data)


def test_grid_runs_last_column_fastest():
    assert grid([2, 2]).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert np.array_equal(np.ravel_multi_index(grid([3, 4, 5]).numpy().T, (3, 4, 5)), np.arange(60))
