"""Packed documents, batches by length, mixes and windows on a device: the batches of the cpu, byte for byte.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from consumer import Driver, address_of

DOCUMENTS = "tokens:tokens.bin?documents=eot:50256"
JOBS: dict[str, tuple[str, dict[str, Any]]] = {
    "bucket": (
        DOCUMENTS,
        {"bucket_edges": "16,64", "max_tokens": 640, "transform": "tokens: cast(i64), pad_to(bucket)"},
    ),
    "mix": ("mix:recipe.json", {"transform": "x: cast(f32)"}),
    "window": (DOCUMENTS + "&pack_length=32", {"shuffle": "window", "shuffle_block": "1KiB", "shuffle_blocks": 3}),
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    lengths = [draw.randrange(1, 60) for _ in range(300)]
    tokens = [token for length in lengths for token in [*(draw.randrange(1, 50000) for _ in range(length)), 50256]]
    np.array(tokens, np.uint16).tofile("tokens.bin")
    parts = [
        {"name": method, "uri": f"{DOCUMENTS}&pack_length=32&pack_method={method}", "weight": weight}
        for method, weight in (("concat", 0.7), ("best_fit", 0.3))
    ]
    Path("recipe.json").write_text(json.dumps({"parts": parts}), encoding="utf-8")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("job", JOBS)
def test_batches_on_the_device_are_those_of_the_cpu(job: str, driver: Driver) -> None:
    uri, options = JOBS[job]
    options = {"shuffle": "full", "seed": 3, **options}
    on_host = list(dataline.Loader(uri, **options))
    loader = dataline.Loader(uri, device="cuda:0", cuda_library=driver.path, **options)
    stream = driver.stream()
    for number, batch in enumerate(loader):
        batch.wait(stream)
        expected = on_host[number]
        assert batch.info.indices.tolist() == expected.info.indices.tolist()
        assert batch.info.sources.tolist() == expected.info.sources.tolist()
        for name in [name for name in expected if isinstance(expected[name], np.ndarray)]:
            tensor = batch.tensor(name)
            copied = driver.read(address_of(tensor), tensor.nbytes, stream)
            assert copied == np.ascontiguousarray(expected[name]).tobytes(), (name, number)
        batch.release()
    assert len(loader) == len(on_host) > 3
    assert driver.misuses() == []
