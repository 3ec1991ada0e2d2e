"""Masked VAE (Hayashi & Koyama, paper 000): factors of one domain alone and of all, told apart by a mask before the decoder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from unbraid.errors import UserError, unknown
from unbraid.losses.reconstruction import reconstruction_error
from unbraid.methods import Batch, Step, Terms
from unbraid.methods.vae import VAE
from unbraid.networks import Net


class MaskedVAE(VAE):
    """One encoder that is told nothing of domains, and one decoder that sees u_k * z, z = [z_1, ..., z_L, z_shared].

    The KL of latents that a domain's mask hides has nothing against it: in that domain they are driven to N(0, I). A
    factor of all domains is cheaper in the shared block than once in each private one. The paper writes 1/2 |x - g|² +
    3 KL, which is the default here: |x - g|² + 6 KL.

    Arguments:
        net: maker of encoder and decoder.
        domains: names of the groups.
        private: latents of each domain alone; 10-4 for other numbers in each, in the order of the domains.
        shared: latents of all domains.
        beta: weight of the KL of all latents, hidden ones included.
        masked: false decodes from all latents in every domain: the beta-VAE of the same networks.
        balanced: equally many samples of each domain in a batch, rather than as they come in all of them together.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    needs = ("x", "domain")

    def __init__(
        self,
        net: Net,
        domains: Sequence[str],
        *,
        private: int | str = 10,
        shared: int = 10,
        beta: float = 6.0,
        masked: bool = True,
        balanced: bool = False,
        reconstruction: str = "squared",
    ) -> None:
        self.private = _sizes(private, domains)
        if not sum(self.private) + shared:
            raise UserError("private=0, shared=0: at least one latent is needed")
        super().__init__(net, sum(self.private) + shared, reconstruction=reconstruction)
        self.domains, self.beta, self.masked, self.mixed = tuple(domains), beta, masked, not balanced

    @property
    def blocks(self) -> dict[str, slice]:
        """z_1, ..., z_L, z_shared."""
        ends = list(accumulate(self.private, initial=0))
        own = {f"private/{name}": slice(*ends) for name, ends in zip(self.domains, pairwise(ends), strict=True)}
        return {**own, "shared": slice(ends[-1], self.latents)}

    def heard(self, group: str) -> list[str]:
        """A domain's own block and the shared one."""
        if group not in self.domains:
            raise unknown("domain", group, self.domains)
        return [f"private/{group}", "shared"] if self.masked else list(self.blocks)

    def masks(self, like: Tensor) -> Tensor:
        """u_k of every domain, (domains, latents), in the numbers of a tensor."""
        if not self.masked:
            return like.new_ones(len(self.domains), self.latents)
        own = [like.new_ones(1, size) for size in self.private]
        return torch.cat([torch.block_diag(*own), like.new_ones(len(own), self.latents - sum(self.private))], -1)

    def loss(self, batch: Batch, step: Step) -> Terms:
        """Eq. 2 with the KL of Appendix B, over all latents."""
        q = self.posterior(batch["x"])
        z = q.sample(batch["noise"]) * self.masks(q.mean)[batch["domain"]]
        error = reconstruction_error(self.reconstruction, batch["x"], self.decoder(z)).mean()
        kl = q.kl().sum(-1).mean()
        return {"loss": error + self.beta * kl, "reconstruction": error, "kl": kl}


def _sizes(private: int | str, domains: Sequence[str]) -> list[int]:
    """Latents of each domain."""
    words = str(private).split("-")
    if not all(word.isdecimal() for word in words) or len(words) not in (1, len(domains)):
        raise UserError(
            f"private={private}: one whole number for all domains, or one for each of {', '.join(domains)}, as "
            + "-".join(["10"] * len(domains))
        )
    return [int(word) for word in words] * (len(domains) // len(words))
