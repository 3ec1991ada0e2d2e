import pytest
import torch

from unbraid.errors import UserError
from unbraid.methods import Update
from unbraid.optimisers import clip, equations, optimiser


@pytest.mark.parametrize("name", ["adam", "adagrad"])
def test_the_equations_are_torchs(name):
    update = Update(lambda batch, step: {}, over=[], optimiser=name, lr=0.01, betas=(0.8, 0.95))
    theirs = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    ours = theirs.detach().clone()
    torchs, move = optimiser(update, [theirs]), equations(update)
    state = {k: v.clone() for k, v in optimiser(update, [ours]).state[ours].items()}
    for step in range(50):
        gradient = torch.randn(5, 3, generator=torch.Generator().manual_seed(step))
        theirs.grad = gradient.clone()
        torchs.step()
        move(ours, gradient, state)
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-5, atol=1e-6)


def test_clip_is_torchs_and_each_seed_is_clipped_alone():
    gradients = [torch.randn(4, 3), torch.randn(4)]
    parameters = [torch.zeros_like(g).requires_grad_() for g in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    torch.nn.utils.clip_grad_norm_(parameters, 0.7)
    for ours, parameter in zip(clip(gradients, 0.7, stacked=False), parameters, strict=True):
        torch.testing.assert_close(ours, parameter.grad, rtol=1e-4, atol=1e-6)
    stacked = [torch.stack([g, 100 * g]) for g in gradients]
    both = clip(stacked, 0.7, stacked=True)
    for part in (0, 1):
        norm = torch.cat([g[part].flatten() for g in both]).norm()
        assert norm.item() == pytest.approx(0.7, rel=1e-4)
    small = [g * 1e-3 for g in gradients]
    for before, after in zip(small, clip(small, 0.7, stacked=False), strict=True):
        assert torch.equal(before, after)


def test_unknown_optimiser():
    with pytest.raises(UserError, match="did you mean 'adam'"):
        optimiser(Update(lambda batch, step: {}, over=[], optimiser="adamm"), [torch.zeros(1)])
