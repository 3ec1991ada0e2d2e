"""A robot arm that holds an object, drawn simply, drawn realistically, and photographed (Gondal et al. 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unbraid.data import Data, grid, named
from unbraid.errors import UserError, unknown
from unbraid.factors import Factor
from unbraid.kept import Mapped
from unbraid.npz import array_in
from unbraid.official import Official, checksum, fetch

HUB = "https://huggingface.co/datasets"
BUCKET = "https://storage.googleapis.com/disentanglement_dataset"
SIDE = 64


@dataclass(frozen=True)
class Version:
    """A file, and how many colours and shapes its objects have."""

    file: Official
    colours: int = 6
    shapes: int = 6


def _final(name: str, checksum_: str) -> Version:
    addresses = (f"{HUB}/waleedgondal/mpi3d/resolve/main/{name}", f"{BUCKET}/Final_Dataset/{name}")
    return Version(Official(name, checksum_, addresses))


def _challenge(name: str) -> Version:
    return Version(Official(name, None, (f"{BUCKET}/data_npz/{name}",)), 4, 4)


COMPLEX = "real3d_complicated_shapes_ordered.npz"
VERSIONS = {
    "toy": _final("mpi3d_toy.npz", "md5:55889cb7c7dfc655d6e0277beee88868"),
    "realistic": _final("mpi3d_realistic.npz", "md5:59a6225b88b635365f70c91b3e52f70f"),
    "real": _final("mpi3d_real.npz", "md5:0f33f609918fb5c97996692f91129802"),
    "complex": Version(Official(COMPLEX, None, (f"{HUB}/randall-lab/mpi3d-complex/resolve/main/{COMPLEX}",)), 4, 4),
    "challenge_toy": _challenge("sim_toy_64x_ordered_without_heldout_factors.npz"),
    "challenge_realistic": _challenge("sim_realistic_64x_ordered_without_heldout_factors.npz"),
}
STEPS = (
    Factor("size", 2, "order"),
    Factor("height", 3, "order"),
    Factor("background", 3, "category"),
    Factor("horizontal", 40, "order"),
    Factor("vertical", 40, "order"),
)


def mpi3d(version: str = "toy") -> Data:
    """Colour pictures of an object on a robot arm, every combination of seven factors.

    Read from the file as they are drawn, or from the cache if the file is compressed; toy, realistic and real have
    1,036,800 pictures (12.7 GB). The other versions have four colours and four shapes, 460,800 pictures, and no
    published checksum: complex has everyday objects, and challenge_toy is what disentanglement_lib calls mpi3d_toy.

    Arguments:
        version: toy, realistic, real, complex, challenge_toy or challenge_realistic.
    """
    if version not in VERSIONS:
        raise unknown("version of mpi3d", version, VERSIONS)
    wanted = VERSIONS[version]
    path = fetch("mpi3d", wanted.file)
    factors = (Factor("colour", wanted.colours, "category"), Factor("shape", wanted.shapes, "category"), *STEPS)
    sizes = [factor.size for factor in factors]
    images = array_in("mpi3d", path, "images", f"{version}-{checksum(path, 'md5')[-24:]}")
    if images.shape[-3:] != (SIDE, SIDE, 3) or images.size != math.prod(sizes) * SIDE * SIDE * 3:
        raise UserError(f"{path}: images are {images.shape}, should be {math.prod(sizes)} of {SIDE}x{SIDE}x3")
    return Data(
        name=named("mpi3d", {"version": version}),
        source=Mapped(images.reshape(-1, SIDE, SIDE, 3), channels_last=True),
        shape=(3, SIDE, SIDE),
        factors=factors,
        values=grid(sizes),
        notes=wanted.file.notes(path),
        fingerprint="" if wanted.file.checksum else checksum(path),
    )
