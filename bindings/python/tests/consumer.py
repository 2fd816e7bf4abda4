"""A consumer of device memory: as much of the CUDA driver's interface as one needs, through ctypes. The driver is the fake
one of tests/support/fake_cuda, or a real one where DATALINE_CUDA_LIBRARY names it (``libcuda.so.1``).

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Optional

import dataline

ROOT = Path(__file__).resolve().parents[3]
Pointer = ctypes.c_void_p
Address = ctypes.c_uint64


def library() -> Optional[str]:
    """What the option ``cuda_library`` is given in tests."""
    named = os.environ.get("DATALINE_CUDA_LIBRARY")
    if named:
        return named
    folders = [Path(os.environ.get("DATALINE_LIB_DIR", "/nowhere")), ROOT / "build" / "release" / "lib"]
    found = [str(folder / "libfake_cuda.so") for folder in folders if (folder / "libfake_cuda.so").exists()]
    return found[0] if found else None


class Driver:
    """Calls by name, checked; device 0's primary context is made current in the thread that asks for one."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.calls = ctypes.CDLL(path)
        self.is_fake = hasattr(self.calls, "fake_cuda_reset") and not os.environ.get("DATALINE_CUDA_LIBRARY")
        if self.is_fake:
            self.calls.fake_cuda_reset()
            self.calls.fake_cuda_misuse.restype = ctypes.c_char_p
            for name in ("calls", "misuses", "live", "used_bytes", "pinned_bytes", "pending", "calls_in_child"):
                getattr(self.calls, f"fake_cuda_{name}").restype = ctypes.c_int64
        self._streams: list[int] = []
        self.context = Pointer()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self("cuCtxSetCurrent", self.context)

    def __call__(self, name: str, *arguments: Any) -> None:
        code = getattr(self.calls, name)(*arguments)
        assert code == 0, f"{name} returned {code}"

    def close(self) -> None:
        """The last thing: streams live until the batches that waited in them are gone."""
        if self.is_fake:
            self.calls.fake_cuda_reset()
            return
        for stream in self._streams:
            self("cuStreamSynchronize", Pointer(stream))
            self("cuStreamDestroy_v2", Pointer(stream))
        self("cuCtxSetCurrent", None)
        self("cuDevicePrimaryCtxRelease_v2", 0)

    def stream(self) -> int:
        made = Pointer()
        self("cuStreamCreate", ctypes.byref(made), 1)  # non-blocking
        self._streams.append(made.value or 0)
        return self._streams[-1]

    def synchronize(self, stream: int) -> None:
        self("cuStreamSynchronize", Pointer(stream))

    def copy_to_host(self, address: int, count: int, stream: int) -> ctypes.Array[ctypes.c_char]:
        """Queued: the bytes are there when the stream is done."""
        out = ctypes.create_string_buffer(count)
        if count:
            self("cuMemcpyDtoHAsync_v2", out, Address(address), ctypes.c_size_t(count), Pointer(stream))
        return out

    def read(self, address: int, count: int, stream: int) -> bytes:
        out = self.copy_to_host(address, count, stream)
        self.synchronize(stream)
        return out.raw

    def control(self, name: str, *arguments: Any) -> Any:
        """A control of the fake driver; integers are 64 bits wide but for codes, which are given as they are."""
        wide = [ctypes.c_int64(one) if type(one) is int else one for one in arguments]
        return getattr(self.calls, f"fake_cuda_{name}")(*wide)

    def misuses(self) -> list[str]:
        """What the fake driver saw its caller do wrong; none of a real one."""
        if not self.is_fake:
            return []
        return [self.control("misuse", at).decode() for at in range(self.control("misuses"))]


class DLTensor(ctypes.Structure):
    _fields_ = [  # noqa: RUF012
        ("data", Address),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [  # noqa: RUF012
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", Pointer),
        ("deleter", Pointer),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


def inside(capsule: Any) -> DLTensor:
    """What a DLPack capsule holds; the capsule keeps it."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = Pointer, [ctypes.py_object, ctypes.c_char_p]
    if "versioned" in repr(capsule):
        tensor: DLTensor = Versioned.from_address(get(capsule, b"dltensor_versioned")).tensor
        return tensor
    return DLTensor.from_address(get(capsule, b"dltensor"))


def address_of(tensor: dataline.Tensor) -> int:
    capsule = tensor.__dlpack__(stream=-1, max_version=(1, 0))
    address: int = inside(capsule).data
    return address
