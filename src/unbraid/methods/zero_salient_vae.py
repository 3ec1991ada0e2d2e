"""Zero-salient VAE (paper 001, Eq. 7): the salient code of background is pulled to zero, mean and spread."""

from __future__ import annotations

from torch import Tensor

from unbraid.methods import Batch, Terms
from unbraid.methods.common_salient_vae import CommonSalientVAE, Seen
from unbraid.networks import Net


class ZeroSalientVAE(CommonSalientVAE):
    """The bound with the term that others leave out: that of q(s|y) and a prior which has all its mass at 0.

    The paper's indicator is infinite, and what it trains with is quadratic: lambda_s times the squared 2-Wasserstein
    distance of q(s|y) from that point mass. It does not print lambda_s.

    Arguments:
        net: maker of encoder and decoder.
        common: coordinates z of what targets and background share.
        salient: coordinates s of what only targets have.
        lambda_s: weight of |mu_s|² + |sigma_s|² of background.
        beta: weight of the KL; paper 001 takes 2 for grassy digits.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        common: int = 8,
        salient: int = 4,
        *,
        lambda_s: float = 10.0,
        beta: float = 1.0,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, common, salient, beta=beta, reconstruction=reconstruction)
        self.lambda_s = lambda_s

    def penalty(self, batch: Batch, seen: Seen) -> tuple[Tensor | float, Terms]:
        """lambda_s E_y |mu_s(y)|² + |sigma_s(y)|²."""
        silence = (seen.s_y.mean.square() + seen.s_y.variance).sum(-1).mean()
        return self.lambda_s * silence, {"background_salient": silence}
