"""Batches in device memory, read by a consumer that calls the driver itself. On the fake driver, and on a real
one where DATALINE_CUDA_LIBRARY=libcuda.so.1.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from typing import Any

import numpy as np
import pytest

import dataline
from consumer import Driver, address_of, inside

SHAPE = (40, 6, 5, 3)


def images() -> dataline.Dataset:
    pixels = np.random.default_rng(3).integers(0, 256, SHAPE, np.uint8)
    return dataline.from_arrays(
        {"image": pixels, "label": np.arange(len(pixels), dtype=np.int64)}, axes={"image": "HWC"}
    )


LAUNCH_FAILED = ctypes.c_int32(719)  # a sticky error
TRANSFORM = "image: normalize(mean=[0.4, 0.5, 0.6], std=[0.2, 0.3, 0.4]), chw"


def loader_on(driver: Driver, **options: Any) -> dataline.Loader:
    return dataline.Loader(images(), **{"device": "cuda:0", "cuda_library": driver.path, "batch_size": 8, **options})


def first(loader: dataline.Loader) -> dataline.Batch:
    return next(iter(loader))


def use(loader: dataline.Loader, epochs: int) -> None:
    for _ in range(epochs):
        for batch in loader:
            batch.wait(1)


def contents(driver: Driver, batch: dataline.Batch, stream: int) -> dict[str, bytes]:
    batch.wait(stream)
    return {one.name: driver.read(address_of(one), one.nbytes, stream) for one in batch.tensors()}


@pytest.mark.parametrize("transform", [None, TRANSFORM, f"{TRANSFORM}, cast(f16)", "label: cast(f32)"])
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("io", ["auto", "device"])
def test_bytes_on_the_device_are_those_of_the_cpu(driver: Driver, transform: Any, workers: int, io: str) -> None:
    if io == "device" and "cuda-kernels" not in dataline.build_info():
        pytest.skip("this build has no kernels, which gather a set that is on the device")
    options: dict[str, Any] = {"shuffle": True, "seed": 5, "transform": transform, "num_workers": workers}
    on_cpu = dataline.Loader(images(), batch_size=8, **options)
    stream = driver.stream()
    with loader_on(driver, io=io, **options) as loader:
        for _ in range(2):
            seen = 0
            for batch, wanted in zip(loader, on_cpu):
                assert list(batch.info.indices) == list(wanted.info.indices)
                assert contents(driver, batch, stream) == {one.name: one.tobytes() for one in wanted.tensors()}
                seen += batch.info.samples
            assert seen == len(images())
            on_cpu.seek(1)
            loader.seek(1)


def test_a_tensor_says_where_it_is(driver: Driver) -> None:
    tensor = first(loader_on(driver, transform=TRANSFORM)).tensor("image")
    assert (tensor.device, tensor.__dlpack_device__()) == ("cuda:0", (2, 0))
    assert (tensor.dtype, tensor.shape) == ("f32", (8, 3, 6, 5))
    capsule = tensor.__dlpack__(stream=-1, max_version=(1, 0))
    held = inside(capsule)
    assert (held.device_type, held.device_id, held.data % 256, held.byte_offset) == (2, 0, 0, 0)
    assert (held.code, held.bits, held.lanes, held.shape[:4]) == (2, 32, 1, [8, 3, 6, 5])


def test_dlpack_makes_the_consumers_stream_wait(driver: Driver) -> None:
    stream = driver.stream()
    loader = loader_on(driver, transform=TRANSFORM)
    wanted = {
        at: batch["image"].tobytes()
        for at, batch in enumerate(dataline.Loader(images(), batch_size=8, transform=TRANSFORM))
    }
    for given, reads_in in ((None, 0), (1, 0), (2, 2), (stream, stream)):
        loader.seek(0)
        for at, batch in enumerate(loader):
            tensor = batch.tensor("image")
            capsule = tensor.__dlpack__(stream=given, max_version=(1, 0))
            held = inside(capsule)
            assert driver.read(held.data, tensor.nbytes, reads_in) == wanted[at]


def test_what_no_stream_can_be_is_refused(driver: Driver) -> None:
    batch = first(loader_on(driver))
    tensor = batch.tensor("image")
    for stream in (0, -2):
        with pytest.raises(BufferError, match="expected None or 1"):
            tensor.__dlpack__(stream=stream)
    for wrong in ("1", 1.0, True):
        with pytest.raises(TypeError, match="stream"):
            tensor.__dlpack__(stream=wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="stream"):
            batch.wait(wrong)
    with pytest.raises(ValueError, match="negative"):
        batch.wait(-1)
    with pytest.raises(BufferError, match=r"dl_device: expected \(2, 0\)"):
        tensor.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match=r"dl_device: expected \(2, 0\)"):
        tensor.__dlpack__(dl_device=(2, 1))
    with pytest.raises(BufferError, match="copy it there"):
        tensor.__dlpack__(copy=True)
    tensor.__dlpack__(dl_device=(2, 0), copy=False)


def test_numpy_is_told_where_the_bytes_are_and_what_to_use(driver: Driver) -> None:
    batch = first(loader_on(driver))
    tensor = batch.tensor("image")
    for ask in (
        lambda: batch["image"],
        lambda: batch.get("image"),
        batch.values,
        batch.items,
        tensor.numpy,
        tensor.tobytes,
        lambda: memoryview(tensor),
        lambda: np.asarray(tensor),
        lambda: np.array(tensor),
    ):
        with pytest.raises(BufferError, match=r"image is in the memory of cuda:0.*DLPack.*device=\"cpu\""):
            ask()
    assert list(batch) == ["image", "label"]
    assert list(batch.info.indices) == list(range(8)), "that stays on the host"
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(tensor)
    with pytest.raises(BufferError, match="cuda:0"):
        dataline.from_arrays({"x": tensor})


def test_cudas_array_interface_names_the_stream_that_waits(driver: Driver) -> None:
    stream = driver.stream()
    loader = loader_on(driver, transform=f"{TRANSFORM}; label: cast(bf16)")
    wanted = first(dataline.Loader(images(), batch_size=8, transform=TRANSFORM))["image"].tobytes()
    batch = first(loader)
    array = batch.tensor("image").__cuda_array_interface__
    assert {name: array[name] for name in ("shape", "typestr", "version", "strides", "stream")} == {
        "shape": (8, 3, 6, 5), "typestr": "<f4", "version": 3, "strides": None, "stream": 1
    }  # fmt: skip
    assert array["data"][1] is False
    assert driver.read(array["data"][0], len(wanted), 0) == wanted, "the legacy stream waits"
    batch.wait(stream)
    array = batch.tensors()[0].__cuda_array_interface__
    assert array["stream"] == stream
    assert driver.read(array["data"][0], len(wanted), stream) == wanted
    assert not hasattr(batch.tensor("label"), "__cuda_array_interface__"), "bf16 has no typestr"
    assert not hasattr(first(dataline.Loader(images())).tensor("image"), "__cuda_array_interface__")


def test_streams_of_other_libraries_are_taken(driver: Driver) -> None:
    stream = driver.stream()

    class Torch:
        cuda_stream = stream

    class Cupy:
        ptr = stream

    class Core:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, stream)

    class Broken:
        @property
        def ptr(self) -> int:
            raise OSError("no longer")

    batch = first(loader_on(driver))
    for given in (Torch(), Cupy(), Core(), stream):
        batch.wait(given)
        assert batch.tensor("label").__cuda_array_interface__["stream"] == stream
    with pytest.raises(OSError, match="no longer"):
        batch.wait(Broken())
    batch.release(Torch())
    batch.release(stream)
    with pytest.raises(dataline.WrongStateError):
        batch.wait(stream)


def test_a_slot_is_not_written_before_its_readers_are_done(fake: Driver) -> None:
    """Reads are queued, the batch is dropped, and only much later is looked at what they read."""
    for seed, way in enumerate(("tensors", "release", "stream")):
        fake.control("seed", seed + 1)
        streams = [fake.stream(), fake.stream()]
        loader = loader_on(fake, transform=TRANSFORM, prefetch_depth=1, max_leases=1)
        wanted = [b["image"].tobytes() for b in dataline.Loader(images(), batch_size=8, transform=TRANSFORM)]
        queued = []
        for batch in loader:
            tensor = batch.tensor("image")
            for stream in streams:
                batch.wait(stream)
                queued.append(fake.copy_to_host(address_of(tensor), tensor.nbytes, stream))
            if way == "stream":
                batch.release(stream=streams[0])
            elif way == "release":
                batch.release()
            del tensor, batch
        for stream in streams:
            fake.synchronize(stream)
        assert [read.raw for read in queued[::2]] == wanted
        assert [read.raw for read in queued[1::2]] == wanted
        assert loader.stats().lease_copies == 0
        loader.close()
        assert fake.misuses() == []


def test_a_tensor_holds_its_memory_past_the_loader(driver: Driver) -> None:
    stream = driver.stream()
    loader = loader_on(driver, transform=TRANSFORM)
    wanted = first(dataline.Loader(images(), batch_size=8, transform=TRANSFORM))["image"].tobytes()
    batch = first(loader)
    batch.wait(stream)
    tensor = batch.tensor("image")
    capsule = tensor.__dlpack__(stream=-1, max_version=(1, 0))
    batch.release()
    assert loader.stats().leases_held == 1
    loader.close()
    address, count = inside(capsule).data, tensor.nbytes
    del loader, batch, tensor
    gc.collect()
    assert driver.read(address, count, stream) == wanted


def test_more_leases_than_slots_are_copies_on_the_device(driver: Driver) -> None:
    stream = driver.stream()
    loader = loader_on(driver, transform=TRANSFORM, max_leases=1)
    wanted = [
        {one.name: one.tobytes() for one in b.tensors()}
        for b in dataline.Loader(images(), batch_size=8, transform=TRANSFORM)
    ]
    batches = list(loader)
    assert loader.stats().lease_copies == len(batches) - 1
    assert [contents(driver, batch, stream) for batch in batches] == wanted


def test_the_plan_and_the_counters_tell_what_crosses_the_bus(driver: Driver) -> None:
    loader = loader_on(driver, transform=TRANSFORM, prefetch_depth=2, max_leases=2)
    plan = [stage for stage in loader.plan() if stage.field == "image"]
    pixels, delivered = 6 * 5 * 3, 4 * 6 * 5 * 3
    assert plan[-1].bytes_out == delivered
    assert "cuda" in [stage.device for stage in plan]
    assert {stage.device for stage in plan} <= {"cpu", "cuda"}
    crossing = pixels if plan[-1].device == "cuda" and plan[-1].text != "copy" else delivered
    stream = driver.stream()
    for batch in loader:
        batch.wait(stream)
    batch.release()
    stats = loader.stats()
    assert stats.device_bytes >= 4 * 8 * delivered
    assert stats.copied_bytes >= len(images()) * (crossing + 8)
    assert 0 <= stats.pinned_bytes <= stats.arena_bytes
    if driver.is_fake:
        assert 0 < stats.pinned_bytes == driver.control("pinned_bytes")
    on_cpu = dataline.Loader(images(), transform=TRANSFORM)
    assert {stage.device for stage in on_cpu.plan()} == {"cpu"}
    assert on_cpu.stats()[-2:] == (0, 0)


def test_page_locked_batches_of_the_cpu_say_so(driver: Driver) -> None:
    loader = dataline.Loader(
        images(), batch_size=8, pin_memory=True, pin_memory_device="cuda:0", cuda_library=driver.path
    )
    batch = first(loader)
    assert batch.tensor("image").device == "cpu"
    assert batch.tensor("image").pinned is (loader.stats().pinned_bytes > 0)
    if driver.is_fake:
        assert batch.tensor("image").pinned
    assert not first(dataline.Loader(images())).tensor("image").pinned
    batch.wait(5)  # nothing on the cpu device
    batch.release(stream=5)


def test_refused_page_locks_are_told_once_and_everything_works(fake: Driver) -> None:
    fake.control("limit_pinned", 0)
    remarks: list[str] = []
    options: dict[str, Any] = {"batch_size": 8, "pin_memory": True, "pin_memory_device": "cuda:0"}
    loader = dataline.Loader(images(), cuda_library=fake.path, log=lambda level, text: remarks.append(text), **options)
    assert [batch["label"][0] for batch in loader] == [0, 8, 16, 24, 32]
    assert loader.stats().pinned_bytes == 0
    assert sum("pin_memory" in text or "page-lock" in text for text in remarks) == 1, remarks


def test_devices_that_are_not_there_are_named(driver: Driver) -> None:
    with pytest.raises(dataline.DeviceError, match="cuda:99") as caught:
        loader_on(driver, device="cuda:99")
    assert caught.value.name == "DL_ERR_NO_DEVICE"
    with pytest.raises(dataline.DeviceError, match=r"libnothing\.so"):
        loader_on(driver, cuda_library="libnothing.so")
    with pytest.raises(dataline.CallError, match="device"):
        loader_on(driver, device="gpu")


def test_a_device_that_is_lost_is_an_error_and_the_loader_closes(fake: Driver) -> None:
    loader = loader_on(fake, transform=TRANSFORM, num_workers=1)
    batches = iter(loader)
    next(batches)
    fake.control("fail_name", b"cuMemcpyHtoDAsync", 0, LAUNCH_FAILED, -1)
    with pytest.raises(dataline.DeviceError) as caught:
        use(loader, epochs=20)
    assert caught.value.name == "DL_ERR_DEVICE_LOST"
    loader.close()
    fake.control("clear_faults")


def test_complete_batches_need_no_wait(driver: Driver) -> None:
    stream = driver.stream()
    wanted = dataline.Loader(images(), batch_size=8, transform=TRANSFORM)
    for batch, reference in zip(loader_on(driver, transform=TRANSFORM, device_sync="host"), wanted):
        tensor = batch.tensor("image")
        assert driver.read(address_of(tensor), tensor.nbytes, stream) == reference["image"].tobytes()
        batch.wait(stream)  # it does no harm, and keeps the slot until the stream is done


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="os.fork warns where there are threads")
def test_a_forked_child_calls_no_driver(fake: Driver) -> None:
    loader = loader_on(fake)
    batch = first(loader)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            batch.wait(1)
        except dataline.ForkedError:
            batch.release()
            loader.close()
            code = 0 if fake.control("calls_in_child") == 0 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
