"""What each score is called and how to read it, in one short sentence."""

from __future__ import annotations

from typing import NamedTuple


class Word(NamedTuple):
    """A score's name for readers, and how to read it."""

    name: str
    meaning: str


WORDS = {
    "mig": Word("MIG", "Higher is better: one latent knows a factor and the next best does not."),
    "disentanglement_score": Word(
        "Disentanglement score",
        "Higher is better: each factor is predicted by one latent and by no second one.",
    ),
    "distance_to_orthogonality": Word(
        "Distance to orthogonality", "Lower is better: 0 means the decoder's axes are its own principal axes."
    ),
    "active_units": Word("Active latents", "Latents that carry information; the others are noise to the decoder."),
    "ima_contrast": Word(
        "IMA contrast", "Lower is better: 0 means the columns of the decoder's Jacobian are orthogonal."
    ),
    "polarized_regime": Word(
        "Polarized regime",
        "Share of training in which latents were either used or switched off; higher is better.",
    ),
    "dci": Word("DCI disentanglement", "Higher is better: each latent matters to one factor only."),
    "sap": Word("SAP", "Higher is better: one latent separates a factor far better than the next."),
    "factor_vae": Word("FactorVAE score", "Higher is better: a fixed factor shows as the latent of least variance."),
    "beta_vae": Word("β-VAE score", "Higher is better: a linear rule names the factor that two images share."),
    "modularity": Word("Modularity", "Higher is better: each latent depends on one factor at most."),
    "irs": Word("IRS", "Higher is better: latents stay put when other factors change."),
}
HEADLINES = (
    "mig",
    "disentanglement_score",
    "distance_to_orthogonality",
    "active_units",
    "polarized_regime",
    "ima_contrast",
)
GEOMETRY = ("distance_to_orthogonality", "ima_contrast", "active_units", "polarized_regime")


def word(name: str, best: str = "high") -> Word:
    """The words for a score, also for one nobody described."""
    if name in WORDS:
        return WORDS[name]
    return Word(name.replace("_", " "), "Lower is better." if best == "low" else "Higher is better.")


def inline(name: str) -> str:
    """A score's name inside a sentence: only acronyms keep their capitals."""
    named = word(name).name
    return named if named[:2].isupper() else named[:1].lower() + named[1:]


def ordered(names: list[str]) -> list[str]:
    """Score names with the headlines first."""
    return [name for name in HEADLINES if name in names] + [name for name in names if name not in HEADLINES]
