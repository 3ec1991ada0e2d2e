import torch

from unbraid.streams import BLOCK, Pool, Streams

ROWS = torch.arange(1000, 2000)
CPU = torch.device("cpu")


def one(count=8):
    return [Pool(ROWS, count)]


def test_a_seed_sees_the_same_stream_alone_in_company_and_after_a_resume():
    pools = [Pool(ROWS, 8), Pool(ROWS[:7], 5)]
    alone = Streams([3], pools, 8, 2, CPU, uniforms=3)
    company = Streams([1, 3], pools, 8, 2, CPU, uniforms=3, stacked=True)
    late = Streams([3], pools, 8, 2, CPU, uniforms=3)
    for step in (0, 1, BLOCK - 1, BLOCK, 5 * BLOCK + 7):
        drawn, many = alone.at(step), company.at(step)
        assert torch.equal(drawn.noise, many.noise[1]) and torch.equal(drawn.uniforms, many.uniforms[1])
        for mine, all_of_them in zip(drawn.picks, many.picks, strict=True):
            assert torch.equal(mine, all_of_them[1]) and not torch.equal(mine, all_of_them[0])
    again, once = late.at(5 * BLOCK + 7), alone.at(5 * BLOCK + 7)
    assert all(torch.equal(a, b) for a, b in zip((*again.picks, *again[1:]), (*once.picks, *once[1:]), strict=True))


def test_single_samples_see_what_they_always_saw():
    """What a view adds (more pools aside) comes after it, so that runs of before keep their weights."""
    generator = torch.Generator().manual_seed((3 * 1_000_003 + 2) * 1_009 + 1)
    picks = torch.randint(1000, (BLOCK, 8), generator=generator)
    noise = torch.randn(BLOCK, 8, 2, generator=generator)
    for uniforms in (0, 4):
        drawn = Streams([3], one(), 8, 2, CPU, uniforms=uniforms, rank=1).at(2 * BLOCK + 5)
        assert torch.equal(drawn.picks[0], ROWS[picks[5]]) and torch.equal(drawn.noise, noise[5])
        assert drawn.uniforms.shape == (8, uniforms) and ((drawn.uniforms >= 0) & (drawn.uniforms < 1)).all()


def test_rows_come_from_the_given_pools_and_ranks_differ():
    first, second = (Streams([0], one(64), 64, 0, CPU, rank=rank) for rank in (0, 1))
    drawn = first.at(0)
    assert drawn.picks[0].min() >= 1000 and drawn.picks[0].max() < 2000 and drawn.noise.shape == (64, 0)
    assert not torch.equal(drawn.picks[0], second.at(0).picks[0])
