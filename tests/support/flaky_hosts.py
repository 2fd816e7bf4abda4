"""The languages' tests for tests/flaky.sh: commands and the sources that they run, a file of tests at a time.

A language whose toolchain or build is not here has none: tests/run.sh makes them (bindings/NAME/check.sh).

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINDINGS = ROOT / "bindings"


def environment(build):
    """How hosts find the library of a build folder."""
    driver = build / "lib" / "libfake_cuda.so"
    return {"DATALINE_LIB_DIR": str(build / "lib"), "DATALINE_INCLUDE_DIR": str(ROOT / "capi"), "LD_LIBRARY_PATH": str(build / "lib"),
            "DATALINE_BIN": str(build / "bin" / "dataline"), "DATALINE_FAKE_CUDA": str(driver)}


def entry(name, folder, sources, command, variables, timeout=600):
    """As ctest describes a test, and its sources."""
    properties = {"WORKING_DIRECTORY": str(folder), "TIMEOUT": timeout, "ENVIRONMENT": [f"{key}={value}" for key, value in variables.items()]}
    return {"name": name, "command": [str(word) for word in command], "sources": sources,
            "properties": [{"name": key, "value": value} for key, value in properties.items()]}


def python(variables):
    program = ROOT / "build/python/venv/bin/python"
    if program.is_file():
        folder = BINDINGS / "python"
        for path in sorted((folder / "tests").glob("test_*.py")):
            yield entry(f"python/{path.stem}", folder, [path], [program, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", path], variables)


def go(variables):
    program = ROOT / "build/flaky/go.test"
    if shutil.which("go"):
        folder = BINDINGS / "go"
        subprocess.run(["go", "test", "-c", "-o", program, "."], cwd=folder, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
        for path in sorted(folder.glob("*_test.go")):
            names = re.findall(r"^func (Test\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
            if names:
                yield entry(f"go/{path.stem}", folder, [path], [program, "-test.run", f"^({'|'.join(names)})$"], variables)


def rust(variables):
    if shutil.which("cargo"):
        folder = BINDINGS / "rust"
        told = subprocess.run(["cargo", "test", "--quiet", "--locked", "--workspace", "--tests", "--no-run", "--message-format", "json"], cwd=folder,
                              env={**os.environ, **variables, "CARGO_TARGET_DIR": str(ROOT / "build/cargo")}, stdout=subprocess.PIPE, check=True)
        for line in told.stdout.splitlines():
            made = json.loads(line)
            if made.get("executable") and "test" in made["target"]["kind"]:
                path = pathlib.Path(made["target"]["src_path"])
                yield entry(f"rust/{made['target']['name']}", path.parents[1], [path], [made["executable"]], variables)


def julia(variables):
    folder = BINDINGS / "julia"
    if subprocess.run([folder / "setup.sh", "--where"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
        for path in sorted((folder / "test").glob("*.jl")):
            more = sorted((folder / "test/processes").glob("*.jl")) if path.stem == "processes" else []
            if path.stem not in ("runtests", "support"):
                yield entry(f"julia/{path.stem}", folder, [path, *more], [folder / "check.sh", "--tests", path.stem], variables)


def tests(build):
    """The entries of all languages. The gates know more: static libraries, free-threaded Python, race detectors."""
    variables = environment(build)
    return [found for language in (python, go, rust, julia) for found in language(variables)]
