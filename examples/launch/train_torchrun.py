"""Training that may lose machines and get them back, under torchrun:

    torchrun --nnodes=1:2 --nproc-per-node=1 --max-restarts=100 --rdzv-backend=c10d --rdzv-endpoint=HOST:29400 \\
        train_torchrun.py DATA CHECKPOINT [EPOCHS]

Fits y = 3 x + 1 on DATA, a dataset of whole numbers from 0, over whatever processes there are; the stream of samples does
not depend on how many. After each step rank 0 puts CHECKPOINT in place: model, loader, how often each sample was seen.
torchrun starts all processes again when one dies or another machine comes; they go on from the checkpoint. The job ends
after EPOCHS (3), or with the epoch in which a file appears that is named as CHECKPOINT, with the suffix .stop.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from dataline.torch import DataLoader

GLOBAL_BATCH = 24


class Training:
    def __init__(self, data: str, checkpoint: str) -> None:
        # rank and world_size are the launcher's. The global batch is fixed, so any number of ranks has the same stream.
        self.loader = DataLoader(data, global_batch_size=GLOBAL_BATCH, shuffle=True, seed=5)
        self.checkpoint = Path(checkpoint)
        self.count = len(self.loader.loader.dataset)
        self.seen = torch.zeros(self.count, dtype=torch.int64)
        self.steps = 0
        self.weights = torch.zeros(2)
        if self.checkpoint.exists():
            self.resume(torch.load(self.checkpoint))

    def resume(self, saved: dict[str, Any]) -> None:
        self.weights, self.seen, self.steps = saved["weights"], saved["seen"], saved["steps"]
        self.loader.load_state_dict(saved["loader"])

    def save(self) -> None:
        """By rank 0, for the state is the same on all; the old checkpoint or the new one, whenever the process dies."""
        part = self.checkpoint.with_suffix(".part")
        saved = {"weights": self.weights, "seen": self.seen, "steps": self.steps, "loader": self.loader.state_dict()}
        torch.save(saved, part)
        part.replace(self.checkpoint)

    def step(self, numbers: torch.Tensor) -> None:
        x = numbers.to(torch.int64) / self.count
        wrong = self.weights[0] * x + self.weights[1] - (3 * x + 1)
        gradient = torch.stack([(wrong * x).sum(), wrong.sum()]) / GLOBAL_BATCH
        seen = torch.bincount(numbers.to(torch.int64), minlength=self.count)
        dist.all_reduce(
            gradient
        )  # a rank may have no sample in an epoch's last step: all have the same number of steps
        dist.all_reduce(seen)
        self.weights -= 0.5 * gradient
        self.seen += seen
        self.steps += 1

    def epoch(self) -> None:
        """One, or what is left of one."""
        for batch in self.loader:
            self.step(next(iter(batch.values())))
            if dist.get_rank() == 0:
                self.save()
                if self.steps % 20 == 0:
                    print(f"step {self.steps} on {dist.get_world_size()} ranks", flush=True)

    def told_to_stop(self) -> bool:
        told = torch.tensor([int(self.checkpoint.with_suffix(".stop").exists())])
        dist.broadcast(told, 0)
        return bool(told)


def main(data: str, checkpoint: str, epochs: str = "3") -> None:
    dist.init_process_group("gloo")
    training = Training(data, checkpoint)
    while training.loader.loader.position.epoch < int(epochs) and not training.told_to_stop():
        training.epoch()
    if dist.get_rank() == 0:
        fewest, most = int(training.seen.min()), int(training.seen.max())
        times = f"{most} times" if fewest == most else f"{fewest} to {most} times"
        slope, offset = training.weights.tolist()
        print(f"{training.steps} steps; each sample was seen {times}; y = {slope:.2f} x + {offset:.2f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
