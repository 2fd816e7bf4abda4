"""The wheel by itself: what is in it, what it needs, and a loop in each Python there is.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from sysconfig import get_config_var

import pytest

import dataline

pytestmark = pytest.mark.skipif(bool(get_config_var("Py_GIL_DISABLED")), reason="made for this Python alone")

# What every Linux of the last years has (PEP 600).
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libstdc++.so.6", "libgcc_s.so.1",
              "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}  # fmt: skip

LOOP = """
import array, dataline, sys
assert "numpy" not in sys.modules
values = array.array("i", range(1000))
for workers in (0, 2):
    loader = dataline.Loader(dataline.from_arrays({"x": values}), batch_size=64, shuffle=True, num_workers=workers)
    kept = [batch.tensor("x") for batch in loader]
    assert sorted(value for tensor in kept for value in memoryview(tensor).tolist()) == list(range(1000))
    assert [len(tensor) for tensor in kept] == [64] * 15 + [40]

class Source:
    def __len__(self): return 100
    def __getitem__(self, index):
        if index == 50: raise ValueError("bad")
        return {"n": index, "text": "x" * index}

loader = dataline.Loader(dataline.from_reader(Source()), batch_size=10, on_error="replace", num_workers=2)
assert sum(len(batch.tensor("n")) for batch in loader) == 100
assert [bad.index for bad in loader.bad_samples()] == [50]
try:
    dataline.open("npy:nowhere.npy")
except FileNotFoundError as error:
    assert error.errno == 2 and error.name == "DL_ERR_NOT_FOUND"
memory = memoryview(kept[0])
assert (memory.format, memory.itemsize, memory.shape, memory.readonly) == ("i", 4, (64,), False)
assert dataline._core.Loan.of_capsule(kept[0].__dlpack__(max_version=(1, 0))).dtype == "i32"
print(dataline._core.__file__)
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    given = os.environ.get("DATALINE_WHEEL")
    if not given:
        pytest.skip("DATALINE_WHEEL does not name one; check.sh builds it")
    return Path(given)


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    return folder


def clean_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG")}


def pythons() -> list[Path]:
    """Each Python from 3.9 on that is found, one a version."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    root = os.environ.get("PYENV_ROOT")
    if root:
        folders += sorted(Path(root, "versions").glob("*/bin"))
    found: dict[str, Path] = {}
    for folder in folders:
        if "shims" in folder.parts:
            continue
        for path in folder.glob("python3.*"):
            version = re.fullmatch(r"python3\.(\d+)", path.name)
            if version and int(version[1]) >= 9:
                found.setdefault(path.name, path)
    return sorted(found.values(), key=lambda path: int(path.name.split(".")[-1]))


def test_its_tag_is_that_of_the_stable_abi(wheel: Path) -> None:
    found = re.fullmatch(r"dataline-([\d.]+)-cp39-abi3-\w+\.whl", wheel.name)
    assert found is not None
    assert found[1] == dataline.__version__, "of the library that is in it"


def test_it_holds_the_library_the_types_and_no_requirement(unpacked: Path) -> None:
    names = {path.name for path in (unpacked / "dataline").iterdir()}
    assert {"_core.abi3.so", "_core.pyi", "py.typed", "__init__.py", "torch.py"} <= names
    assert any(path.name.startswith("libdataline.so.") for path in (unpacked / "dataline" / "lib").iterdir())
    (licences,) = unpacked.glob("*.dist-info/licenses")
    assert "Apache License" in (licences / "LICENSE").read_text()
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    required = [line for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")]
    assert all("extra ==" in line for line in required)


def dynamic(path: Path) -> str:
    return subprocess.run(["readelf", "-dW", path], check=True, stdout=subprocess.PIPE, text=True).stdout


def test_it_needs_nothing_that_is_not_in_it_or_everywhere(unpacked: Path) -> None:
    folder = unpacked / "dataline"
    libraries = [path for path in folder.rglob("*") if ".so" in path.name or path.parent.name == "bin"]
    inside = {path.name for path in libraries}
    for path in libraries:
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic(path)))
        assert needed <= inside | EVERYWHERE, path.name
    assert "[$ORIGIN/lib]" in dynamic(folder / "_core.abi3.so")


def test_the_extension_runs_on_an_old_glibc(unpacked: Path) -> None:
    listed = subprocess.run(["objdump", "-T", unpacked / "dataline" / "_core.abi3.so"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout  # fmt: skip
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", listed)}
    assert versions
    assert max(versions) <= (2, 17), "what it is compiled on must not tell where it runs: that is the library's matter"


def test_it_uses_the_stable_abi_and_the_two_functions_that_joined_it_later(unpacked: Path) -> None:
    abi3info = pytest.importorskip("abi3info")
    listed = subprocess.run(["nm", "-D", "--undefined-only", unpacked / "dataline" / "_core.abi3.so"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout  # fmt: skip
    used = {name for name in re.findall(r" U (\w+)", listed) if name.startswith(("Py", "_Py"))}
    known = {**abi3info.FUNCTIONS, **abi3info.DATAS}
    added = {symbol.name: (entry.added.major, entry.added.minor) for symbol, entry in known.items()}
    assert used <= set(added)
    late = {name: added[name] for name in used if added[name] > (3, 9)}
    assert late == {"PyObject_GetBuffer": (3, 11), "PyBuffer_Release": (3, 11)}


@pytest.mark.parametrize("python", pythons(), ids=lambda path: path.name)
def test_a_loop_runs_without_anything_installed(unpacked: Path, python: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(unpacked)!r})\n{LOOP}"
    done = subprocess.run([python, "-I", "-S", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd="/", env=clean_environment(), timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert done.stdout.strip() == str(unpacked / "dataline" / "_core.abi3.so")


def test_pip_installs_it_into_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    environment = clean_environment()
    install = [str(python), "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", str(wheel)]
    subprocess.run(install, check=True, env=environment)
    done = subprocess.run([python, "-c", LOOP], check=True, stdout=subprocess.PIPE, text=True, cwd="/", env=environment)
    assert done.stdout.startswith(str(tmp_path))
    assert sys.version_info >= (3, 9)
    installed = tmp_path / "env" / "bin" / "dataline"
    said = subprocess.run([installed, "version"], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    assert said.split()[:2] == ["dataline", dataline.__version__]
