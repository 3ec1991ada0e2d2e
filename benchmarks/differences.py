"""Our default, our reference=True and what disentanglement_lib itself printed, on codes of two trained networks.

The codes are means of a beta-TCVAE and of a VAE on dSprites, both trained by others, in the folder `reference` of
UNBRAID_DATA; the first 5,000 rows are fitted, the last 3,000 scored (DCI: 2,000 and 1,000). docs/why-numbers-differ.md
quotes what this prints.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from unbraid import metrics
from unbraid.factors import Factor
from unbraid.metrics import Score

NETWORKS = {"beta-TCVAE": "btcvae_dsprites", "VAE": "VAE_dsprites"}
FACTORS = [Factor("shape", 3, "category"), Factor("scale", 6, "order"), Factor("orientation", 40, "cycle"),
           Factor("x", 32, "order"), Factor("y", 32, "order")]  # fmt: skip
# score, facet ("": the value), and the name that disentanglement_lib's number has in the file
COMPARED = [
    ("mig", "", "mig.discrete_mig"),
    ("modularity", "", "modularity"),
    ("irs", "", "irs"),
    ("sap", "", "sap.SAP_score"),
    ("explicitness", "", "explicitness_test"),
    ("dci", "disentanglement", "dci.disentanglement"),
    ("dci", "completeness", "dci.completeness"),
    ("dci", "informativeness", "dci.informativeness_test"),
    ("factor_vae_score", "", None),
    ("beta_vae_score", "", None),
    ("mcc", "", None),
    ("code_information", "", None),
]
# what else has been published under the same name: score, its options, which factors count
VARIANTS: list[tuple[str, str, dict[str, Any], slice]] = [
    ("MIG, 40 bins", "mig", {"bins": 40}, slice(None)),
    ("MIG, bins of equal mass", "mig", {"binning": "mass"}, slice(None)),
    ("MIG, minus the bias of few samples", "mig", {"correction": "shuffled"}, slice(None)),
    ("MIG, shape not counted (Chen)", "mig", {}, slice(1, None)),
    ("MIG, codes drawn from the posterior (Chen)", "mig", {"sampled": True}, slice(None)),
    ("MIG, both of Chen's", "mig", {"sampled": True}, slice(1, None)),
    ("SAP, squared correlation", "sap", {"estimator": "correlation"}, slice(None)),
    ("MCC, Pearson (nonlinear ICA)", "mcc", {"correlation": "pearson"}, slice(None)),
    ("MCC, weak: after a linear map", "mcc", {"correlation": "weak"}, slice(None)),
    ("explicitness, 0 for guessing", "explicitness", {"normalised": True}, slice(None)),
    ("D of DCI-ES, by forests", "dci_es", {}, slice(None)),
]


def codes_of(network: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, variances and factors of 8,000 samples."""
    arrays = np.load(folder() / "dsprites_codes_8000.npz")
    return arrays[f"{network}_mean"], np.exp(arrays[f"{network}_logvar"]), arrays["factors"]


def folder() -> Path:
    if "UNBRAID_DATA" not in os.environ:
        raise SystemExit("set UNBRAID_DATA to the folder that holds reference/")
    return Path(os.environ["UNBRAID_DATA"]) / "reference"


def score(name: str, network: str, columns: slice = slice(None), **options: Any) -> Score:
    codes, variance, factors = codes_of(network)
    factors, kinds = factors[:, columns], FACTORS[columns]
    fitted, scored = (2000, 1000) if name == "dci" else (5000, 3000)
    if name in ("sap", "explicitness", "dci", "dci_es"):
        held = slice(5000, 5000 + scored)
        options |= {"test_codes": codes[held], "test_factors": factors[held]}
    if options.get("sampled"):
        options |= {"variance": variance[:fitted]}
    given = [codes[:fitted]] if name == "code_information" else [codes[:fitted], factors[:fitted]]
    return getattr(metrics, name)(*given, **options, **({"kinds": kinds} if len(given) > 1 else {}))


def facet(of: Score, name: str) -> float:
    return of.facets[name] if name else of.value


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    print("|", " | ".join(head), "|\n|" + "--|" * len(list(head)))
    for row in rows:
        print("|", " | ".join(row), "|")


def main() -> None:
    for title, network in NETWORKS.items():
        print(f"\n{title}\n")
        published = json.loads((folder() / "disentanglement_lib_values.json").read_text())[f"{network}_mean"]
        found: dict[str, tuple[Score, Score]] = {}
        rows = []
        for name, part, theirs in COMPARED:
            if name not in found:
                found[name] = (score(name, network, reference=True), score(name, network))
            reference, default = (facet(one, part) for one in found[name])
            told = None if theirs is None else float(published[theirs])
            rows.append([f"{name} {part}".strip(), number(told), number(reference), number(default),
                         f"{default - reference:+.4f}"])  # fmt: skip
        markdown(["score", "disentanglement_lib", "`reference=True`", "default", "default − reference"], rows)
    print("\nother numbers of the same name\n")
    markdown(
        ["score", *NETWORKS],
        [
            [label, *(number(score(name, network, columns, **options).value) for network in NETWORKS.values())]
            for label, name, options, columns in VARIANTS
        ],
    )


if __name__ == "__main__":
    main()
