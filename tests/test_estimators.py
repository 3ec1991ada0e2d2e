"""The scikit-learn face: scikit-learn's own checks, two ways to give a background, names, pipelines, and mistakes in one line."""

import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import unbraid
from unbraid.errors import UserError
from unbraid.estimators import ContrastiveVAE

TINY = {"net": "mlp:encoder=8,decoder=8", "common": 3, "salient": 2, "steps": 2, "batch_size": 8}
RANDOM = np.random.default_rng(0)
CASES, CONTROLS = RANDOM.normal(5, 2, size=(40, 4)), RANDOM.normal(5, 2, size=(30, 4))
ROWS, LABELS = np.concatenate([CASES, CONTROLS]), np.array(["ill"] * 25 + ["worse"] * 15 + ["well"] * 30)

FEW = "its rows have three labels or random ones, fewer than 10 of them 0: a group is too small to be split and trained on"
NO_ZERO = "its labels are 1 and 2, none of them the background's"
WITH_LABELS = {
    "check_estimators_overwrite_params": FEW,
    "check_dont_overwrite_parameters": FEW,
    "check_estimators_fit_returns_self": FEW,
    "check_readonly_memmap_input": FEW,
    "check_n_features_in_after_fitting": FEW,
    "check_estimators_dtypes": NO_ZERO,
    "check_estimators_nan_inf": FEW,
    "check_f_contiguous_array_estimator": FEW,
    "check_methods_sample_order_invariance": FEW,
    "check_methods_subset_invariance": FEW,
    "check_fit2d_1feature": NO_ZERO,
    "check_dict_unchanged": FEW,
    "check_fit2d_predict1d": FEW,
}


class WithTable(ContrastiveVAE):
    """Reads no labels but takes the samples themselves for a background: what the checks above would see of a table."""

    def fit(self, X, y=None):
        return super().fit(X, None if y is None else X)


@parametrize_with_checks([ContrastiveVAE(**TINY)], expected_failed_checks=lambda _: WITH_LABELS, xfail_strict=True)
def test_checks_of_scikit_learn_with_labels(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for pair in estimator_checks_generator(WithTable(**TINY)) if pair[1].func.__name__ in WITH_LABELS],
    ids=lambda one: one.func.__name__ if hasattr(one, "func") else "",
)
def test_checks_that_need_larger_groups_with_a_table(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def fitted():
    return ContrastiveVAE(**TINY).fit(CASES, CONTROLS)


def test_import_is_light():
    code = "import sys, unbraid; assert not {'torch', 'sklearn', 'unbraid.estimators'} & set(sys.modules)"
    code += "; unbraid.ContrastiveVAE(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert unbraid.ContrastiveVAE is ContrastiveVAE


def test_blocks_there_and_back(fitted):
    whole = fitted.transform(CASES, block="all")
    np.testing.assert_array_equal(whole[:, :3], fitted.transform(CASES, "common"))
    np.testing.assert_array_equal(whole[:, 3:], fitted.transform(CASES))
    assert fitted.transform(CASES).dtype == np.float32
    back = fitted.inverse_transform(whole)
    assert back.shape == CASES.shape and np.abs(back.mean() - CASES.mean()) < 2, "in units of the data"
    only = np.zeros_like(whole)
    only[:, 3:] = whole[:, 3:]
    np.testing.assert_array_equal(fitted.inverse_transform(whole[:, 3:]), fitted.inverse_transform(only))
    np.testing.assert_array_equal(
        fitted.inverse_transform(whole[:, :3], block="common"),
        fitted.inverse_transform(np.c_[whole[:, :3], np.zeros((40, 2))]),
    )
    with pytest.raises(ValueError, match="codes of 4 latents given: salient has 2, a whole code 5"):
        fitted.inverse_transform(whole[:, :4])
    with pytest.raises(ValueError, match="did you mean 'salient'"):
        fitted.transform(CASES, block="saliant")


def test_same_seed_same_codes_and_a_pickle_of_it(fitted):
    codes = fitted.transform(CASES)
    np.testing.assert_array_equal(clone(fitted).fit(CASES, background=CONTROLS).transform(CASES), codes)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(CASES), codes)
    assert np.abs(clone(fitted).set_params(seed=1).fit(CASES, CONTROLS).transform(CASES) - codes).max() > 1e-3


def test_labels_and_a_table_are_the_same(fitted):
    labelled = ContrastiveVAE(**TINY, background_label="well").fit(ROWS, LABELS)
    np.testing.assert_array_equal(labelled.transform(ROWS), fitted.transform(ROWS))


