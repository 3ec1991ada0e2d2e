"""Claims: every recipe runs at smoke scale; verdicts, exit codes and the ledger follow from results alone."""

import json
import os
from pathlib import Path

import pytest

from unbraid.catalog import import_file
from unbraid.claims import Cell, Outcome, _path, above, below, claim_ids, matching, run_claim, title
from unbraid.claims.ledger import update
from unbraid.cli import main
from unbraid.errors import Notice, UserError


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """One folder for all claims: some share their trainings."""
    return tmp_path_factory.mktemp("claims")


@pytest.mark.filterwarnings("ignore::unbraid.errors.Notice")  # what data say of themselves
@pytest.mark.parametrize("identity", claim_ids())
def test_every_claim_runs_at_smoke_scale(identity, bench, tmp_path, monkeypatch):
    """Data that only a user has are small files in their layout."""
    own = next(
        (line.split('"')[1] for line in _path(identity).read_text().splitlines() if line.startswith("OWN = ")), None
    )
    data = own and import_file(Path(__file__).parent / "data" / f"test_{own}.py").small(tmp_path, monkeypatch)
    try:
        result = run_claim(identity, "smoke", bench, processes=1, data=data)
    except UserError as error:
        if "cannot download" not in str(error) or os.environ.get("UNBRAID_DATA"):
            raise
        pytest.skip(f"no data here: {error}")
    assert result["verdict"] == "not judged" and result["title"] == title(identity)
    assert result["cells"] or result["orderings"]
    for cell in result["cells"]:
        assert cell["seeds"] >= 1 and cell["values"]
    update(bench / "ledger.md", result)
    assert f"## {identity} smoke" in (bench / "ledger.md").read_text()
    for figure in result["figures"]:
        assert (bench / "figures" / figure.split("/")[-1]).stat().st_size > 500


def cell(ours, published=(1.0, 0.1), **options):
    return Cell("score", published, ours, **options)


def test_a_cell_agrees_within_the_published_spread():
    assert cell([1.05, 1.1]).agrees() is True and cell([1.2]).agrees() is False
    assert cell([1.04], (1.0, 0.0)).agrees() is True and cell([1.06], (1.0, 0.0)).agrees() is False
    assert cell([1.06], (1.0, 0.0), tolerance=0.1).agrees() is True
    assert cell([3.0], None).agrees() is None
    assert cell([1.0, 3.0]).mean == 2 and cell([1.0, 3.0]).sd == 1


def test_verdicts():
    def verdict(cells, orderings, scale="cpu"):
        return Outcome(cells, orderings, "words").verdict(scale)

    assert verdict([cell([1.0])], {"a": True}) == "reproduced"
    assert verdict([cell([2.0])], {"a": True}) == "ordering only"
    assert verdict([cell([1.0])], {"a": False}) == "not reproduced"
    assert verdict([cell([1.0])], {"a": False}, "smoke") == "not judged"
    assert verdict([cell([1.0])], {"a": True, "b": None}) == "undecided"
    assert verdict([cell([1.0])], {"a": False, "b": None}) == "not reproduced"


def test_orderings_within_a_standard_error_are_undecided():
    low, high = [0.0, 0.2, 0.1], [1.0, 1.2, 1.1]
    assert above(high, low) is True and above(low, high) is False
    assert below(low, high) is True and below(high, low) is False
    assert above([0.1, 0.3, 0.2], [0.0, 0.4, 0.1]) is None
    assert above(high, low, [1.05, 1.0, 1.3]) is None and above(low, high, low) is False
    assert above([1.0], [0.0]) is True


@pytest.mark.parametrize(("held", "code"), [(True, 0), (False, 1)])
def test_the_command_fails_only_if_a_claim_was_not_reproduced(held, code, tmp_path, monkeypatch, capsys):
    from unbraid.claims.paper_002 import theorem_2

    monkeypatch.setattr(theorem_2, "run", lambda bench: Outcome([cell([1.0])], {"it holds": held}, "by decree"))
    words = [
        "claims",
        "run",
        "002/theorem-2",
        "--scale",
        "cpu",
        "--out",
        str(tmp_path),
        "--ledger",
        str(tmp_path / "l.md"),
    ]
    assert main(words) == code
    told = capsys.readouterr().out
    assert ("✓" if held else "✗") + " it holds" in told
    ledger = (tmp_path / "l.md").read_text()
    assert "| score | 1 ± 0.1 | 1 ± 0 | 1 | yes |" in ledger and "002/theorem-2 cpu" in ledger
    assert main([*words, "--json"]) == code
    assert json.loads(capsys.readouterr().out)[0]["verdict"] == ("reproduced" if held else "not reproduced")


