"""Reports: made of run folders alone, whole, safe to open, and fit to read in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from report.browser import find_browser, measure
from report.fake import LATENTS, fake_run
from unbraid.errors import UserError
from unbraid.report import write_report
from unbraid.report.advice import advise
from unbraid.report.axes import fit
from unbraid.report.charts import Mark, Series, line_chart, scatter_chart, standalone
from unbraid.report.colours import FIXED
from unbraid.report.folder import collect, read_run
from unbraid.report.latents import latents_of
from unbraid.report.markup import VOID, tag
from unbraid.report.numbers import show, spread
from unbraid.report.pictures import grid_png


class Reader(HTMLParser):
    """Checks that elements close, ids are unique, images have words and nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.scripts += tag == "script"
        if "id" in found:
            self.ids.append(found["id"] or "")
        if tag == "img":
            assert found.get("alt"), "an image without words"
            assert (found["src"] or "").startswith("data:image/png;base64,")
        if tag == "a":
            self.links.append(found["href"] or "")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        assert tag not in ("link", "iframe", "object", "embed")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(path: Path) -> Reader:
    page = path.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link.removeprefix("#") in reader.ids for link in reader.links)
    assert reader.headings[0] == 1 and reader.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(reader.headings, reader.headings[1:], strict=False))
    assert reader.scripts == 0
    assert not re.search(r"https?://|@import|url\(", page)
    assert not re.search(r"\b(nan|NaN|None)\b(?!\d)", re.sub(r"became NaN", "", re.sub(r'base64,[^"]*', "", page)))
    return reader


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("reports")
    one, vector = fake_run(base / "one"), fake_run(base / "vector", images=False, data="linear:ratio=2")
    for seed in range(3):
        fake_run(base / f"group/seed-{seed}", seed)
    fake_run(base / "other", beta=8.0)
    named = {"one": [one], "vector": [vector], "group": [base / "group"]}
    named["set"] = [base / "group", base / "other", vector]
    return {name: write_report(folders, base / f"{name}.html") for name, folders in named.items()}


@pytest.mark.parametrize("name", ["one", "vector", "group", "set"])
def test_whole_safe_and_light(reports, name):
    check(reports[name])
    assert reports[name].stat().st_size < 3_000_000
    assert not list(reports[name].parent.glob(".*.part"))


def test_one_run_shows_everything(reports):
    page = reports["one"].read_text()
    for part in (
        "warnings",
        "scores",
        "curves",
        "latents",
        "reconstructions",
        "traversals",
        "information",
        "geometry",
    ):
        assert f'id="{part}"' in page
    for words in (
        "ceiling 0.94",
        "random decoder 2.84 ± 0.12",
        "One seed is an anecdote",
        "novel score",
        "not the official",
    ):
        assert words in page
    assert page.index("Latent 3<") < page.index("Latent 7<") < page.index("Latent 0<")
    assert "knows x (" in page and "not used" in page
    assert 'id="plane"' in reports["vector"].read_text()


def test_groups_and_sets(reports):
    group, several = reports["group"].read_text(), reports["set"].read_text()
    assert "3 seeds of one configuration" in group and 'class="band s0"' in group
    assert "3 configurations on 2 data sets, 5 runs in all" in several
    assert "beta 8" in several and "beta 4" in several


def test_runs_alike_but_for_the_seed_are_one_group(tmp_path):
    folders = [fake_run(tmp_path / f"run{seed}", seed) for seed in range(2)] + [fake_run(tmp_path / "b", beta=1.0)]
    assert [len(group) for group in collect(folders)] == [2, 1]


def test_hostile_names_stay_text(tmp_path):
    bad = "<script>alert(1)</script>\"'&"
    folder = fake_run(tmp_path / "run", data=bad, method=bad)
    results = json.loads((folder / "results.json").read_text())
    results["notes"], results["factors"][0]["name"] = [bad], bad
    results["scores"][bad] = {"value": 1, "settings": {bad: bad}, "warnings": [bad]}
    (folder / "results.json").write_text(json.dumps(results))
    (folder / "state.json").write_text(json.dumps({"status": "stopped", "reason": bad}))
    assert "<script" not in write_report([folder], tmp_path / "r.html").read_text()
    check(tmp_path / "r.html")