def test_in_a_pipeline(fitted):
    pipe = make_pipeline(StandardScaler(), ContrastiveVAE(**TINY, background_label="well"), LogisticRegression())
    assert set(pipe.fit(ROWS, LABELS).predict(ROWS)) <= set(LABELS)
    codes = pipe[:-1].transform(ROWS)
    np.testing.assert_allclose(codes, fitted.transform(ROWS), atol=1e-5, err_msg="standardised twice is once")
    assert list(pipe[:-1].get_feature_names_out()) == ["salient0", "salient1"]
    assert pipe[:-1].inverse_transform(codes).shape == ROWS.shape


def test_a_table_goes_through_a_pipeline_by_name():
    with sklearn.config_context(enable_metadata_routing=True):
        last = ContrastiveVAE(**TINY, standardise=False).set_fit_request(background=True)
        pipe = Pipeline([("scale", StandardScaler()), ("codes", last)], transform_input=["background"])
        found = pipe.fit(CASES, background=CONTROLS).transform(CASES)
    scaler = StandardScaler().fit(CASES)
    alone = clone(last).fit(scaler.transform(CASES), scaler.transform(CONTROLS))
    np.testing.assert_array_equal(found, alone.transform(scaler.transform(CASES)))


def frame(values, names="abcd"):
    return pandas.DataFrame(values, columns=list(names))


def test_data_frames_bring_names():
    fitted = ContrastiveVAE(**TINY).fit(frame(CASES), frame(CONTROLS))
    assert list(fitted.feature_names_in_) == list("abcd") and fitted.n_features_in_ == 4
    np.testing.assert_array_equal(fitted.transform(frame(CASES)), clone(fitted).fit(CASES, CONTROLS).transform(CASES))
    assert list(fitted.get_feature_names_out()) == ["salient0", "salient1"]
    assert list(fitted.set_params(block="common").get_feature_names_out()) == ["common0", "common1", "common2"]
    assert len(fitted.set_params(block="all").get_feature_names_out()) == 5
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame(CASES, "abce"))


def test_data_frames_out(fitted):
    cases = frame(CASES)
    cases.index += 100
    model = clone(fitted).set_output(transform="pandas").fit(cases, frame(CONTROLS))
    for block, width in (("salient", 2), ("common", 3), ("all", 5)):
        codes = model.transform(cases, block=block)
        np.testing.assert_array_equal(codes, fitted.transform(CASES, block=block))
        assert codes.index.equals(cases.index) and codes.shape[1] == width
        assert block == "all" or list(codes.columns) == [f"{block}{i}" for i in range(width)]
    assert model.block == "salient" and model.inverse_transform(codes).shape == cases.shape
    rows = frame(ROWS).assign(condition=LABELS)
    pipe = make_pipeline(StandardScaler(), ContrastiveVAE(**TINY, background_label="well")).set_output(
        transform="pandas"
    )
    codes = pipe.fit_transform(rows[list("abcd")], rows["condition"])
    assert list(codes.columns) == ["salient0", "salient1"] and codes.index.equals(rows.index)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_transformer_get_feature_names_out_pandas,
        estimator_checks.check_set_output_transform_pandas,
        estimator_checks.check_global_output_transform_pandas,
    ],
)
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_checks_with_data_frames(check):
    check("WithTable", WithTable(**TINY))


def test_a_search_over_options():
    """Folds keep both groups; every candidate is a clone."""
    pipe = make_pipeline(ContrastiveVAE(**TINY, background_label="well"), LogisticRegression())
    grid = {"contrastivevae__salient": [1, 2], "contrastivevae__options": [{}, {"lambda_z": 2.0}]}
    search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(ROWS, LABELS)
    scores = search.cv_results_["mean_test_score"]
    assert scores.shape == (4,) and ((scores >= 0) & (scores <= 1)).all()
    assert search.best_estimator_.predict(ROWS).shape == LABELS.shape


def test_the_example_of_the_readme(monkeypatch, fitted):
    """As it is written there, only shorter."""
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    (example,) = (
        block for block in re.findall(r"```python\n(.*?)```", readme, re.S) if "import ContrastiveVAE" in block
    )
    monkeypatch.setitem(ContrastiveVAE.__init__.__kwdefaults__, "steps", 2)
    given = {
        "cases": CASES,
        "controls": CONTROLS,
        "rows": ROWS,
        "labels": np.where(LABELS == "well", "control", LABELS),
    }
    exec(example, given)
    assert given["model"].history_[-1]["step"] == 2 and given["whole"].shape == (40, 12)


def test_runs_are_kept_where_asked(out, capsys):
    model = ContrastiveVAE(**TINY, out=out, options={"lambda_z": 2.0}).fit(CASES, CONTROLS)
    assert unbraid.load_run(model.run_.path).config["options"]["lambda_z"] == 2.0
    assert model.run_.path.is_relative_to(out) and model.run_.status == "finished"
    weights = model.run_.path / "weights.safetensors"
    before = weights.stat().st_mtime_ns
    clone(model).fit(CASES, CONTROLS)
    assert weights.stat().st_mtime_ns == before, "found, not trained again"
    assert not ContrastiveVAE(**TINY).fit(CASES, CONTROLS).run_.path.exists()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("method", "latents"), [("cpca", 2), ("clvm", 5), ("rb_vae", 5)])
