import torch

from unbraid.streams import BLOCK, Streams

ROWS = torch.arange(1000, 2000)
CPU = torch.device("cpu")


def test_a_seed_sees_the_same_stream_alone_in_company_and_after_a_resume():
    alone = Streams([3], ROWS, 8, 2, CPU)
    company = Streams([1, 3], ROWS, 8, 2, CPU, stacked=True)
    late = Streams([3], ROWS, 8, 2, CPU)
    for step in (0, 1, BLOCK - 1, BLOCK, 5 * BLOCK + 7):
        rows, noise = alone.at(step)
        many_rows, many_noise = company.at(step)
        assert torch.equal(rows, many_rows[1]) and torch.equal(noise, many_noise[1])
        assert not torch.equal(rows, many_rows[0])
    assert all(torch.equal(a, b) for a, b in zip(late.at(5 * BLOCK + 7), alone.at(5 * BLOCK + 7), strict=True))


def test_rows_come_from_the_given_part_and_ranks_differ():
    first, second = Streams([0], ROWS, 64, 0, CPU), Streams([0], ROWS, 64, 0, CPU, rank=1)
    rows, noise = first.at(0)
    assert rows.min() >= 1000 and rows.max() < 2000 and noise.shape == (64, 0)
    assert not torch.equal(rows, second.at(0)[0])
