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