def test_the_ledger_keeps_other_entries_and_prefers_judged_ones(tmp_path):
    def result(claim, scale, verdict):
        return {"claim": claim, "scale": scale, "data": "", "own": False, "title": claim, "verdict": verdict, "seconds": 1.0,
                "cells": [], "orderings": {}, "budget": "none", "figures": [], "notes": []}  # fmt: skip

    path = tmp_path / "ledger.md"
    update(path, result("a", "cpu", "reproduced"))
    update(path, result("b", "smoke", "not judged"))
    update(path, result("a", "smoke", "not judged"))
    text = path.read_text()
    assert "## a cpu" in text and "## b smoke" in text and "## a smoke" not in text


def test_figures_of_a_users_own_data_stay_out_of_the_ledger(tmp_path, monkeypatch):
    from unbraid.claims.paper_002 import theorem_2

    picture = tmp_path / "picture.png"
    picture.write_bytes(b"a picture")
    monkeypatch.setattr(theorem_2, "run", lambda bench: Outcome([cell([1.0])], {}, "words", figures=[str(picture)]))
    monkeypatch.setattr(theorem_2, "TAKES_DATA", True, raising=False)
    for data, shown in ((None, True), ("sprites:pixels=16", True), (str(tmp_path), False)):
        folder = tmp_path / f"ledger-{shown}-{data is None}"
        folder.mkdir()
        update(folder / "ledger.md", run_claim("002/theorem-2", "cpu", tmp_path / "out", processes=1, data=data))
        assert (folder / "figures" / "picture.png").exists() == shown
        assert ("picture.png" in (folder / "ledger.md").read_text()) == shown


def test_one_that_cannot_be_run_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    from unbraid.claims.paper_002 import table_3_3, theorem_2

    def lacking(bench):
        raise UserError("no such data here")

    monkeypatch.setattr(table_3_3, "run", lacking)
    monkeypatch.setattr(theorem_2, "run", lambda bench: Outcome([cell([1.0])], {"it holds": True}, "by decree"))
    words = ["--scale", "cpu", "--processes", "1", "--out", str(tmp_path), "--ledger", str(tmp_path / "ledger.md")]
    assert main(["claims", "run", "002/table-3.3", "002/theorem-2", *words]) == 1
    told = capsys.readouterr()
    assert "002/table-3.3 is left out: no such data here" in told.err and "002/theorem-2: reproduced" in told.out
    assert main(["claims", "run", "002/table-3.3", *words]) == 2


def test_names_of_claims():
    assert matching(["002/table-3.3", "002"]) == [
        "002/table-3.3",
        *[c for c in claim_ids() if c.startswith("002") and c != "002/table-3.3"],
    ]
    assert "001/linear-toy" in matching(["001"])
    with pytest.raises(UserError, match=r"did you mean '002/table-3\.3'"):
        matching(["002/table3.3"])


@pytest.mark.parametrize("identity", claim_ids())
def test_claims_say_whether_they_take_a_users_data(identity):
    source = _path(identity).read_text()
    assert ("TAKES_DATA = True" in source) == any(
        words in source for words in ("bench.data", "dsprites(bench", "paper_001._setting", "paper_001._table")
    )


def test_data_that_a_claim_does_not_take_are_ignored_aloud(tmp_path, monkeypatch):
    from unbraid.claims.paper_002 import theorem_2

    monkeypatch.setattr(theorem_2, "run", lambda bench: Outcome([cell([1.0])], {str(bench.data): True}, "words"))
    with pytest.warns(Notice, match=r"claim 002/theorem-2 is about data of its own: mine\.npy is ignored"):
        result = run_claim("002/theorem-2", "cpu", tmp_path, processes=1, data="mine.npy")
    assert result["orderings"] == {"None": True} and result["data"] == "" and result["own"] is False
