"""dataline.torch on a real GPU: CUDA tensors over the loader's device memory, in stream order.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dataline
from consumer import address_of

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("PyTorch finds no CUDA device", allow_module_level=True)

from dataline.torch import DataLoader, tensors  # noqa: E402

TRANSFORM = "image: normalize(mean=[0.4, 0.5, 0.6], std=[0.2, 0.3, 0.4]), chw"
ROWS = 64


def images(count: int = 512) -> dataline.Dataset:
    pixels = np.random.default_rng(7).integers(0, 256, (count, 32, 32, 3), np.uint8)
    return dataline.from_arrays({"image": pixels, "label": np.arange(count, dtype=np.int64)}, axes={"image": "HWC"})


def loader_of(**options: Any) -> DataLoader[Any, Any, Any]:
    options = {"batch_size": ROWS, "shuffle": True, "seed": 3, "transform": TRANSFORM, **options}
    return DataLoader(images(), fields=("image", "label"), **options)


def wanted() -> list[Any]:
    return [(image.clone(), label.clone()) for image, label in loader_of()]


@pytest.mark.parametrize("options", [{}, {"io": "device"}, {"num_workers": 0}, {"device_sync": "host"}])
def test_cuda_tensors_hold_what_cpu_tensors_hold(options: dict[str, Any]) -> None:
    if "io" in options and "cuda-kernels" not in dataline.build_info():
        pytest.skip("this build has no kernels, which gather a set that is on the device")
    loader = loader_of(device="cuda", **options)
    for (image, label), (cpu_image, cpu_label) in zip(loader, wanted()):
        assert image.device == loader.device == torch.device("cuda", torch.cuda.current_device())
        assert torch.equal(image.cpu(), cpu_image)
        assert torch.equal(label.cpu(), cpu_label)


def test_tensors_are_the_loaders_memory_not_copies() -> None:
    batch = next(iter(dataline.Loader(images(), batch_size=ROWS, device="cuda:0", transform=TRANSFORM)))
    made = tensors(batch)
    assert made["image"].data_ptr() == address_of(batch.tensor("image"))
    assert torch.from_dlpack(batch.tensor("image")).data_ptr() == made["image"].data_ptr()
    assert torch.as_tensor(batch.tensor("image"), device="cuda").data_ptr() == made["image"].data_ptr()


def test_memory_is_not_written_before_the_work_on_it_is_done() -> None:
    loader = loader_of(device="cuda", prefetch_depth=1, max_leases=1)
    sums = []
    for image, label in loader:
        torch.cuda._sleep(20_000_000)  # about 10 ms: the CPU drops the tensors long before they are read
        sums.append((image.double().sum(), label.sum()))
        del image, label
    assert loader.loader.stats().lease_copies == 0
    for (image_sum, label_sum), (image, label) in zip(sums, wanted()):
        assert label_sum.item() == label.sum().item()
        assert image_sum.item() == pytest.approx(image.double().sum().item(), abs=1e-6)


def test_another_stream_joins_in_as_the_documentation_says() -> None:
    side = torch.cuda.Stream()
    sums = []
    for image, _ in loader_of(device="cuda", prefetch_depth=1, max_leases=1):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)
            sums.append(image.double().sum())
        torch.cuda.current_stream().wait_stream(side)
        del image
    torch.cuda.synchronize()
    for got, (image, _) in zip(sums, wanted()):
        assert got.item() == pytest.approx(image.double().sum().item(), abs=1e-6)


def test_batches_handed_out_in_another_stream_are_that_streams() -> None:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        got = [(image.clone(), label.clone()) for image, label in loader_of(device="cuda")]
    side.synchronize()
    assert all(torch.equal(image.cpu(), right) for (image, _), (right, _) in zip(got, wanted()))


def test_page_locked_tensors_are_pinned_and_safe_to_copy_without_blocking() -> None:
    loader = loader_of(pin_memory=True, prefetch_depth=1)
    got = []
    for image, label in loader:
        assert image.is_pinned() == (loader.loader.stats().pinned_bytes > 0)
        torch.cuda._sleep(20_000_000)
        got.append((image.to("cuda", non_blocking=True), label.to("cuda", non_blocking=True)))
        del image, label
    for (image, label), (right_image, right_label) in zip(got, wanted()):
        assert torch.equal(image.cpu(), right_image)
        assert torch.equal(label.cpu(), right_label)


@pytest.mark.parametrize("options", [{"device": "cuda"}, {"pin_memory": True}])
def test_a_graph_replays_over_given_inputs(options: dict[str, Any]) -> None:
    image = torch.zeros(ROWS, 3, 32, 32, device="cuda")
    label = torch.zeros(ROWS, dtype=torch.int64, device="cuda")
    loader = loader_of(drop_last=True, into=(image, label), **options)
    model = torch.nn.Linear(3 * 32 * 32, 512, device="cuda")

    def step() -> Any:
        return torch.nn.functional.cross_entropy(model(image.flatten(1)), label)

    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        step()
    torch.cuda.current_stream().wait_stream(warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        loss = step()
    losses = []
    for got in loader:
        assert got[0] is image
        graph.replay()
        losses.append(loss.clone())
    for got_loss, (right_image, right_label) in zip(losses, wanted()):
        image.copy_(right_image)
        label.copy_(right_label)
        assert torch.allclose(got_loss, step())


def test_a_batch_is_not_handed_out_into_a_capture() -> None:
    batches = iter(loader_of(device="cuda"))
    next(batches)
    x = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        with pytest.raises(RuntimeError, match="is capturing a CUDA graph"):
            next(batches)
        x += 1
    graph.replay()
    assert x.tolist() == [1, 1, 1, 1]


def test_given_tensors_on_another_device_are_refused() -> None:
    with pytest.raises(ValueError, match="got a tensor on cpu"):
        loader_of(device="cuda", drop_last=True, into=(torch.zeros(ROWS, 3, 32, 32), torch.zeros(ROWS).long()))


def test_training_with_mixed_precision_and_accumulated_gradients() -> None:
    model = torch.nn.Linear(3 * 32 * 32, 512, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda") if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler()
    before = model.weight.detach().clone()
    kept = []
    loader = loader_of(device="cuda", max_leases=2)
    for step, (image, label) in enumerate(loader):
        with torch.autocast("cuda", torch.float16):
            kept.append(torch.nn.functional.cross_entropy(model(image.flatten(1)), label))
        if step % 4 == 3:
            scaler.scale(torch.stack(kept).mean()).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            kept.clear()
    assert not torch.equal(before, model.weight)
    assert loader.loader.stats().lease_copies > 0
