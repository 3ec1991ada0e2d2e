"""MM-cVAE (Weinberger et al. 2022): the aims of paper 001's Eq. 8 by moments: common codes alike, background's salient codes at zero."""

from __future__ import annotations

import torch
from torch import Tensor

from unbraid.losses.mmd import squared_mmd
from unbraid.methods import Batch, Terms
from unbraid.methods.common_salient_vae import CommonSalientVAE, Seen
from unbraid.networks import Net

GAMMAS = tuple(10.0**power for power in range(-6, 7))


class MMcVAE(CommonSalientVAE):
    """Maximum mean discrepancies with kernels of many widths take the place of a transport plan and a squared norm.

    Arguments:
        net: maker of encoder and decoder.
        common: coordinates z of what targets and background share.
        salient: coordinates s of what only targets have.
        common_weight: of the discrepancy between common codes of targets and background.
        salient_weight: of that between salient codes of background and zero.
        beta: weight of the KL; paper 001 takes 2 for grassy digits.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        common: int = 8,
        salient: int = 4,
        *,
        common_weight: float = 1e4,
        salient_weight: float = 1e3,
        beta: float = 1.0,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, common, salient, beta=beta, reconstruction=reconstruction)
        self.common_weight, self.salient_weight = common_weight, salient_weight

    def penalty(self, batch: Batch, seen: Seen) -> tuple[Tensor | float, Terms]:
        """Of drawn codes; the zeros are as many as they."""
        s_y = seen.s_y.sample(self.noises(batch)[-1])
        common = squared_mmd(seen.z_x_drawn, seen.z_y_drawn, GAMMAS)
        salient = squared_mmd(s_y, torch.zeros_like(s_y), GAMMAS)
        weighted = self.common_weight * common + self.salient_weight * salient
        return weighted, {"common_mmd": common, "salient_mmd": salient}
