"""Reports of codes in blocks: what is shown of them, what is advised, and scores over an option."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from report.browser import find_browser, measure
from report.fake_blocks import BLOCKS, LATENTS, OPTIONS, SILENT, fake_blocks
from test_report import change, check, words
from unbraid.report import write_report
from unbraid.report.advice import advise
from unbraid.report.blocks import between, block_parts, maps
from unbraid.report.folder import collect, read_run
from unbraid.report.over_option import over_option, varied

BROWSER = find_browser()


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("blocks")
    one, table = fake_blocks(base / "one"), fake_blocks(base / "table", images=False)
    folders = [
        fake_blocks(base / f"{weight}/seed-{seed}", seed, options=OPTIONS | {"lambda_z": weight})
        for weight in (0.1, 1.0, 10.0)
        for seed in range(2)
    ]
    named = {"one": [one], "table": [table], "set": folders}
    return {name: write_report(given, base / f"{name}.html") for name, given in named.items()}


@pytest.mark.parametrize("name", ["one", "table", "set"])
def test_whole_and_light(reports, name):
    check(reports[name])
    assert reports[name].stat().st_size < 3_000_000


def test_everything_of_the_blocks_is_shown(reports):
    page = reports["one"].read_text()
    for part in ("maps", "blocks", "groups", "between"):
        assert f'id="{part}"' in page, part
    for said in (
        "Salient moves, common of the first stays",
        "W2² between groups, common",
        "Latents 0–5 common, 6–9 salient",
        "clustering accuracy is 0.9",
        "(chance 0.12)",
        "(floor 4.40)",
    ):
        assert said in page, said
    assert "MIG is" not in page and "reconstructions" not in page.split('id="groups"')[0]
    table = reports["table"].read_text()
    assert 'id="maps"' in table and 'id="blocks"' not in table and 'id="plane"' not in table


def test_a_code_in_one_piece_has_no_such_parts(tmp_path):
    run = read_run(fake_blocks(tmp_path / "run"))
    results = run.results | {"blocks": {"code": [0, LATENTS]}}
    (run.folder / "results.json").write_text(json.dumps(results))
    assert read_run(run.folder).blocks == {} and read_run(run.folder).block_of(7) is None
    assert run.blocks == BLOCKS and run.block_of(7) == "salient"
    for name in ("maps.npz", "pictures.npz"):
        (run.folder / name).unlink()
    assert [body for _, _, body, _ in block_parts(read_run(run.folder))] == [None] * 6


def test_background_is_drawn_first_and_in_grey(tmp_path):
    drawn = maps(read_run(fake_blocks(tmp_path / "run")))
    assert drawn is not None
    first, last = drawn.index("cloud ground"), drawn.index("cloud s9")
    assert first < drawn.index("cloud s0") < last and "coloured by digit; t-SNE" in drawn


def test_two_latents_are_their_own_map(tmp_path):
    folder = change_results(fake_blocks(tmp_path / "run"), blocks={"common": [0, 8], "salient": [8, 10]})
    drawn = maps(read_run(folder))
    assert drawn is not None and "its two latents" in drawn and "latent 8" in drawn and drawn.count("t-SNE") == 1


def test_one_latent_moves_in_one_row(tmp_path):
    folder = fake_blocks(tmp_path / "run")
    np.savez(folder / "pictures.npz", **{"between/salient": np.zeros((1, 6, 1, 8, 8))})
    drawn = between(read_run(folder))
    assert drawn is not None and "from the code of the first to that of the second" in drawn


def test_damaged_files_are_left_out(tmp_path):
    folder = change_results(fake_blocks(tmp_path / "run"), blocks={"common": [0], "salient": "x"})
    (folder / "maps.npz").write_bytes(b"torn")
    np.savez(folder / "pictures.npz", blocks=np.zeros(3), groups=np.zeros((2, 2)), **{"between/x": np.zeros(2)})
    check(write_report([folder], tmp_path / "r.html"))


def change_results(folder: Path, **entries: object) -> Path:
    results = json.loads((folder / "results.json").read_text()) | entries
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def test_a_good_run_gets_no_warning(tmp_path):
    assert {advice.level for advice in advise(read_run(fake_blocks(tmp_path / "run")))} == {"note"}


def test_a_loud_background_is_said_once_with_the_option_to_turn(tmp_path):
    loud = {"value": 0.4, "warnings": [SILENT]}
    said = words(change(fake_blocks(tmp_path / "run"), salient_silence=loud))
    assert "not silent: its mean square is 40 % of that of targets. Raise --lambda-s (now 10)." in said
    assert SILENT not in said
    other = fake_blocks(tmp_path / "other", options={"common": 6, "salient": 4})
    said = words(change(other, salient_silence=loud))
    assert "Take a method that has --lambda-s: w2_vae or zero_salient_vae." in said


def test_common_codes_that_differ(tmp_path):
    run = fake_blocks(tmp_path / "run")
    assert "common codes of" not in words(run).lower()
    said = words(change(run, group_leakage={"value": 0.9}))
    assert "in 90 % of cases (chance 50 %). Raise --lambda-z (now 1)." in said
    said = words(change(run, group_leakage={"value": 0.5}, common_w2={"value": 8.8}))
    assert "their W2² is 2 times that of two batches of one group" in said


def test_leaks(tmp_path):
    said = words(change(fake_blocks(tmp_path / "run"), label_leakage={"value": 0.5}, background_leakage={"value": 0.9}))
    assert "Labels of targets can be read from the common code" in said and "the salient code gives it 90 %" in said
    assert "or --salient (now 4), or lower --common (now 6)." in said
    assert (
        "behind a target can be read from its salient code" in said and "or --beta (now 2), or lower --salient" in said
    )


@pytest.mark.parametrize("block", list(BLOCKS))
def test_a_collapsed_block_is_an_alarm(tmp_path, block):
    folder = fake_blocks(tmp_path / "run")
    held = dict(np.load(folder / "codes.npz"))
    targets = held["group"] == 0
    held["mean"][np.ix_(targets, np.arange(LATENTS)[BLOCKS[block]])] *= (
        0.01  # background may well be where targets are not
    )
    np.savez(folder / "codes.npz", **held)
    found = [advice.words for advice in advise(read_run(folder)) if advice.level == "alarm"]
    assert len(found) == 1 and f"The {block} code has collapsed" in found[0] and "Lower --beta (now 2)" in found[0]
    assert ("lambda-s" if block == "salient" else "lambda-z") in found[0]


def test_what_is_said_of_other_codes_is_not_said_of_blocks(tmp_path):
    run = fake_blocks(tmp_path / "run")
    few = {"parts": {"active": [False] * LATENTS}}
    never = {"parts": {"steps": list(range(10)), "delta": [0.5] * 10}}
    said = words(change(run, active_units=few, polarized_regime=never, distance_to_orthogonality={"value": 3.0}))
    assert not any(word in said for word in ("Over-pruned", "Posterior collapse", "polarized", "orthogonality"))


def test_scores_over_an_option(tmp_path):
    def configuration(**options: object) -> Path:
        name = "-".join(f"{key}{value}" for key, value in options.items())
        return fake_blocks(tmp_path / name, options=OPTIONS | options)

    folders = [configuration(lambda_z=weight) for weight in (10.0, 0.0, 1.0)]
    assert varied(collect(folders)) == ("lambda_z", [10.0, 0.0, 1.0])
    section = over_option(collect(folders))
    assert (
        section is not None
        and section.title == "Scores over lambda_z"
        and "from 0 to 10; one seed each" in section.lead
    )
    assert section.body.count("<figure") == 4 and "floor" in section.body
    assert over_option(collect(folders[:2])) is None, "two values are a table"
    assert varied(collect([*folders, configuration(lambda_z=2.0, beta=1.0)])) is None
    assert varied(collect([configuration(reconstruction=name) for name in "abc"])) is None


def test_the_set_has_a_line_for_each_score(reports):
    page = reports["set"].read_text()
    assert "Scores over lambda_z" in page and "mean over seeds, the band is one sd" in page


@pytest.mark.skipif(BROWSER is None, reason="no browser found: install chromium to check the report in a real one")
@pytest.mark.parametrize("name", ["one", "table", "set"])
def test_in_a_real_browser(reports, tmp_path, name):
    for width in (380, 1400):
        found = measure(str(BROWSER), reports[name], tmp_path / str(width), width, False)
        assert found["scroll"] <= found["inner"] == width, found
        assert found["out"] == found["cut"] == found["over"] == [] and found["broken"] == 0, found
