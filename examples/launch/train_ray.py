"""Training under Ray Train, which gives the job more or fewer workers while it runs:

    train_ray.py DATA FOLDER [STEPS]      FOLDER is on a file system that all nodes have

On a cluster: ray job submit -- python train_ray.py ... Each worker reads its part of the same stream, whatever their number:
rank and world size are those of Ray's context. After each step the loader's position is in the checkpoint that Ray keeps in
FOLDER/dataline, and a group that Ray starts anew goes on from it. Workers write what they had to journals, as rank.py does.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import ray
import ray.train
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

import dataline
from dataline.ray import report, resume


def train(settings: dict[str, Any]) -> None:
    loader = dataline.Loader(
        settings["data"], global_batch_size=24, shuffle=True, seed=5, rank="auto", world_size="auto"
    )
    resume(loader)
    begun, worker = loader.position, dataline.launcher()
    done = begun.epoch * len(loader) + begun.step
    name = f"{done:08}.{worker.world_size}.{worker.rank}.{os.getpid()}.{time.time_ns()}"
    field = loader.fields[0].name
    with open(Path(settings["folder"], name), "wb", buffering=0) as journal:
        while done < settings["steps"]:
            batch = loader.next()
            if batch is None:
                continue  # the end of an epoch
            about, data, saved = batch.info, batch.tensor(field).tobytes(), loader.save_state().encode()
            header = f"{about.epoch} {about.step} {about.samples} {len(data)} {len(saved)}\n".encode()
            journal.write(header + data + saved)
            done += 1
            report({"steps": done}, loader)


def main(data: str, folder: str, steps: str = "200") -> None:
    trainer = DataParallelTrainer(
        train,
        train_loop_config={"data": data, "folder": folder, "steps": int(steps)},
        scaling_config=ray.train.ScalingConfig(num_workers=(1, 4), elastic_resize_monitor_interval_s=2),
        run_config=ray.train.RunConfig(
            name="dataline",
            storage_path=folder,
            failure_config=ray.train.FailureConfig(max_failures=100),
            checkpoint_config=ray.train.CheckpointConfig(num_to_keep=2),
        ),
    )
    trainer.fit()


if __name__ == "__main__":
    main(*sys.argv[1:])
