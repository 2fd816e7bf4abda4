"""dataline.torch on devices: what can be shown without CUDA. tests/test_torch_cuda.py has the rest.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dataline
from conftest import numbers
from consumer import Driver

torch = pytest.importorskip("torch")

from dataline import _torch_device, _torch_tensors  # noqa: E402
from dataline.torch import DataLoader, tensors  # noqa: E402


def images(count: int = 20) -> dataline.Dataset:
    return dataline.from_arrays(
        {"image": np.arange(count * 4, dtype=np.float32).reshape(count, 4), "label": np.arange(count, dtype=np.int64)}
    )


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.delenv("LOCAL_RANK", raising=False)


@pytest.mark.parametrize("device", ["cuda", "cuda:1", torch.device("cuda", 0)])
def test_cuda_without_cuda_says_so(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(RuntimeError, match=r"built without CUDA; device='cpu' works"):
        DataLoader(images(), device=device)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    with pytest.raises(RuntimeError, match="found no CUDA device"):
        DataLoader(images(), device=device)


def test_other_devices_are_refused() -> None:
    with pytest.raises(ValueError, match="expected cpu, cuda or cuda:N, got 'meta'"):
        DataLoader(images(), device="meta")
    assert DataLoader(images(), device="cpu").device == torch.device("cpu")


def test_cuda_is_the_current_device_or_the_one_of_the_local_rank(
    two_gpus: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = _torch_device.device_of
    assert chosen("cuda") == torch.device("cuda", 0)
    for name, value in {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    assert chosen("cuda") == torch.device("cuda", 1)
    assert chosen("cuda:0") == torch.device("cuda", 0), "a number is a number"
    monkeypatch.setenv("LOCAL_RANK", "5")  # each process sees its own device alone
    assert chosen("cuda") == torch.device("cuda", 0)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setenv("LOCAL_RANK", "0")
    assert chosen("cuda") == torch.device("cuda", 1), "set_device goes before"
    with pytest.raises(RuntimeError, match="found 2 CUDA devices"):
        chosen("cuda:2")


def test_the_library_is_asked_for_the_device_by_number(two_gpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("dataline.torch.Loader", lambda dataset, **options: asked.update(options))
    DataLoader(images(), device="cuda")
    assert asked["device"] == "cuda:0"


def test_batches_are_copied_into_given_tensors() -> None:
    image, label = torch.zeros(5, 4), torch.zeros(5, dtype=torch.int64)
    into = {"image": image, "label": label}
    loader = DataLoader(images(), batch_size=5, drop_last=True, into=into)
    seen = []
    for got in loader:
        assert got is into
        assert loader.loader.stats().leases_held == 0, "the slot is free while the batch is used"
        seen += label.tolist()
        assert torch.equal(image, torch.arange(20.0).reshape(5, 4) + 4 * label[0])
    assert seen == list(range(20))


def test_given_tensors_may_be_a_list_and_some_of_the_fields() -> None:
    label = torch.zeros(5, dtype=torch.int64)
    (got,) = next(iter(DataLoader(images(), batch_size=5, drop_last=True, fields=("label",), into=[label])))
    assert got is label
    assert label.tolist() == [0, 1, 2, 3, 4]
    assert next(iter(DataLoader(images(), batch_size=5, drop_last=True, into={"label": label})))["label"] is label
    weights = torch.zeros(5, 4, requires_grad=True)
    next(iter(DataLoader(images(), batch_size=5, drop_last=True, into={"image": weights})))
    assert weights[1].tolist() == [4, 5, 6, 7]
    assert weights.is_leaf


@pytest.mark.parametrize(
    ("into", "options", "said"),
    [
        ({"label": torch.zeros(5)}, {"drop_last": True}, r"torch.int64 \(5,\), got a tensor of torch.float32 \(5,\)"),
        ({"image": torch.zeros(5, 3)}, {"drop_last": True}, r"torch.float32 \(5, 4\), got a tensor of .* \(5, 3\)"),
        (
            {"label": torch.zeros(4, dtype=torch.int64)},
            {"drop_last": True, "on_error": "replace"},
            r"torch.int64 \(5,\), got a tensor of torch.int64 \(4,\)",
        ),
        ({"picture": torch.zeros(5)}, {"drop_last": True}, r"expected some of \['image', 'label'\], got 'picture'"),
        ([torch.zeros(5, 4)], {"drop_last": True}, r"expected tensors for \['image', 'label'\], got 1"),
        ({"label": torch.zeros(6, dtype=torch.int64)}, {"batch_size": 6}, "drop_last=True or last_batch='pad'"),
    ],
)
def test_given_tensors_that_do_not_fit_are_refused(into: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, KeyError), match=said):
        DataLoader(images(), **{"batch_size": 5, **options}, into=into)


def test_ragged_fields_go_into_nothing() -> None:
    ragged = dataline.from_arrays({"x": dataline.Ragged(np.arange(4.0), np.array([0, 1, 4]))})
    with pytest.raises(ValueError, match="'x' is ragged"):
        DataLoader(ragged, batch_size=2, drop_last=True, into={"x": torch.zeros(2)})


def test_a_batch_that_lost_samples_does_not_go_into_given_tensors() -> None:
    class Torn:
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            if index == 2:
                raise OSError("torn")
            return {"x": np.float32(index)}

    x = torch.zeros(4)
    loader = DataLoader(dataline.from_reader(Torn()), batch_size=4, drop_last=True, into={"x": x})
    with pytest.raises(dataline.DataError):
        next(iter(loader))
    position = loader.loader.position
    assert position.step == 0
    short = loader.loader.next()
    assert short is not None
    assert loader._into is not None
    with pytest.raises(ValueError, match="on_error='replace'"):
        loader._into.fill(short, tensors(short), _torch_device.InFlight())


class Event:
    """Of a stream that does its work when it is told to."""

    def __init__(self) -> None:
        self.done, self.waited = False, False

    def query(self) -> bool:
        return self.done

    def synchronize(self) -> None:
        self.waited = self.done = True


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    made: list[Event] = []

    class Stream:
        def record_event(self) -> Event:
            made.append(Event())
            return made[-1]

    monkeypatch.setattr(torch.cuda, "current_stream", lambda index: Stream())
    monkeypatch.setattr(_torch_device, "_devices_in_use", lambda: [0])
    return made


def test_what_copies_read_is_kept_until_they_are_done(events: list[Event]) -> None:
    in_flight = _torch_device.InFlight()
    loader = dataline.Loader(numbers(40), batch_size=4)

    def held() -> int:
        return loader.stats().leases_held

    for count in (1, 2):
        in_flight.hold(tensors(next(iter(loader)))["x"])
        assert held() == count
    events[0].done = True
    in_flight.hold(None)
    assert held() == 1, "the copies of the first are done"
    assert not events[1].waited
    in_flight.hold(None)
    assert held() == 0
    assert events[1].waited, "with a third the first is waited for"


def test_page_locked_batches_are_kept_for_the_copies_from_them(
    fake: Driver, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    loader = DataLoader(images(), batch_size=4, pin_memory=True, cuda_library=fake.path, num_workers=0)
    seen = []
    for step, batch in enumerate(loader):
        assert len(events) == step, "one event for each batch that was used"
        assert loader.loader.stats().leases_held == 1 + min(step, 2)
        seen += batch["label"].tolist()
        del batch
    assert seen == list(range(20))
    assert [event.waited for event in events] == [True, True, True, False, False]
    batches = iter(loader)
    next(batches)
    del batches
    assert len(events) == 6, "a loop that is left counts too"


def test_a_copy_that_does_not_block_keeps_what_it_reads(fake: Driver, events: list[Event]) -> None:
    loader = dataline.Loader(
        images(), batch_size=4, pin_memory=True, pin_memory_device="cuda:0", cuda_library=fake.path
    )
    batch = next(iter(loader))

    def move(value: Any, device: str, non_blocking: bool) -> Any:
        assert (device, non_blocking) == ("cuda", True)
        return value.clone()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dataline._torch_tensors._to", move)
        made = tensors(batch, device="cuda", non_blocking=True)
    assert made["label"].tolist() == [0, 1, 2, 3]
    batch.release()
    del made
    assert loader.stats().leases_held == 1
    events[0].done = True
    _torch_tensors._in_flight.hold(None)
    assert loader.stats().leases_held == 0
    events[1].done = True


def test_training_with_mixed_precision_and_accumulated_gradients() -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 20)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    before = model.weight.detach().clone()
    loader = DataLoader(images(), batch_size=2, fields=("image", "label"), max_leases=2, num_workers=1)
    kept = []
    for step, (image, label) in enumerate(loader):
        with torch.autocast("cpu", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(image).float(), label)
        kept.append(loss)  # the graphs of four steps hold their batches, more than there are slots for
        if step % 4 == 3:
            torch.stack(kept).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            kept.clear()
    assert not torch.equal(before, model.weight)
    assert loader.loader.stats().lease_copies > 0
    del image, label, loss
    kept.clear()
    assert loader.loader.stats().leases_held == 0
