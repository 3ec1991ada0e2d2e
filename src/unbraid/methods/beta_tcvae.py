"""beta-TCVAE (Chen et al. 2018): of the three parts of the KL, only the total correlation weighs beta."""

from __future__ import annotations

from torch import Tensor

from unbraid.errors import unknown
from unbraid.losses.total_correlation import ESTIMATORS, Aggregate, aggregate, log_densities, log_weights
from unbraid.methods import Terms
from unbraid.methods.vae import VAE
from unbraid.networks import Net
from unbraid.posteriors import DiagonalGaussian


class BetaTCVAE(VAE):
    """A VAE that pays beta for latents that depend on each other, and 1 for knowing the sample.

    The curves mutual_information, total_correlation and dimension_kl are always the stratified estimate ("mss"), the
    only one whose values mean something; their sum is a one-sample estimate of the KL. Other estimators shift the loss
    by a constant.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        beta: weight of the total correlation.
        estimator: what is minimised: "mws" as in the paper's experiments, "mss" stratified, "lib" as disentanglement_lib.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        latents: int = 10,
        *,
        beta: float = 6.0,
        estimator: str = "mws",
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, latents, reconstruction=reconstruction)
        if estimator not in ESTIMATORS:
            raise unknown("estimator", estimator, ESTIMATORS)
        self.beta, self.estimator = beta, estimator

    def penalty(self, q: DiagonalGaussian, z: Tensor) -> tuple[Tensor, Terms]:
        """KL + (beta - 1) total correlation, Eq. 4 with alpha = gamma = 1."""
        kl, terms = super().penalty(q, z)
        densities = log_densities(z, q)

        def parts(estimator: str, densities: Tensor) -> Aggregate:
            return aggregate(z, densities, log_weights(estimator, len(z), self.samples, z))

        seen = parts("mss", densities.detach())
        terms |= {
            "mutual_information": seen.mutual_information(),
            "total_correlation": seen.total_correlation(),
            "dimension_kl": seen.dimension_kl(),
        }
        return kl + (self.beta - 1) * parts(self.estimator, densities).total_correlation(), terms