def test_only_a_config(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/config.yaml").write_text("method: vae\n")
    check(write_report([tmp_path / "run"], tmp_path / "r.html"))
    assert "no scores yet" in (tmp_path / "r.html").read_text()


def test_missing_and_odd_values(tmp_path):
    folder = fake_run(tmp_path / "run")
    odd = {
        "value": float("nan"),
        "ceiling": None,
        "parts": {"information": [[None, float("nan")]] * 3},
        "settings": None,
    }
    scores = {
        "mig": odd,
        "distance_to_orthogonality": None,
        "active_units": {"value": "?"},
        "plain": 0.5,
        "list": [1],
    }
    (folder / "results.json").write_text(json.dumps({"scores": scores, "factors": None, "notes": "x"}))
    lines = (folder / "history.jsonl").read_text().splitlines()
    lines[5] = json.dumps({"step": 600, "terms": {"loss": None, "kl": float("nan")}, "probe": {"kl": [None] * LATENTS}})
    lines += [json.dumps({"step": 600}), "[1]", '{"step": 20100, "terms": {"lo']
    (folder / "history.jsonl").write_text("\n".join(lines))
    (folder / "pictures.npz").write_bytes(b"torn")
    (folder / "environment.json").write_text("{")
    check(write_report([folder], tmp_path / "r.html"))
    assert len(read_run(folder).history) == 200


def test_without_probes_or_images(tmp_path):
    folder = fake_run(tmp_path / "run", images=False)
    (folder / "history.jsonl").write_text('{"step": 1, "terms": {"loss": 3}}\n')
    np.savez(folder / "codes.npz", mean=np.random.default_rng(0).normal(size=(50, 1)), factors=np.ones((50, 1)))
    check(write_report([folder], tmp_path / "r.html"))


def test_mistakes_are_named(tmp_path):
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(UserError, match=r"no such run folder|no readable config"):
            write_report([folder], tmp_path / "r.html")
    with pytest.raises(UserError, match="at least one"):
        write_report([], tmp_path / "r.html")
    run = fake_run(tmp_path / "run")
    with pytest.raises(UserError, match=r"cannot write .*run: it is a folder; name a file"):
        write_report([run], run)
    with pytest.raises(UserError, match=r"cannot use .* as the folder of r\.html: .*config\.yaml is a file"):
        write_report([run], run / "config.yaml/r.html")
    (run / "config.yaml").write_text("method: vae\nsteps: [1")
    with pytest.raises(UserError, match=r"config\.yaml is not valid YAML: line 2: "):
        write_report([run], tmp_path / "r.html")


def words(folder: Path) -> str:
    return "\n".join(advice.words for advice in advise(read_run(folder)))


def change(folder: Path, **scores: dict) -> Path:
    results = json.loads((folder / "results.json").read_text())
    for name, entry in scores.items():
        results["scores"][name] |= entry
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def test_a_good_run_gets_no_warning(tmp_path):
    assert [a.level for a in advise(read_run(fake_run(tmp_path / "run")))] == ["note"]


def test_advice_names_the_option(tmp_path):
    run = fake_run(tmp_path / "run")
    few = [at < 2 for at in range(LATENTS)]
    assert "Over-pruned: 2 active" in words(change(run, active_units={"parts": {"active": few}}))
    assert "Posterior collapse" in words(change(run, active_units={"parts": {"by_mean": [False] * LATENTS}}))
    steps = list(range(0, 1000, 100))
    never = {"parts": {"steps": steps, "delta": [0.5] * 9 + [0.2]}}
    late = {"parts": {"steps": steps, "delta": [0.5] * 8 + [0.01] * 2}}
    assert "Not polarized yet: at the end 20 %" in words(change(run, polarized_regime=never))
    assert "Polarized only late, after step 700" in words(change(run, polarized_regime=late))
    assert "no better than a random decoder" in words(change(run, distance_to_orthogonality={"value": 2.8}))
    equal = {"parts": {"singular_values": [5.0, 4.9, 1.0]}}
    assert "nearly equal" in words(change(run, distance_to_orthogonality=equal))
    assert "a pitfall" in words(change(run, mig={"warnings": ["a pitfall"]}))


def test_advice_on_curves(tmp_path):
    run = fake_run(tmp_path / "run")
    lines = [{"step": at, "terms": {"loss": 500 - at, "reconstruction": 100.0, "kl": 2.0}} for at in range(200)]
    (run / "history.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "The loss is still falling" in words(run) and "Reconstruction has not moved" in words(run)
    (run / "state.json").write_text(json.dumps({"status": "stopped", "reason": "term 'kl' became NaN at step 812"}))
    assert "The term kl became NaN" in words(run) and "still falling" not in words(run)
    (run / "state.json").write_text(json.dumps({"status": "running", "step": 812}))
    assert "unfinished (running, or cut off): step 812 of 20,000. The same train command goes on" in words(run)
    (run / "state.json").write_text(json.dumps({"status": "stopped", "reason": "term 'kl' became inf by step 9"}))
    assert "The term kl became infinite" in words(run) and "Start it again" not in words(run)


def test_order_by_noise(tmp_path):
    folder = fake_run(tmp_path / "run")
    (folder / "results.json").unlink()
    assert latents_of(read_run(folder)).order[:5] == [3, 7, 0, 5, 8]


def test_numbers():
    assert [show(v) for v in (0, 3.0, -0.5, 0.0041, 12345.6, 1e-7, None, float("nan"))] == [
        "0", "3", "−0.50", "0.0041", "12,346", "1.00e−7", "–", "–",
    ]  # fmt: skip
    assert spread([0.1, 0.2, 0.3]) == "0.20 ± 0.10" and spread([1.0]) == "1" and spread([2.0, 2.0]) == "2 ± 0"


@pytest.mark.parametrize("values", [[], [0.0], [3.0, 3.0], [-1e-9, 1e9], [float("nan")], [1e-12, 1e-3]])
@pytest.mark.parametrize("log", [False, True])
def test_axes_take_anything(values, log):
    axis = fit(values, 0, 100, log)
    assert all(-1 <= axis(tick) <= 101 for tick in axis.ticks())


def test_charts_as_files():
    x = [1.0, 2.0, 4.0]
    line = Series("β-VAE <b>", x, [1.0, float("nan"), 3.0], low=[0.5, 1, 2], high=[2, 3, 4])
    chart = line_chart([line, Series("AE", x, x)], title="t & u", log_x=True, x_marks=[Mark(2, "β = ⅙")], y_label="DtO")
    points = scatter_chart([Series("VAE", x, x, low=x, high=x, labels=["a", "b", "c"])], title="DtO against DS")
    for svg in (standalone(chart), standalone(points)):
        reader = Reader()
        reader.feed(svg)
        assert reader.open == [] and "var(" not in svg and svg.count("xmlns=") == 1
    assert "<b>" not in chart and "β-VAE &lt;b&gt;" in chart


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("page", ["#ffffff", "#0d1117"])
def test_colours_of_files_read_on_white_and_dark(page):
    for name, colour in FIXED.items():
        if name in ("rule", "paper"):
            continue
        light, dark = sorted((luminance(colour), luminance(page)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= (4.0 if name in ("ink", "soft") else 3.0), name


def test_grid_on_disk(tmp_path):
    images = np.random.default_rng(0).uniform(size=(2, 3, 3, 8, 8))
    with Image.open(grid_png(images, tmp_path / "deep/grid.png", scale=2)) as saved:
        assert saved.size == (2 * (3 * 9 - 1), 2 * (2 * 9 - 1))
        corner = np.asarray(saved.convert("RGB"))[0, 0]
    assert np.abs(corner / 255 - images[0, 0, :, 0, 0]).max() < 0.01
    with pytest.raises(UserError, match="shape"):
        grid_png(np.zeros((2, 2)), tmp_path / "no.png")


def test_markup_escapes():
    assert tag("p", "<i>", tag("b", "&"), class_='"') == '<p class="&quot;">&lt;i&gt;<b>&amp;</b></p>'


def test_torch_is_not_needed():
    code = "import sys, unbraid.report; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


BROWSER = find_browser()


@pytest.mark.skipif(BROWSER is None, reason="no browser found: install chromium to check the report in a real one")
@pytest.mark.parametrize("name", ["one", "vector", "group", "set"])
def test_in_a_real_browser(reports, tmp_path, name):
    grounds = set()
    for width in (380, 1400):
        for dark in (False, True):
            found = measure(str(BROWSER), reports[name], tmp_path / f"{width}-{dark}", width, dark)
            where = f"{name} at {width} px, {'dark' if dark else 'light'}: {found}"
            assert found["inner"] == width, where
            assert found["scroll"] <= found["inner"], where
            assert found["broken"] == 0 and found["fetched"] == [], where
            assert found["out"] == found["cut"] == found["over"] == [], where
            assert (found["images"] > 0) == (name != "vector"), where
            grounds.add((dark, found["background"], found["ink"]))
    assert len(grounds) == 2 and len({ground for _, ground, _ in grounds}) == 2
