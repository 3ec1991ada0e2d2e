"""Handwritten digits: all 70,000 images of MNIST."""

from __future__ import annotations

from unbraid.data import Data, Stored
from unbraid.factors import Factor
from unbraid.idx import images_and_labels

FOLDERS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
    "http://yann.lecun.com/exdb/mnist",
)
CHECKSUMS = {
    "train-images-idx3-ubyte.gz": "sha256:440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte.gz": "sha256:3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}


def mnist() -> Data:
    """Handwritten digits, 28x28, the official training and test images together; factor: the digit."""
    images, labels = images_and_labels("mnist", CHECKSUMS, FOLDERS)
    return Data("mnist", Stored(images), (1, 28, 28), "unit", (Factor("label", 10, "category"),), labels)
