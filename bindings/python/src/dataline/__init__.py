"""Data loading for machine-learning training: shuffled, transformed batches, loaded ahead by native threads and viewed
without a copy. The stream depends only on the data, the options and the seed, never on the number of threads. It is the same
in all languages with a binding.

    import dataline

    loader = dataline.Loader("mnist:data", batch_size=64, shuffle=True, transform="image: normalize(mnist)")
    for epoch in range(3):
        for batch in loader:
            images, labels = batch["image"], batch["label"]  # NumPy arrays over the batch's memory

SPDX-License-Identifier: Apache-2.0
"""

import atexit as _atexit
import os as _os

from . import _core, metrics
from ._arrow import from_arrow, from_huggingface
from ._core import Batch, CancelToken, Epoch, File, Tensor
from ._extensions import Extensions, FormatRequest, OperatorRow, OperatorUse, Sniff, StorageRequest, Stored
from ._launcher import Launcher, launcher
from ._option_types import Options
from ._progress import Progress, progress
from ._reader import Place, Source
from ._tracing import finish_all as _finish_traces
from .dataset import Dataset, concat, escape, from_arrays, from_reader, mix, open, zip
from .errors import (
    CallError,
    CancelledError,
    DataError,
    DeviceError,
    EndOfJob,
    Error,
    ForkedError,
    InternalError,
    Interrupted,
    MachineError,
    MemoryShortError,
    NoPermissionError,
    NoSuchFieldError,
    NotFoundError,
    StateError,
    SystemCallError,
    Timeout,
    TooManyFilesError,
    UnknownOptionError,
    UnsupportedError,
    WrongStateError,
)
from .loader import Loader
from .opening import Opening, open_async
from .opening import close_all as _close_openings
from .ragged import Ragged
from .schema import (
    BadSample,
    BatchInfo,
    Field,
    ImageInfo,
    OpenProgress,
    Part,
    PixelScale,
    PlanStage,
    Position,
    Stats,
    Tuned,
)
from .tables import (
    FormatInfo,
    FormatKey,
    OptionInfo,
    StorageInfo,
    TransformArgument,
    TransformInfo,
    build_info,
    format_table,
    option_table,
    storage_table,
    transform_table,
)
from .writer import Writer, Written

__all__ = [
    "BadSample",
    "Batch",
    "BatchInfo",
    "CallError",
    "CancelToken",
    "CancelledError",
    "DataError",
    "Dataset",
    "DeviceError",
    "EndOfJob",
    "Epoch",
    "Error",
    "Extensions",
    "Field",
    "File",
    "ForkedError",
    "FormatInfo",
    "FormatKey",
    "FormatRequest",
    "ImageInfo",
    "InternalError",
    "Interrupted",
    "Launcher",
    "Loader",
    "MachineError",
    "MemoryShortError",
    "NoPermissionError",
    "NoSuchFieldError",
    "NotFoundError",
    "OpenProgress",
    "Opening",
    "OperatorRow",
    "OperatorUse",
    "OptionInfo",
    "Options",
    "Part",
    "PixelScale",
    "Place",
    "PlanStage",
    "Position",
    "Progress",
    "Ragged",
    "Sniff",
    "Source",
    "StateError",
    "Stats",
    "StorageInfo",
    "StorageRequest",
    "Stored",
    "SystemCallError",
    "Tensor",
    "Timeout",
    "TooManyFilesError",
    "TransformArgument",
    "TransformInfo",
    "Tuned",
    "UnknownOptionError",
    "UnsupportedError",
    "Writer",
    "Written",
    "WrongStateError",
    "abi_version",
    "build_info",
    "concat",
    "escape",
    "format_table",
    "from_arrays",
    "from_arrow",
    "from_huggingface",
    "from_reader",
    "launcher",
    "metrics",
    "mix",
    "open",
    "open_async",
    "option_table",
    "progress",
    "storage_table",
    "transform_table",
    "zip",
]

__version__, abi_version = _core.library_version()[:2]

# Threads of the library must be gone before the interpreter is. What is registered last comes first.
_atexit.register(_finish_traces)
_atexit.register(_core.shut_down)
_atexit.register(_close_openings)
_os.register_at_fork(after_in_child=_core.after_fork)

from collections.abc import Mapping as _Mapping  # noqa: E402

_Mapping.register(Batch)
