"""AffectNet from small files of the official layout."""

import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data import open_data
from unbraid.errors import UserError

HEADER = "subDirectory_filePath,face_x,face_y,face_width,face_height,facial_landmarks,expression,valence,arousal"
FACES = 11 * 24  # of each of eight expressions, and of none, uncertain and no face


def small(folder, monkeypatch):
    """Noise with a face in a box of its own."""
    monkeypatch.setenv("UNBRAID_DATA", str(folder))
    monkeypatch.setenv("UNBRAID_CACHE", str(folder / "cache"))
    random, place = np.random.default_rng(0), folder / "AffectNet"
    (place / "Manually_Annotated_Images" / "103").mkdir(parents=True)
    lines = [HEADER]
    for i in range(FACES):
        pixels = random.integers(0, 256, (12, 14, 3), np.uint8)
        Image.fromarray(pixels).save(place / "Manually_Annotated_Images" / "103" / f"{i}.png")
        lines.append(f"103/{i}.png,{i % 3},1,10,9,1.5;2;3;4,{i % 11},0.1,-0.2")
    (place / "training.csv").write_text("\n".join(lines))
    return "affectnet:per_class=24,background=24"


@pytest.fixture
def name(tmp_path, monkeypatch):
    return small(tmp_path, monkeypatch)


def test_expressions_against_neutral_faces_in_their_boxes(name, tmp_path):
    data = open_data(name)
    target, behind = data.member("target"), data.member("background")
    assert data.shape == (3, 96, 96) and target.values[:, 0].bincount().tolist() == [24] * 7
    assert target.factors[0].labels[0] == "happy" and target.factors[0].labels[6] == "contempt"
    boxes = {}
    for i in range(FACES):
        picture = Image.open(tmp_path / "AffectNet" / "Manually_Annotated_Images" / "103" / f"{i}.png")
        box = (i % 3, 1, i % 3 + 10, 10)
        boxes[np.asarray(picture.resize((96, 96), Image.Resampling.BILINEAR, box)).tobytes()] = i % 11
    for member, kinds in ((target, (target.values[:, 0] + 1).tolist()), (behind, [0] * 24)):
        x = (member.draw(torch.arange(len(member))) * 255).round().byte().movedim(1, -1).numpy()
        assert [boxes[each.tobytes()] for each in x] == kinds
    assert "only 24 contempt faces, not 5000" in " ".join(open_data("affectnet").notes)
    lists = tmp_path / "AffectNet" / "Manually_Annotated_file_lists"
    lists.mkdir()
    (tmp_path / "AffectNet" / "training.csv").rename(lists / "training.csv")
    assert open_data(f"{name},folder={tmp_path / 'AffectNet'}").fingerprint == data.fingerprint


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (None, r"AffectNet has no training\.csv, as in the official layout"),
        ("file,expression\na.png,1", "has no column subDirectory_filePath, face_x"),
        (f"{HEADER}\n103/0.png,x,1,2,3,0,1,0,0", "row 2 has a cell that is not a number"),
        (f"{HEADER}\n103/0.png,0,1,2,3,0,1,0,0", "has 0 neutral faces: at least 10"),
    ],
)
def test_what_is_missing_is_said_in_one_line(row, words, name, tmp_path):
    table = tmp_path / "AffectNet" / "training.csv"
    table.unlink()
    if row is not None:
        table.write_text(row)
    with pytest.raises(UserError, match=words) as error:
        open_data(name)
    assert "\n" not in str(error.value)
