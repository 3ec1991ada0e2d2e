"""What users bring: every usual layout is read, every usual mistake is named."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, TensorDataset

from unbraid.data import open_data
from unbraid.errors import UserError
from unbraid.scoring import scores_of
from unbraid.tables import read_codes, read_factors

RANDOM = np.random.default_rng(0)
GREY = RANDOM.integers(0, 256, (12, 8, 9), np.uint8)
COLOUR = RANDOM.integers(0, 256, (12, 8, 9, 3), np.uint8)


def everything(data):
    return data.draw(torch.arange(len(data)))


@pytest.mark.parametrize(
    ("array", "shape", "pixels"),
    [
        (GREY, (1, 8, 9), "unit"),
        (COLOUR, (3, 8, 9), "unit"),
        (np.moveaxis(COLOUR, 3, 1), (3, 8, 9), "unit"),
        (GREY[:, None], (1, 8, 9), "unit"),
        (GREY.astype(np.int64), (1, 8, 9), "unit"),
        (GREY / 255, (1, 8, 9), "unit"),
        (GREY > 99, (1, 8, 9), "binary"),
        ((GREY > 99).astype(np.uint8), (1, 8, 9), "binary"),
        ((GREY > 99).astype(np.uint8) * 255, (1, 8, 9), "binary"),
        ((GREY > 99).astype(np.float64), (1, 8, 9), "binary"),
        (RANDOM.normal(size=(12, 5)), (5,), "real"),
        (RANDOM.random(size=(12, 5)), (5,), "real"),
        (np.arange(60).reshape(12, 5), (5,), "real"),
        (GREY.reshape(12, 72), (72,), "unit"),
    ],
)
def test_layouts(array, shape, pixels):
    data = open_data(array)
    assert (data.shape, data.pixels) == (shape, pixels)
    drawn = everything(data)
    if pixels == "real":
        assert torch.allclose(drawn, torch.from_numpy(array).float())
    else:
        first = np.moveaxis(array, -1, 1) if array.shape[-1] == 3 else array
        right = first.reshape(12, *shape).astype(np.float32)
        assert torch.allclose(drawn, torch.from_numpy(right / right.max()), atol=3e-3)
        assert drawn.max() > 0.9
    assert open_data(array).fingerprint == data.fingerprint
    other = array.copy()
    other.flat[5] = other.max() if other.flat[5] != other.max() else other.min()
    assert open_data(other).fingerprint != data.fingerprint


def test_pixels_outside_0_to_1_are_real_and_said():
    data = open_data(GREY.astype(np.float32))
    assert data.pixels == "real" and "not in 0..1" in data.notes[0]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((12, 3, 8, 3)), r"\(12, 3, 8, 3\): cannot tell which axis"),
        (np.zeros((12, 8, 8, 8)), "no axis has 1 to 4 channels"),
        (np.zeros(12), r"shape \(12,\): give \(samples, features\)"),
        (np.zeros((12, 0)), "shape"),
        (np.zeros((9, 3)), "9 samples: at least 10"),
        (np.zeros((12, 3), complex), "complex128"),
        (np.full((12, 3), "a"), "real numbers"),
    ],
)
def test_wrong_arrays(array, message):
    with pytest.raises(UserError, match=message):
        open_data(array)


def test_nan_is_counted_and_placed():
    array = np.zeros((12, 3))
    array[4, 1] = np.nan
    array[7, 2] = np.inf
    with pytest.raises(UserError, match=r"2 values are NaN or infinite, the first at \(4, 1\)"):
        open_data(array)


def test_npy_and_npz(tmp_path):
    np.save(tmp_path / "a.npy", GREY)
    data = open_data(str(tmp_path / "a.npy"))
    assert data.name == str(tmp_path / "a.npy") and data.shape == (1, 8, 9) and data.fingerprint
    factors = np.stack([np.arange(12) % 3, np.arange(12) * 10, np.linspace(0, 1, 12)], 1)
    for key in ("x", "images", "whatever"):
        np.savez(tmp_path / "a.npz", **{key: GREY}, factors=factors, factor_names=["shape", "size", "tone"])
        data = open_data(tmp_path / "a.npz")
        assert [(f.name, f.size, f.kind) for f in data.factors] == [
            ("shape", 3, "order"),
            ("size", 12, "order"),
            ("tone", 0, "continuous"),
        ]
        assert data.factor_values(torch.tensor(5)).tolist() == pytest.approx([2, 5, 5 / 11])
    np.savez(tmp_path / "a.npz", x=GREY, factors=factors[:7])
    with pytest.raises(UserError, match="12 samples but 7 rows"):
        open_data(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", one=GREY, two=GREY)
    with pytest.raises(UserError, match="one, two: name the array of samples x"):
        open_data(tmp_path / "a.npz")


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_damaged_files(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    (np.save if suffix == ".npy" else np.savez)(path, GREY)
    path.write_bytes(path.read_bytes()[:400])
    with pytest.raises(UserError, match="damaged or cut off"):
        open_data(str(path))
    path.write_bytes(b"hello")
    with pytest.raises(UserError, match=f"is not a {suffix} file"):
        open_data(str(path))
    with path.open("wb") as file:
        np.save(file, np.array([{}, []], object), allow_pickle=True)
    with pytest.raises(UserError, match=r"Python objects|is not a \.npz"):
        open_data(str(path))


def test_csv(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f"{i},{i / 7},{'ab'[i % 2]},{i % 3}" for i in range(12)]
    path.write_text("\n".join(["u,v,factor:side,factor:turn:cycle", *lines]))
    data = open_data(str(path))
    assert data.shape == (2,) and data.pixels == "real"
    assert [(f.name, f.size, f.kind) for f in data.factors] == [("side", 2, "category"), ("turn", 3, "cycle")]
    assert data.factor_values(torch.tensor(5)).tolist() == [1, 2]
    path.write_text("\n".join(f"{i};{i * 2}" for i in range(12)))
    assert everything(open_data(path))[3].tolist() == [3, 6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u,v\n1,2\n3,x\n", "row 3, column v: 'x' is not a number"),
        ("1,2\n3,\n", "row 2, column 2: is empty"),
        ("u,v\n1,2\n3\n", "row 3 has 1 cells, the first has 2"),
        ("", "no rows"),
        ("u,v\n", "no rows"),
        ("u,factor:v:colour\n1,2\n", "kind 'colour', must be one of category"),
        ("u,factor:v:continuous\n1,blue\n", "continuous but holds words"),
        ("factor:v\n1\n", "only factor columns"),
        ("u,v\n1,nan\n" + "1,2\n" * 12, "row 2, column v: is missing .nan.$"),
        ("u,v\n1,nan\n" + "1,inf\n" * 12, "row 2, column v: is missing .nan., and 13 cells like it"),
        (
            "u,factor:v\n" + "1,red\n2,NA\n3,blue\n" * 9,
            "row 3, column v: is missing .NA. .9 of 27 rows are so.: drop such rows, or head the column factor:v:category",
        ),
        ("u,factor:v\n1,5\n2,nan\n3,7\n", "row 3, column v: is missing .nan.: drop"),
        (
            "u,v\n" + "1,red\n" * 12,
            "row 2, column v: 'red' is not a number: leave out .* head it factor:v, or make groups of it: .*a.csv:group=v",
        ),
        ("1,\n3,4\n", "row 1, column 2: is empty"),
        ("u,factor:v\n1,5\n2,\n3,7\n", "row 3, column v: is empty"),
        ("u,factor:v\n1,red\n2,\n3,blue\n", "row 3, column v: is empty"),
        ("u,factor:v\n1,5\n2,6\n3,x\n", "row 4, column v: 'x' is not a number, as most of the column is"),
        ("u,factor:v:order\n1,5\n2,6\n3,x\n", "row 4, column v: 'x' is not a number$"),
        ("u,factor:v:order\n1,low\n2,high\n", "factor 'v' is order but holds words, as 'low'"),
    ],
)
def test_wrong_csv(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        open_data(str(path))
    assert "\n" not in str(caught.value)


def folder_of(tmp_path, images, suffix=".png"):
    folder = tmp_path / "pictures"
    for i, image in enumerate(images):
        file = folder / f"part{i % 2}" / f"{i:02d}{suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(file)
    return folder


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".webp", ".gif", ".tif", ".jpg"])
def test_folder_of_images(tmp_path, suffix):
    folder = folder_of(tmp_path, GREY, suffix)
    data = open_data(str(folder))
    assert data.shape[1:] == (8, 9)
    order = [*range(0, 12, 2), *range(1, 12, 2)]
    if suffix in (".png", ".bmp", ".tif"):
        assert torch.equal((everything(data)[:, 0] * 255).round(), torch.from_numpy(GREY[order]).float())
    rows = "\n".join(f"part{i % 2}/{i:02d}{suffix},{i},{'xy'[i % 2]}" for i in range(12))
    (folder / "factors.csv").write_text(f"file,number,side:category\n{rows}")
    data = open_data(folder)
    assert [(f.name, f.size, f.kind) for f in data.factors] == [
        ("number", 12, "order"),
        ("side", 2, "category"),
    ]
    assert data.values[:, 0].tolist() == order
    (folder / "factors.csv").write_text(f"file,number,side\n{rows[: rows.rindex(chr(10))]}")
    with pytest.raises(UserError, match=f"no row for part1/11{suffix}"):
        open_data(folder)


def test_colour_and_grey_and_deep_images_mix(tmp_path):
    folder = folder_of(tmp_path, COLOUR)
    Image.fromarray(GREY[0]).save(folder / "grey.png")
    assert open_data(folder).shape == (3, 8, 9)
    deep = folder_of(tmp_path / "deep", [image.astype(np.uint16) * 257 for image in GREY])
    order = [*range(0, 12, 2), *range(1, 12, 2)]
    deep_pixels = (everything(open_data(deep))[:, 0] * 255).round()
    assert torch.equal(deep_pixels, torch.from_numpy(GREY[order]).float())


def test_wrong_folders(tmp_path):
    folder = folder_of(tmp_path, GREY)
    Image.fromarray(GREY[0][:5]).save(folder / "z.png")
    with pytest.raises(UserError, match=r"00\.png is 9x8, z\.png 9x5"):
        open_data(folder)
    (folder / "z.png").write_bytes((folder / "part0" / "00.png").read_bytes()[:60])
    with pytest.raises(UserError, match=r"z\.png is damaged"):
        open_data(folder)
    with pytest.raises(UserError, match="is one image"):
        open_data(str(folder / "z.png"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no images"):
        open_data(tmp_path / "empty")
    with pytest.raises(UserError, match=r"no such file or folder: nowhere\.npy"):
        open_data("nowhere.npy")


def test_tensors_and_torch_data_sets():
    images = torch.from_numpy(GREY)[:, None]
    assert torch.equal(everything(open_data(images)), images / 255)
    data = open_data(TensorDataset(images, torch.arange(12) % 4))
    assert torch.equal(everything(data), images / 255)
    assert data.factors[0].size == 4 and data.values[:, 0].tolist() == [0, 1, 2, 3] * 3
    assert open_data(TensorDataset(images)).factors == ()

    class Words(Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, i):
            return images[i][:, : 4 + i % 2], "a word"

    with pytest.raises(UserError, match="one shape"):
        open_data(Words())
    with pytest.raises(UserError, match="cannot read data from a list"):
        open_data([1, 2])


def test_codes_and_factors(tmp_path):
    codes = RANDOM.normal(size=(12, 4))
    np.save(tmp_path / "codes.npy", codes)
    np.savetxt(tmp_path / "codes.csv", codes, delimiter=",")
    np.savez(tmp_path / "codes.npz", codes=codes)
    for suffix in ("npy", "csv", "npz"):
        assert np.allclose(read_codes(str(tmp_path / f"codes.{suffix}")), codes)
    (tmp_path / "factors.csv").write_text("shape,size,tone\n" + "cat,2,0.5\ndog,1,0.25\n" * 6)
    values, names, kinds = read_factors(str(tmp_path / "factors.csv"))
    assert names == ("shape", "size", "tone") and kinds == ("category", "order", "continuous")
    assert values[:2].tolist() == [[0, 1, 0.5], [1, 0, 0.25]]
    np.save(tmp_path / "factors.npy", np.arange(12) % 3)
    values, names, kinds = read_factors(str(tmp_path / "factors.npy"))
    assert values.shape == (12, 1) and names == ("factor_1",) and kinds == ("order",)
    np.save(tmp_path / "flat.npy", np.zeros(3))
    with pytest.raises(UserError, match=r"\(samples, dimensions\), not \(3,\)"):
        read_codes(str(tmp_path / "flat.npy"))
    with pytest.raises(UserError, match="no such file"):
        read_factors("nowhere.csv")


def test_tables_do_not_import_torch():
    program = "import sys, unbraid.tables; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_words_and_numbers_may_be_categories(tmp_path):
    path = tmp_path / "f.csv"
    for text in ("a\n3\nx\ny\n3\n", "factor:a:category\n3\n4\nx\n3\n"):
        path.write_text(text)
        values, _, kinds = read_factors(str(path))
        assert kinds == ("category",) and values[0] == values[3] and len(set(values[:, 0])) == 3


def test_seconds_since_1970_stay_apart(tmp_path):
    seconds = 1.7e9 + np.arange(12) / 8
    np.save(tmp_path / "a.npy", seconds)
    (tmp_path / "a.csv").write_text("\n".join(["t,n", *(f"{t!r},{i % 3}" for i, t in enumerate(seconds.tolist()))]))
    for name in ("a.npy", "a.csv"):
        values, _, kinds = read_factors(str(tmp_path / name))
        assert kinds[0] == "continuous" and values[:, 0].tolist() == seconds.tolist()
    np.savez(tmp_path / "a.npz", x=GREY, factors=seconds)
    assert open_data(tmp_path / "a.npz").factor_values(torch.arange(12))[:, 0].tolist() == seconds.tolist()


def test_kinds_asked_for_read_the_numbers_themselves(tmp_path):
    np.save(tmp_path / "a.npy", np.array([1, 10, 100] * 4))
    assert read_factors(str(tmp_path / "a.npy"), ["continuous"])[0][:3, 0].tolist() == [1, 10, 100]
    (tmp_path / "a.csv").write_text("shape,size\n" + "cat,2\ndog,1\n" * 6)
    assert read_factors(str(tmp_path / "a.csv"), ["category", "cycle"])[2] == ("category", "cycle")
    for kind in ("continuous", "order", "cycle"):
        with pytest.raises(UserError, match=f"factor 'shape' is {kind} but holds words, as 'cat'"):
            read_factors(str(tmp_path / "a.csv"), [kind, "order"])


def test_a_header_that_may_be_a_row(tmp_path):
    np.save(tmp_path / "codes.npy", RANDOM.normal(size=(40, 2)))
    (tmp_path / "factors.csv").write_text("cat,2\ndog,1\n" * 20)
    with pytest.raises(UserError, match=r"40 rows but factors 39: if 'cat,2' in .*factors\.csv is a row"):
        list(scores_of(tmp_path / "codes.npy", tmp_path / "factors.csv", None, None))
    (tmp_path / "factors.csv").write_text("shape,size\n" + "cat,2\ndog,1\n" * 20)
    assert len(list(scores_of(tmp_path / "codes.npy", tmp_path / "factors.csv", ["mig"], None))) == 1
