"""As much of dataline.h as a training loop needs, through ctypes; batches become tensors without a copy.

Not the Python binding: this one exists so that the benches depend on nothing but the shared library.
SPDX-License-Identifier: Apache-2.0
"""
import ctypes

import torch


class Error(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("code", ctypes.c_int32), ("os_error", ctypes.c_int32),
                ("column", ctypes.c_int32), ("sample_index", ctypes.c_int64), ("sample_source", ctypes.c_int64),
                ("message", ctypes.c_char * 512)]


class View(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("kind", ctypes.c_int32), ("flags", ctypes.c_uint64),
                ("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("axes", ctypes.c_char_p), ("device_type", ctypes.c_int32), ("device_index", ctypes.c_int32),
                ("data", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
                ("offsets", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_int64), ("reserved", ctypes.c_uint64 * 4)]


class Tuned(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("mode", ctypes.c_int32), ("num_workers", ctypes.c_int64),
                ("prefetch_depth", ctypes.c_int64), ("most_workers", ctypes.c_int64), ("most_depth", ctypes.c_int64),
                ("wanted_workers", ctypes.c_int64), ("wanted_depth", ctypes.c_int64), ("changes", ctypes.c_int64),
                ("frozen", ctypes.c_int32), ("reserved", ctypes.c_uint32), ("batches_per_s", ctypes.c_double),
                ("wait_share", ctypes.c_double), ("text", ctypes.c_char * 160)]


def view_at(first, index):
    """As dl_view_at: the library's views may be longer than View."""
    return View.from_address(ctypes.addressof(first.contents) + index * first.contents.struct_size)


DTYPES = {2: torch.uint8, 9: torch.int64, 12: torch.float32}  # DL_DTYPE_U8, I64, F32
TYPESTRS = {2: "|u1", 9: "<i8", 12: "<f4"}
END_OF_EPOCH, CUDA = 1, 2


def load(path):
    """The library with the types of what is called here."""
    library = ctypes.CDLL(path)
    pointer, error, text = ctypes.c_void_p, ctypes.POINTER(Error), ctypes.c_char_p
    out = ctypes.POINTER(ctypes.c_void_p)
    for name, result, arguments in (
            ("dl_options_create", ctypes.c_int32, [out, error]),
            ("dl_options_set", ctypes.c_int32, [pointer, text, text, error]),
            ("dl_options_destroy", None, [pointer]),
            ("dl_dataset_open", ctypes.c_int32, [text, pointer, out, error]),
            ("dl_dataset_destroy", None, [pointer]),
            ("dl_loader_create", ctypes.c_int32, [pointer, pointer, out, error]),
            ("dl_loader_next", ctypes.c_int32, [pointer, ctypes.c_int64, out, error]),
            ("dl_loader_steps", ctypes.c_int64, [pointer]),
            ("dl_loader_tuned", ctypes.c_int32, [pointer, ctypes.POINTER(Tuned), error]),
            ("dl_loader_destroy", None, [pointer]),
            ("dl_batch_views", ctypes.POINTER(View), [pointer, ctypes.POINTER(ctypes.c_int32)]),
            ("dl_batch_wait", ctypes.c_int32, [pointer, pointer, error]),
            ("dl_batch_release", None, [pointer])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class DeviceMemory:
    """What PyTorch makes a tensor of without a copy."""

    def __init__(self, view, shape):
        self.device = f"cuda:{view.device_index}"
        self.__cuda_array_interface__ = {"shape": tuple(shape), "typestr": TYPESTRS[view.dtype], "version": 3,
                                         "data": (view.data + view.byte_offset, False), "strides": None}


class Loader:
    """Iterating gives one epoch of batches, each a list of tensors that is good until the next one is asked for: with a
    `stream` for the work that is queued there until then, which waits for the batch."""

    def __init__(self, library, uri, stream=None, **options):
        self.library, self.error, self.stream = library, Error(struct_size=ctypes.sizeof(Error)), stream
        self.tensors = {}  # slots are reused, so there are only a few
        made, self.dataset, self.handle = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self._check(library.dl_options_create(ctypes.byref(made), ctypes.byref(self.error)))
        for key, value in options.items():
            self._check(library.dl_options_set(made, key.encode(), str(value).encode(), ctypes.byref(self.error)))
        self._check(library.dl_dataset_open(uri.encode(), made, ctypes.byref(self.dataset), ctypes.byref(self.error)))
        self._check(library.dl_loader_create(self.dataset, made, ctypes.byref(self.handle), ctypes.byref(self.error)))
        library.dl_options_destroy(made)

    def _check(self, status):
        if status < 0:
            raise RuntimeError(self.error.message.decode())
        return status

    def __len__(self):
        return self.library.dl_loader_steps(self.handle)

    def __iter__(self):
        batch, count = ctypes.c_void_p(), ctypes.c_int32()
        while True:
            status = self._check(self.library.dl_loader_next(self.handle, -1, ctypes.byref(batch),
                                                             ctypes.byref(self.error)))
            if status == END_OF_EPOCH:
                return
            try:
                if self.stream is not None:
                    self._check(self.library.dl_batch_wait(batch, self.stream, ctypes.byref(self.error)))
                views = self.library.dl_batch_views(batch, ctypes.byref(count))
                yield [self._tensor(view_at(views, field)) for field in range(count.value)]
            finally:
                self.library.dl_batch_release(batch)

    def _tensor(self, view):
        key = (view.data, view.bytes)
        if key not in self.tensors:
            shape = [view.shape[dim] for dim in range(view.rank)]
            if view.device_type == CUDA:
                memory = DeviceMemory(view, shape)
                self.tensors[key] = torch.as_tensor(memory, device=memory.device)
            else:
                memory = (ctypes.c_char * view.bytes).from_address(view.data)
                self.tensors[key] = torch.frombuffer(memory, dtype=DTYPES[view.dtype]).view(shape)
        return self.tensors[key]

    def tuned(self):
        """What tuning made of it: {"num_workers": ..., "prefetch_depth": ..., "frozen": ...}."""
        tuned = Tuned(struct_size=ctypes.sizeof(Tuned))
        self._check(self.library.dl_loader_tuned(self.handle, ctypes.byref(tuned), ctypes.byref(self.error)))
        return {"num_workers": tuned.num_workers, "prefetch_depth": tuned.prefetch_depth, "frozen": tuned.frozen == 1,
                "changes": tuned.changes}

    def close(self):
        self.library.dl_loader_destroy(self.handle)
        self.library.dl_dataset_destroy(self.dataset)
