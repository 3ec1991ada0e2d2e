"""Rb-VAE (Ruiz et al. 2019): common and salient codes, where all background has one and the same salient code, which is learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unbraid.methods.common_salient_vae import CommonSalientVAE
from unbraid.networks import Net


class RbVAE(CommonSalientVAE):
    """The reference-based VAE: the loss of Eq. 3 and no other term.

    Arguments:
        net: maker of encoder and decoder.
        common: coordinates z of what targets and background share.
        salient: coordinates s of what only targets have.
        learned: learn background's salient code; it is 0 otherwise, as in paper 001.
        beta: weight of the KL; paper 001 takes 2 for grassy digits.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        common: int = 8,
        salient: int = 4,
        *,
        learned: bool = True,
        beta: float = 1.0,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, common, salient, beta=beta, reconstruction=reconstruction)
        self.reference = nn.ParameterList([torch.zeros(salient)] if learned else [])

    def absent(self, codes: Tensor) -> Tensor:
        """s_ref, for as many rows."""
        for reference in self.reference:
            return reference.to(codes.dtype).expand(len(codes), -1)
        return super().absent(codes)