def test_other_methods(method, latents):
    model = ContrastiveVAE(method, **TINY).fit(CASES, CONTROLS)
    assert model.transform(CASES).shape == (40, 2) and model.transform(CASES, "all").shape == (40, latents)
    assert model.inverse_transform(model.transform(CASES)).shape == (40, 4)


def test_pictures_are_taken_as_they_are():
    pictures = RANDOM.integers(0, 256, size=(30, 6, 6), dtype=np.uint8)
    model = ContrastiveVAE(**TINY).fit(pictures[:15], pictures[15:])
    assert model.scaler_ is None and model.transform(pictures).shape == (30, 2)
    assert model.inverse_transform(model.transform(pictures)).shape == (30, 1, 6, 6)


HOLES = np.where(np.arange(4) == 1, np.nan, CASES)


@pytest.mark.parametrize(
    ("given", "settings", "said"),
    [
        ((CASES, CONTROLS[:, :3]), {}, "target has 4 columns, background 3 columns"),
        ((frame(CASES), frame(CONTROLS, "abce")), {}, "differ: background lacks d"),
        ((frame(CASES), frame(CONTROLS, "abdc")), {}, "in another order"),
        ((CASES, CONTROLS[:0]), {}, "background has 0 samples: at least 10 are needed"),
        ((CASES, CONTROLS[:1]), {}, "background has 1 sample: at least 10 are needed"),
        ((CASES[:1], CONTROLS), {}, "target has 1 sample: at least 10 are needed"),
        ((HOLES, CONTROLS), {}, "target: 40 values are NaN or infinity, the first in row 0"),
        ((CASES, HOLES), {}, "background: 40 values are NaN"),
        ((frame(CASES), frame(CONTROLS).iloc[:0]), {}, "background has 0 samples: at least 10 are needed"),
        ((frame(CASES), frame(CONTROLS[:1])), {}, "background has 1 sample: at least 10 are needed"),
        ((frame(CASES), frame(HOLES)), {}, "background: 40 values are NaN or infinity, the first in row 0"),
        (
            (frame(CASES).assign(e="x", f=1.0), frame(CONTROLS).assign(e="x", f=1.0)),
            {},
            "target: column e holds words, not numbers",
        ),
        ((CASES[:, 0], CONTROLS), {}, "target: Expected 2D array, got 1D array instead"),
        (("nowhere.npy", CONTROLS), {}, "target: Expected 2D array, got scalar array instead: array=nowhere.npy"),
        ((CASES,), {}, "requires y to be passed"),
        ((ROWS, LABELS), {}, "no row has the label of the background, 0: set background_label to one of 'ill', 'well'"),
        ((ROWS, LABELS[1:]), {"background_label": "well"}, "70 rows, but 69 labels"),
        ((ROWS, [None, *LABELS[1:]]), {"background_label": "well"}, "1 of 70 labels are missing"),
        ((ROWS, LABELS == "none"), {}, "target has 0 samples"),
        ((CASES, CONTROLS), {"method": "vae"}, "vae compares nothing with a background; these do: clvm"),
        ((CASES, CONTROLS), {"method": "w2_vea"}, "did you mean 'w2_vae'"),
        ((CASES, CONTROLS), {"block": "comon"}, "did you mean 'common'"),
        ((CASES, CONTROLS), {"options": {"lambda": 1}}, "unknown option of w2_vae 'lambda'"),
        ((CASES, CONTROLS), {"options": 3}, "options must be a mapping such as {'lambda_z': 2.0}, not 3"),
        ((CASES, CONTROLS), {"options": {"seeds": 2}}, "options has seeds, but an estimator is of one seed"),
        ((CASES, CONTROLS), {"salient": 0}, "salient must be from 1 to 100000, not 0"),
        ((CASES, CONTROLS), {"steps": 0}, "steps must be a whole number of at least 1"),
    ],
)
def test_mistakes_are_one_line(given, settings, said):
    with pytest.raises(ValueError) as caught:
        ContrastiveVAE(**{**TINY, **settings}).fit(*given)
    assert isinstance(caught.value, UserError) and said in str(caught.value) and "\n" not in str(caught.value)


def test_a_run_that_stops_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unbraid.errors.Notice)
        with pytest.raises(ValueError, match=r"training stopped: .*smaller lr"):
            ContrastiveVAE(**{**TINY, "steps": 60}, lr=1e30).fit(CASES, CONTROLS)
