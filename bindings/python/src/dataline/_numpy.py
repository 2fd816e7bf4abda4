"""NumPy functions for the extension module, if NumPy is installed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

from . import _core
from .ragged import Ragged

_WORDS = {"u": "uint", "i": "int", "f": "float", "c": "complex"}


def _dtype(numpy: Any, name: str) -> Any:
    if name == "bool":
        return numpy.dtype(bool)
    if name == "bf16":
        try:
            import ml_dtypes
        except ImportError:
            return None
        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(_WORDS[name[0]] + name[1:])


def load() -> tuple[Any, Any, tuple[Any, ...]]:
    """NumPy's array type, its ``asarray``, and its dtypes by the library's numbers; None: NumPy has no such dtype."""
    try:
        import numpy
    except ImportError as error:
        raise ImportError(
            "arrays need NumPy, which is not installed: pip install 'dataline[numpy]', or pip install numpy; without it, "
            "use batch.tensor(name), which shares the memory through DLPack and memoryview"
        ) from error
    names = _core.dtype_names()
    return numpy.ndarray, numpy.asarray, (None, *(_dtype(numpy, name) for name in names[1:]))


def ragged(data: Any, offsets: memoryview) -> Ragged[Any]:
    """A ragged field whose offsets are also an array."""
    import numpy

    return Ragged(data, numpy.asarray(offsets))
