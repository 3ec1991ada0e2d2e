"""Other libraries' own trainers on the same networks and data."""

from __future__ import annotations

import tempfile
import time
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn


def pythae(
    encoder: nn.Module, decoder: nn.Module, latents: int, pictures: NDArray[Any], batch: int, warm_up: int
) -> float:
    """Seconds per step of pythae's BetaVAE and BaseTrainer in one pass over the pictures, after the first steps.

    Only its training steps: no evaluation, no checkpoints. The pictures are in memory as float32, which is how its
    data set keeps them.
    """
    from pythae.data.datasets import BaseDataset
    from pythae.models import BetaVAE, BetaVAEConfig
    from pythae.models.base.base_utils import ModelOutput
    from pythae.models.nn import BaseDecoder, BaseEncoder
    from pythae.trainers import BaseTrainer, BaseTrainerConfig
    from pythae.trainers.training_callbacks import TrainingCallback

    class Encoder(BaseEncoder):
        def __init__(self) -> None:
            super().__init__()
            self.layers = encoder

        def forward(self, x: Tensor) -> ModelOutput:
            mean, log_variance = self.layers(x).chunk(2, dim=-1)
            return ModelOutput(embedding=mean, log_covariance=log_variance)

    class Decoder(BaseDecoder):
        def __init__(self) -> None:
            super().__init__()
            self.layers = decoder

        def forward(self, z: Tensor) -> ModelOutput:
            return ModelOutput(reconstruction=self.layers(z).sigmoid())

    class Clock(TrainingCallback):
        def __init__(self) -> None:
            self.times: list[float] = []

        def on_train_step_end(self, training_config: BaseTrainerConfig, **rest: Any) -> None:
            self.times.append(time.perf_counter())

    config = BetaVAEConfig(input_dim=pictures.shape[1:], latent_dim=latents, beta=4.0, reconstruction_loss="bce")
    data = BaseDataset(torch.from_numpy(pictures).float() / 255, torch.zeros(len(pictures)))
    clock = Clock()
    with tempfile.TemporaryDirectory() as out:
        settings = BaseTrainerConfig(
            output_dir=out, per_device_train_batch_size=batch, learning_rate=1e-3, num_epochs=1, no_cuda=True
        )
        trainer = BaseTrainer(BetaVAE(config, Encoder(), Decoder()), data, training_config=settings, callbacks=[clock])
        trainer.prepare_training()
        trainer.train_step(epoch=1)
    return (clock.times[-1] - clock.times[warm_up - 1]) / (len(clock.times) - warm_up)
