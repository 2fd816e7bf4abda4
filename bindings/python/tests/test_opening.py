"""Datasets opened without waiting.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import asyncio
import gc
import os
import select
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest

import dataline


def shards(folder: Path, count: int) -> str:
    for at in range(count):
        (folder / f"{at}.bin").write_bytes(b"xyz")
    return f"raw:{folder}?dtype=u8&shape=1"


def test_the_dataset_is_the_same_each_time_and_needs_the_opening_no_more(tmp_path: Path) -> None:
    opening = dataline.open_async(shards(tmp_path, 300))
    dataset = opening.result()
    assert len(dataset) == 900
    assert opening.result(timeout=0) is dataset
    assert opening.done()
    assert opening.progress() == (True, 300, 300, 0, 0, 0)
    opening.close()
    opening.close()
    with pytest.raises(dataline.WrongStateError):
        opening.progress()
    assert next(iter(dataline.Loader(dataset, num_workers=0)))["data"][0] == ord("x")


def test_what_is_read_is_counted(tmp_path: Path) -> None:
    with dataline.open_async(shards(tmp_path, 3), io="memory") as opening:
        opening.result()
        progress = opening.progress()
        assert (progress.bytes, progress.total_bytes) == (9, 9)


def test_a_path_is_taken_and_what_is_wrong_is_raised_by_each_result(tmp_path: Path) -> None:
    opening = dataline.open_async(tmp_path / "nowhere.npy")
    for _ in range(2):
        with pytest.raises(dataline.NotFoundError, match=r"nowhere\.npy"):
            opening.result()
    with pytest.raises(TypeError, match="expected a URI"):
        dataline.open_async(7)  # type: ignore[arg-type]
    with pytest.raises(dataline.UnknownOptionError):
        dataline.open_async("npy:x", batchsize=1)  # type: ignore[call-arg]


def test_a_cancelled_token_and_a_close_end_it(tmp_path: Path) -> None:
    uri = shards(tmp_path, 300)
    token = dataline.CancelToken()
    token.cancel()
    with pytest.raises(dataline.CancelledError):
        dataline.open_async(uri, cancel_token=token).result()
    opening = dataline.open_async(uri)
    opening.close()
    with pytest.raises(dataline.WrongStateError, match="closed"):
        opening.result()
    dropped = dataline.open_async(uri)
    dropped.cancel()
    gone = weakref.ref(dropped)
    del dropped
    gc.collect()
    assert gone() is None


def test_tasks_and_threads_get_one_dataset(tmp_path: Path) -> None:
    opening = dataline.open_async(shards(tmp_path, 1000))
    found: list[dataline.Dataset] = []
    threads = [threading.Thread(target=lambda: found.append(opening.result())) for _ in range(2)]
    for thread in threads:
        thread.start()

    async def wait() -> dataline.Dataset:
        return await opening

    async def both() -> list[dataline.Dataset]:
        return list(await asyncio.gather(wait(), wait()))

    found += asyncio.run(both())
    for thread in threads:
        thread.join()
    assert len({id(dataset) for dataset in found}) == 1


def test_an_await_raises_what_is_wrong_and_may_be_given_up(tmp_path: Path) -> None:
    async def wrong() -> None:
        with pytest.raises(dataline.NotFoundError):
            await dataline.open_async("npy:/nowhere/a.npy")

    async def given_up() -> None:
        opening = dataline.open_async(shards(tmp_path, 300))
        task = asyncio.ensure_future(opening._opened())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert len(await opening) == 900

    asyncio.run(wrong())
    asyncio.run(given_up())


def test_the_descriptor_is_readable_once_it_is_done(tmp_path: Path) -> None:
    opening = dataline.open_async(shards(tmp_path, 3))
    assert select.select([opening], [], [], 60)[0] == [opening]
    assert opening.done()


def test_the_interpreter_ends_while_one_goes_on(tmp_path: Path) -> None:
    program = f"import dataline; opening = dataline.open_async({shards(tmp_path, 3000)!r}, io='memory')"
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ})
