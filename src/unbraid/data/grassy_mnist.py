"""Grassy MNIST (paper 001, A.1): handwritten digits over grass as targets, and grass by itself as background."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unbraid.data import Data, Stored, named, whole
from unbraid.data.linear_square import generator
from unbraid.data.mnist import CHECKSUMS, FOLDERS
from unbraid.errors import UserError, unknown
from unbraid.factors import Factor
from unbraid.grass import drawn_grass
from unbraid.groups import join
from unbraid.idx import images_and_labels
from unbraid.textures import Patches, cut

SIDE = 28
RHO = 0.5
THRESHOLD = 0.3
KINDS = ("linear", "nonlinear")
MOST_LABELS = 50  # pictures whose patches are told apart by a factor


def grassy_mnist(
    kind: str = "linear", textures: str = "", per_digit: int = 4986, patches: int = 4986, seed: int = 0
) -> Data:
    """Digits over grass against grass, 28x28 in colour: x = y/2 + t/2, every target over a random patch of the background.

    The paper cut its grass from pictures of ImageNet, which cannot be had here: give a folder of your own, or take the
    grass that is drawn, which every result says. Digits come from all 70,000 of MNIST, equally many of each.

    Arguments:
        kind: linear (Eq. 10), or nonlinear (Eq. 11): black wherever a channel of the grass is at most 0.3.
        textures: a folder of pictures, one picture, or several with + between them, here or in UNBRAID_DATA; grass is
            drawn if there are none.
        per_digit: targets of each digit.
        patches: patches of grass, which are the background.
        seed: which digits, which patches, and which over which.
    """
    options = {"kind": kind, "textures": textures, "per_digit": per_digit, "patches": patches, "seed": seed}
    if kind not in KINDS:
        raise unknown("kind of grassy_mnist", kind, KINDS)
    whole({"per_digit": per_digit})
    whole({"patches": patches}, least=10)
    choosing, cutting, pairing = generator(seed).spawn(3)
    digits, labels = _digits(per_digit, choosing)
    grass = cut(textures, patches, SIDE, cutting) if textures else Patches(drawn_grass(patches, SIDE, cutting), np.zeros(patches, np.int64), ())  # fmt: skip
    behind = torch.from_numpy(pairing.integers(0, patches, len(digits)))
    stored, texture = torch.from_numpy(grass.samples), torch.from_numpy(grass.pictures)[:, None]
    name = named("grassy_mnist", options)
    fingerprint = hashlib.blake2b(grass.samples.data, digest_size=8).hexdigest() if textures else ""
    several = 1 < len(grass.names) <= MOST_LABELS
    told = (Factor("texture", len(grass.names), "category", grass.names),) if several else ()
    target = Data(
        name=f"{name} (target)",
        source=Overlaid(digits, stored, behind, kind == "nonlinear"),
        shape=(3, SIDE, SIDE),
        factors=(Factor("digit", 10, "category"), *told),
        values=torch.cat([labels, texture[behind]], 1) if several else labels,
        notes=(_note(grass),),
        fingerprint=fingerprint,
    )
    background = Data(
        name=f"{name} (background)",
        source=Stored(stored),
        shape=(3, SIDE, SIDE),
        factors=told,
        values=texture if several else None,
        notes=(_note(grass),),
        fingerprint=fingerprint,
    )
    return join({"target": target, "background": background}, name)


@dataclass(frozen=True)
class Overlaid:
    """Targets: bytes of digits (digits, 28, 28) over bytes of patches (patches, 3, 28, 28), which over which in `behind`."""

    digits: Tensor
    patches: Tensor
    behind: Tensor
    nonlinear: bool

    def __len__(self) -> int:
        return len(self.digits)

    def draw(self, rows: Tensor) -> Tensor:
        """x = rho y + (1 - rho) t, Eq. 10; where nonlinear, 0 in every channel with y <= 0.3, Eq. 11."""
        flat = rows.reshape(-1).to(self.digits.device)
        y = self.patches.index_select(0, self.behind[flat]).to(torch.float32).div_(255)
        t = self.digits.index_select(0, flat).to(torch.float32).div_(255)[:, None]
        x = RHO * y + (1 - RHO) * t
        if self.nonlinear:
            x = x * (y > THRESHOLD)
        return x.view(*rows.shape, *x.shape[1:])

    def to(self, device: torch.device) -> Overlaid:
        """Move digits and patches."""
        return Overlaid(self.digits.to(device), self.patches.to(device), self.behind.to(device), self.nonlinear)


def _digits(each: int, random: np.random.Generator) -> tuple[Tensor, Tensor]:
    """So many of every digit, in mixed order, with their labels (digits, 1)."""
    images, labels = images_and_labels("mnist", CHECKSUMS, FOLDERS)
    columns = [np.flatnonzero(labels[:, 0].numpy() == digit) for digit in range(10)]
    fewest = min(map(len, columns))
    if each > fewest:
        raise UserError(f"per_digit={each}: MNIST has {fewest} of the rarest digit")
    rows = torch.from_numpy(random.permutation(np.concatenate([random.permutation(own)[:each] for own in columns])))
    return images[rows, 0], labels[rows].long()


def _note(grass: Patches) -> str:
    """Where the background is from, and what its brightness is: half of all that is seen hangs on it."""
    values = grass.samples / np.float32(255)
    moments = f"mean {values.mean():.2f}, standard deviation {values.std():.2f}, {(values > THRESHOLD).mean():.0%} above {THRESHOLD}"
    if not grass.names:
        return f"the grass is drawn (procedural: filtered noise in greens), not photographed: {moments}"
    shown = ", ".join(grass.names[:8]) + (", ..." if len(grass.names) > 8 else "")
    return f"{len(grass.samples)} patches were cut from {len(grass.names)} pictures ({shown}): {moments}"
