"""Networks trained by others, in our code, must have the losses that their authors published: first 1000 training images, z = mean."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data import open_data
from unbraid.methods.beta_vae import BetaVAE
from unbraid.networks import open_net

FOLDER = Path(os.environ.get("UNBRAID_DATA", "")) / "reference"
published = FOLDER / "published_losses_rescaled.json"
pytestmark = pytest.mark.skipif(
    not os.environ.get("UNBRAID_DATA") or not published.exists(), reason="UNBRAID_DATA has no published losses"
)


def digits():
    """MNIST at 32×32."""
    images = open_data("mnist").draw(torch.arange(1000)).mul(255).round().to(torch.uint8)[:, 0].numpy()
    larger = [np.asarray(Image.fromarray(image).resize((32, 32), Image.Resampling.BILINEAR)) for image in images]
    return torch.from_numpy(np.stack(larger)).float()[:, None] / 255


def dsprites():
    return open_data("dsprites:accept_other=true").draw(torch.arange(1000))


def filled(name, side):
    """Their weights in our method; their head gives mean and log variance of a latent side by side, ours all means first."""
    theirs = torch.load(FOLDER / name / "model.pt", weights_only=True, map_location="cpu")
    method = BetaVAE(open_net("burgess", (1, side, side), "unit"), 10, beta=1.0)
    deepest = "64." if side == 64 else None
    encoder = ["conv1", "conv2", "conv3", *(["conv_64"] if deepest else []), "lin1", "lin2", "mu_logvar_gen"]
    decoder = ["lin1", "lin2", "lin3", *(["convT_64"] if deepest else []), "convT1", "convT2", "convT3"]
    state = {}
    for part, order in (("encoder", encoder), ("decoder", decoder)):
        for kind in ("weight", "bias"):
            own = [k for k in method.state_dict() if k.startswith(part) and k.endswith(kind)]
            state |= {mine: theirs[f"{part}.{layer}.{kind}"] for mine, layer in zip(own, order, strict=True)}
    for mine in state:
        if mine.startswith("encoder.1."):
            state[mine] = torch.cat([state[mine][0::2], state[mine][1::2]])
    method.load_state_dict(state)
    return method


@pytest.mark.parametrize(("name", "side", "images"), [("VAE_mnist", 32, digits), ("btcvae_dsprites", 64, dsprites)])
def test_the_published_losses_are_ours(name, side, images):
    told = json.loads(published.read_text())[name]
    method, x = filled(name, side), images()
    with torch.no_grad():
        terms = method.loss({"x": x, "noise": torch.zeros(1000, 10)}, 0)
        each = method.posterior(x).kl().mean(0)
    assert terms["reconstruction"].item() == pytest.approx(told["recon_loss"], rel=2e-6)
    assert terms["kl"].item() == pytest.approx(told["kl_loss"], rel=2e-6)
    assert each.tolist() == pytest.approx([told[f"kl_loss_{j}"] for j in range(10)], rel=1e-4, abs=1e-6)
