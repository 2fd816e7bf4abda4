"""Where NumPy or PyTorch is not installed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import subprocess
import sys

START = "import sys; sys.modules[{name!r}] = None; import array, dataline\n"
DATASET = 'dataset = dataline.from_arrays({"x": array.array("q", range(5))})\n'


def run_without(package: str, code: str) -> None:
    subprocess.run([sys.executable, "-c", START.format(name=package) + code], check=True, cwd="/")


def test_without_numpy_arrays_say_what_to_install_and_what_does_without() -> None:
    run_without(
        "numpy",
        DATASET
        + """
batch = next(iter(dataline.Loader(dataset, batch_size=3)))
for use in (lambda: batch["x"], batch.values, batch.tensor("x").numpy, lambda: dataset[0], lambda: next(iter(dataset))):
    try:
        use()
    except ImportError as error:
        assert "pip install 'dataline[numpy]'" in str(error) and "batch.tensor(name)" in str(error), error
    else:
        sys.exit("no error")
assert memoryview(batch.tensor("x")).tolist() == [0, 1, 2]
assert memoryview(dataset.read(4).tensor("x")).tolist() == [4]
""",
    )


def test_without_pytorch_its_module_says_what_to_install() -> None:
    run_without(
        "torch",
        """
try:
    import dataline.torch
except ModuleNotFoundError as error:
    assert error.name == "torch" and "pip install 'dataline[torch]'" in str(error), error
else:
    sys.exit("no error")
""",
    )
