"""W2-VAE (paper 001, Eq. 8): background has no salient code, and common codes of targets and background are of one distribution."""

from __future__ import annotations

from torch import Tensor

from unbraid.losses.wasserstein import squared_w2
from unbraid.methods import Batch, Terms
from unbraid.methods.common_salient_vae import Seen
from unbraid.methods.zero_salient_vae import ZeroSalientVAE
from unbraid.networks import Net


class W2VAE(ZeroSalientVAE):
    """The zero-salient VAE, which also pays for the exact transport of one batch of common codes onto the other.

    Even batches of one distribution are apart: 4.4 for 128 codes of 8 latents, where the term stops falling.

    Arguments:
        net: maker of encoder and decoder.
        common: coordinates z of what targets and background share.
        salient: coordinates s of what only targets have.
        lambda_z: weight of the squared 2-Wasserstein distance; 1 is best in paper 001.
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
        lambda_z: float = 1.0,
        lambda_s: float = 10.0,
        beta: float = 1.0,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, common, salient, lambda_s=lambda_s, beta=beta, reconstruction=reconstruction)
        self.lambda_z = lambda_z

    def penalty(self, batch: Batch, seen: Seen) -> tuple[Tensor | float, Terms]:
        """Eq. 7 and lambda_z W2² of the drawn common codes, Eqs. 8 and 9."""
        silence, terms = super().penalty(batch, seen)
        apart = squared_w2(seen.z_x_drawn, seen.z_y_drawn)
        return silence + self.lambda_z * apart, {**terms, "w2": apart}
