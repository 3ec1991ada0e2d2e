"""cPCA (Abid et al. 2018): the axes along which targets vary most, at a price for the variance of background."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor, nn

from unbraid.errors import UserError
from unbraid.methods import Batch, Method, Step, Terms, Update
from unbraid.networks import Net
from unbraid.posteriors import Point


class CPCA(Method):
    """Contrastive PCA, found by gradients: the eigenvectors of C_target - alpha C_background are the minimum of a smooth loss.

    Axes Q are orthonormal by construction (QR). The first weighs most, each next one less: without weights any rotation
    within the best subspace were as good, with them the minimum is the eigenvectors themselves, in order (Brockett 1991).
    `unbraid.contrastive_axes` has the closed form, which needs all covariances at once, and how alpha may be chosen.

    Arguments:
        net: only the shape of a sample is taken from it.
        latents: number of axes.
        alpha: price of the background's variance; 0 is PCA of the targets.
    """

    needs = ("x", "background")

    def __init__(self, net: Net, latents: int = 2, *, alpha: float = 2.0) -> None:
        super().__init__()
        features = prod(net.shape)
        if latents > features:
            raise UserError(f"latents={latents}: samples of {features} numbers have at most {features} axes")
        self.latents, self.alpha, self.shape = latents, alpha, net.shape
        self.directions = nn.Linear(latents, features, bias=False)
        self.centre = nn.ParameterList([torch.zeros(features)])

    @property
    def blocks(self) -> dict[str, slice]:
        """There is no model of what is common."""
        return {"salient": slice(0, self.latents)}

    def axes(self) -> Tensor:
        """Q, (features, latents)."""
        return torch.linalg.qr(self.directions.weight)[0]

    def posterior(self, x: Tensor) -> Point:
        """Qᵀ (x - centre)."""
        return Point((x.flatten(1) - self.centre[0]) @ self.axes())

    def decode(self, codes: Tensor) -> Tensor:
        """Q codes + centre: the sample's shadow on the axes."""
        return (codes @ self.axes().T + self.centre[0]).unflatten(-1, self.shape)

    def updates(self) -> list[Update]:
        """The axes; then the centre of the targets, which only moves the codes."""
        return [Update(self.loss, over=[self.directions]), Update(self.centre_loss, over=[self.centre], lr=1e-2)]

    def loss(self, batch: Batch, step: Step) -> Terms:
        """-sum_i w_i (Q^T C_target Q - alpha Q^T C_background Q)_ii, w falling evenly from 1 to 1 / latents."""
        target, background = (_variances(batch[name].flatten(1), self.axes()) for name in ("x", "background"))
        weights = 1 - torch.arange(self.latents, device=target.device, dtype=target.dtype) / self.latents
        loss = -(weights * (target - self.alpha * background)).sum()
        return {"loss": loss, "target_variance": target.sum(), "background_variance": background.sum()}

    def centre_loss(self, batch: Batch, step: Step) -> Terms:
        """Half the mean squared distance of targets from the centre."""
        distance = 0.5 * (batch["x"].flatten(1) - self.centre[0]).square().sum(-1).mean()
        return {"loss": distance, "distance_from_centre": distance}


def _variances(x: Tensor, axes: Tensor) -> Tensor:
    """Of a batch, along each axis."""
    return ((x - x.mean(0)) @ axes).to(x.dtype).square().mean(0)
