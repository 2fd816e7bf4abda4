"""Dataline with Ray: the loader's state in checkpoints of Ray Train, and any dataset as a source of Ray Data.

Ray handles placement, failures and scaling; this module has no scheduler and no network. In a worker of Ray Train,
``rank="auto"`` and ``world_size="auto"`` are those of its context. In ``dataline.torch`` they are the default::

    def train():  # in each worker
        loader = dataline.Loader("npy:data", global_batch_size=256, shuffle=True, rank="auto", world_size="auto")
        resume(loader)
        for batch in loader:
            ...
            report({"loss": loss}, loader)

There is no Datasink. Write rows of Ray Data with ``dataline.Writer``, one set per task, and read the sets as one dataset.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional, Protocol

try:
    import pyarrow
    import ray.train
    from ray.data import Datasource as RayDatasource
    from ray.data.block import BlockAccessor, BlockMetadata
    from ray.data.datasource import ReadTask
except ModuleNotFoundError as error:
    if error.name not in ("ray", "pyarrow", "pandas"):
        raise
    raise ModuleNotFoundError(
        f"dataline.ray needs Ray with its parts for training and data, and {error.name} is not installed: pip install "
        "'ray[train,data]'",
        name=error.name,
    ) from error

from ._rows import whole
from .loader import Loader
from .ragged import Ragged

__all__ = ["Datasource", "report", "resume"]

_STATE = "dataline.json"


class Resumable(Protocol):
    """A Loader, or a DataLoader of ``dataline.torch``."""

    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state: Any, /) -> None: ...


def resume(loader: Resumable) -> Optional[ray.train.Checkpoint]:
    """Seeks to the position of the last checkpoint, also one from another number of workers. Returns the checkpoint, for
    its other contents. None: there is no checkpoint; the job starts."""
    checkpoint: Optional[ray.train.Checkpoint] = ray.train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            loader.load_state_dict(json.loads(Path(folder, _STATE).read_text()))
    return checkpoint


def report(metrics: dict[str, Any], loader: Resumable, write: Optional[Callable[[Path], object]] = None) -> None:
    """Calls ``ray.train.report`` with a checkpoint that contains the loader's state, and the files that ``write(folder)``
    adds.

    All workers call it, after the same step. The state is the same on all of them, so the one of rank 0 is kept.
    """
    if ray.train.get_context().get_world_rank() != 0:
        ray.train.report(metrics)
        return
    with tempfile.TemporaryDirectory(prefix="dataline-") as name:
        Path(name, _STATE).write_text(json.dumps(loader.state_dict()))
        if write is not None:
            write(Path(name))
        ray.train.report(metrics, checkpoint=ray.train.Checkpoint.from_directory(name))


class Datasource(RayDatasource):  # type: ignore[misc]
    """An epoch of a loader's stream as a source of Ray Data::

        images = ray.data.read_datasource(Datasource("folder:photos", transform="image: decode, resize([224, 224])"))

    Each block is a range of slots of the epoch's order, loaded where Ray reads it. The URI has to refer to the same data on
    all machines. Rows are Arrow tables: numbers as columns, arrays as Ray's tensor columns, ragged fields as lists.
    ``batch_size`` is how many rows are loaded at a time; other options are those of a Loader. Blocks are in the order of the
    stream. Ray keeps this order if its ``DataContext.execution_options.preserve_order`` is set. Do not train from its
    ``streaming_split``: a Loader in each worker has the same number of steps on all of them.
    """

    def __init__(self, uri: str, *, epoch: int = 0, batch_size: int = 256, **options: Any) -> None:
        for name in ("rank", "world_size"):
            if options.get(name) is not None:
                raise TypeError(f"{name}: not supported here, because Ray distributes the blocks itself")
        super().__init__()
        batch_size = whole(batch_size, "batch_size")
        self._uri, self._epoch = uri, whole(epoch, "epoch")
        self._options: dict[str, Any] = {"num_workers": 0, **options, "batch_size": batch_size}
        loader = Loader(uri, **self._options)
        self._steps = len(loader)
        last = self._sample(loader, self._steps - 1) if self._steps else None
        self._rows = (self._steps - 1) * batch_size + last.num_rows if last is not None else 0
        self._row_bytes = last.nbytes // max(last.num_rows, 1) if last is not None else 0

    def _sample(self, loader: Loader, step: int) -> pyarrow.Table:
        loader.seek(self._epoch, step)
        batch = loader.next()
        assert batch is not None  # within the epoch
        return _table(batch)

    def estimate_inmemory_data_size(self) -> Optional[int]:
        """The bytes of all rows, estimated from the last batch."""
        return self._rows * self._row_bytes

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: Optional[int] = None, data_context: Any = None
    ) -> list[ReadTask]:
        """Ranges of steps, as equal as possible."""
        count = max(1, min(parallelism, self._steps))
        bounds = [self._steps * at // count for at in range(count + 1)]
        return [self._task(begin, end, per_task_row_limit) for begin, end in zip(bounds, bounds[1:]) if begin < end]

    def _task(self, begin: int, end: int, row_limit: Optional[int]) -> ReadTask:
        uri, options, epoch = self._uri, self._options, self._epoch
        rows = min(end * options["batch_size"], self._rows) - begin * options["batch_size"]
        about = BlockMetadata(num_rows=rows, size_bytes=rows * self._row_bytes, exec_stats=None, input_files=None)

        def read() -> Iterator[pyarrow.Table]:
            loader = Loader(uri, **options, start_epoch=epoch, start_step=begin)
            for _ in range(begin, end):
                batch = loader.next()
                assert batch is not None  # within the epoch
                yield _table(batch)

        return ReadTask(read, about, per_task_row_limit=row_limit)


def _table(batch: Any) -> pyarrow.Table:
    """A copy: the batch's memory is reused."""
    columns: dict[str, Any] = {}
    for name, value in batch.items():
        if isinstance(value, Ragged):
            columns[name] = pyarrow.LargeListArray.from_arrays(value.offsets, value.data.copy())
        else:
            columns[name] = value.copy()
    made: pyarrow.Table = BlockAccessor.batch_to_arrow_block(columns)
    return made
