"""Photographs of clothes: all 70,000 images of Fashion-MNIST."""

from __future__ import annotations

from unbraid.data import Data, Stored
from unbraid.factors import Factor
from unbraid.idx import images_and_labels

FOLDERS = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
)
CHECKSUMS = {
    "train-images-idx3-ubyte.gz": "sha256:3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    "train-labels-idx1-ubyte.gz": "sha256:a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    "t10k-images-idx3-ubyte.gz": "sha256:346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "t10k-labels-idx1-ubyte.gz": "sha256:67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
}


def fashion_mnist() -> Data:
    """Clothes, 28x28, the official training and test images together; factor: the class."""
    images, labels = images_and_labels("fashion_mnist", CHECKSUMS, FOLDERS)
    return Data("fashion_mnist", Stored(images), (1, 28, 28), "unit", (Factor("class", 10, "category"),), labels)
