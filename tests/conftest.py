import os

import pytest
import torch

torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def out(tmp_path):
    """Where runs of one test go."""
    return tmp_path / "runs"


@pytest.fixture(scope="session")
def square():
    """A small linear square, as data."""
    from unbraid.data import open_data

    return open_data("linear_square:samples=1000")


@pytest.fixture(scope="session")
def fitting(square):
    """The small square, or two of them in groups: what a method of the library can be trained on."""
    from unbraid import catalog
    from unbraid.data import open_data

    several = open_data({"target": "linear_square:samples=1000", "background": "linear_square:samples=900,seed=1"})

    def data(method):
        return square if set(catalog.load("methods", method).needs) <= {"x", "noise"} else several

    return data
