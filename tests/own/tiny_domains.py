"""Tiny domains: a VAE with one private latent for each domain, masked for all others."""

import torch

from unbraid.losses.reconstruction import reconstruction_error
from unbraid.methods.vae import VAE


class TinyDomains(VAE):
    """A VAE of any number of domains.

    Arguments:
        net: maker of encoder and decoder.
        domains: names of the groups.
        shared: latents of all domains.
        batches: balanced, or mixed.
    """

    needs = ("x", "domain")

    def __init__(self, net, *, domains, shared=1, batches="balanced"):
        super().__init__(net, len(domains) + shared)
        self.domains, self.mixed = tuple(domains), batches == "mixed"

    @property
    def blocks(self):
        private = {f"private/{name}": slice(place, place + 1) for place, name in enumerate(self.domains)}
        return {**private, "shared": slice(len(self.domains), self.latents)}

    def heard(self, group):
        return [f"private/{group}", "shared"]

    def loss(self, batch, step):
        q = self.posterior(batch["x"])
        own = batch["domain"][:, None] == torch.arange(len(self.domains), device=batch["domain"].device)
        mask = torch.cat([own, torch.ones_like(own[:, :1]).expand(-1, self.latents - len(self.domains))], -1)
        z = q.sample(batch["noise"]) * mask
        error = reconstruction_error(self.reconstruction, batch["x"], self.decoder(z)).mean()
        kl = q.kl().sum(-1).mean()
        return {"loss": error + kl, "reconstruction": error, "kl": kl}
