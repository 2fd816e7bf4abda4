"""Every code block of the written pages and of the README at the top runs, and does not fail.

  blocks.py PAGES [--quick] [--only PAGE]      --quick: without Rust, Go and Julia, whose programs take seconds to compile
  blocks.py --self-test                        proves that it can fail

Blocks of a page run in their order in one folder with small sets of data (data.py); Python's share their names. A line
before a block says what is special: `% theirs`, `% skip: REASON`, `% needs: PACKAGE`, `% plugin: NAME`, `% args: WORDS`
(docs/README.md).
What it uses: DATALINE_LIB_DIR, DATALINE_BIN, DATALINE_PYTHON (a Python that has the package; without it those blocks are
left out), CC, CXX. The last line is `N passed, N failed, N left out`.

SPDX-License-Identifier: Apache-2.0
"""

import ast
import collections
import contextlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import data

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = pathlib.Path(os.environ["DATALINE_LIB_DIR"])
SHOWN_ONLY = {"text", "cmake", "yaml", "", "raw"}
BLOCK = re.compile(r"((?:^%[^\n]*\n)*)^```(\{?[\w-]*\}?)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
Block = collections.namedtuple("Block", "page line language marks text")


def blocks_of(page, text):
    found = []
    for match in BLOCK.finditer(text):
        if match[2].startswith("{"):
            continue
        marks = dict((part.lstrip("% ").partition(":")[::2]) for part in match[1].splitlines())
        found.append(
            Block(
                page, text.count("\n", 0, match.start(3)), match[2], {k: v.strip() for k, v in marks.items()}, match[3]
            )
        )
    return found


def run(words, folder, **more):
    env = {**os.environ, "LD_LIBRARY_PATH": str(LIBRARY), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    program = os.environ.get("DATALINE_BIN")
    if program:
        env["PATH"] = f"{pathlib.Path(program).parent}:{env['PATH']}"
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **more,
    )
    return "" if done.returncode == 0 else f"ended with {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-3000:]}"


def python_page(blocks, folder):
    """All blocks of a page in one process, each compiled with its own line numbers."""
    parts = ["shared = {'__name__': 'page'}"]
    parts += [
        f"exec(compile({chr(10) * block.line + block.text!r}, {str(block.page)!r}, 'exec'), shared)" for block in blocks
    ]
    (folder / "page.py").write_text("\n".join(parts) + "\n", encoding="utf-8")
    return run([os.environ["DATALINE_PYTHON"], "page.py"], folder)


def compiled(block, folder, compiler, source, flags):
    (folder / source).write_text(block.text, encoding="utf-8")
    strict = ["-Wall", "-Wextra", "-Wno-unused", "-Wno-overlength-strings", "-pedantic", "-Werror"]
    include = [f"-I{ROOT}/capi", f"-I{ROOT}/bindings/cpp/include"]
    link = [f"-L{LIBRARY}", "-Wl,--no-as-needed", "-ldataline", "-o", "program"]
    return run([*compiler, *flags, *strict, *include, source, *link], folder) or run(
        ["./program", *shlex.split(block.marks.get("args", ""))], folder
    )


def rust(block, folder):
    crate = folder / "crate"
    shutil.rmtree(crate, ignore_errors=True)
    (crate / "src").mkdir(parents=True)
    (crate / "src/main.rs").write_text(block.text, encoding="utf-8")
    for name in ("Cargo.toml", "Cargo.lock"):
        text = (
            (ROOT / "examples/rust" / name)
            .read_text(encoding="utf-8")
            .replace("../../bindings", str(ROOT / "bindings"))
        )
        (crate / name).write_text(text, encoding="utf-8")
    return run(["cargo", "run", "--quiet", "--manifest-path", crate / "Cargo.toml", "--bin", "train-mnist"], folder)


def go(block, folder):
    module = folder / "module"
    shutil.rmtree(module, ignore_errors=True)
    module.mkdir()
    (module / "main.go").write_text(block.text, encoding="utf-8")
    for name in ("go.mod", "go.sum"):
        text = (
            (ROOT / "examples/go" / name).read_text(encoding="utf-8").replace("../../bindings", str(ROOT / "bindings"))
        )
        (module / name).write_text(text, encoding="utf-8")
    return run(["env", "CGO_ENABLED=0", "go", "build", "-C", "module", "-o", "../program"], folder) or run(
        ["./program"], folder
    )


def julia(block, folder):
    (folder / "block.jl").write_text(block.text, encoding="utf-8")
    return run([*shlex.split(os.environ["DATALINE_JULIA"]), "block.jl"], folder)


RUN = {
    "c": lambda block, folder: compiled(
        block, folder, shlex.split(os.environ.get("CC", "cc")), "block.c", ["-std=c11"]
    ),
    "cpp": lambda block, folder: compiled(
        block, folder, shlex.split(os.environ.get("CXX", "c++")), "block.cpp", ["-std=c++17"]
    ),
    "sh": lambda block, folder: run(["bash", "-euo", "pipefail", "-c", block.text], folder),
    "rust": rust,
    "go": go,
    "julia": julia,
}
SLOW = {"rust": "cargo", "go": "go", "julia": "DATALINE_JULIA"}


def installed(language, package):
    """Whether a program in Python or Julia finds a package."""
    if language == "python":
        words = [os.environ["DATALINE_PYTHON"], "-c", f"import {package}"]
    else:
        words = [*shlex.split(os.environ["DATALINE_JULIA"]), "-e", f'exit(Base.find_package("{package}") === nothing)']
    return subprocess.run(words, capture_output=True, timeout=120, check=False).returncode == 0


def left_out(block, quick):
    """Why a block is not run, or nothing."""
    if "skip" in block.marks:
        return block.marks["skip"]
    if block.language in SLOW:
        if quick:
            return "--quick"
        wanted = SLOW[block.language]
        if not (os.environ.get(wanted) if wanted.isupper() or "_" in wanted else shutil.which(wanted)):
            return f"there is no {block.language} here"
    if block.language == "python" and not os.environ.get("DATALINE_PYTHON"):
        return "there is no Python with the package here"
    if "needs" in block.marks and not installed(block.language, block.marks["needs"]):
        return f"the package {block.marks['needs']} is not installed here"
    if "plugin" in block.marks and not (LIBRARY / f"libdataline-{block.marks['plugin']}.so").exists():
        return f"the plug-in {block.marks['plugin']} was not built"
    return ""


class Tally:
    def __init__(self):
        self.passed, self.failed, self.out = 0, 0, 0

    def told(self, block, wrong):
        if wrong:
            self.failed += 1
            print(f"FAILED {block.page}:{block.line + 1} ({block.language}): {wrong}")
        else:
            self.passed += 1

    def leave_out(self, block, why):
        self.out += 1
        print(f"left out {block.page}:{block.line + 1} ({block.language}): {why}")


def check_page(page, text, quick, tally):
    together = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data.write(folder)
        for block in blocks_of(page, text):
            if block.language in SHOWN_ONLY:
                continue
            if block.language == "python":  # whoever wrote it for
                try:
                    ast.parse(block.text)
                except SyntaxError as error:
                    tally.told(block, str(error))
                    continue
            if "theirs" in block.marks:
                tally.passed += block.language == "python"
                continue
            why = left_out(block, quick)
            if why:
                tally.leave_out(block, why)
            elif block.language == "python":
                together.append(block)
            elif block.language in RUN:
                tally.told(block, RUN[block.language](block, folder))
            else:
                tally.told(block, "a language that blocks.py does not know")
        if together:
            wrong = python_page(together, folder)
            tally.told(together[0], wrong)
            tally.passed += 0 if wrong else len(together) - 1


SELF_TEST = """
```sh
test -e data/train-images-idx3-ubyte
```
```sh
false
```
```c
int main(void) { return 3; }
```
```c
int main(void) { return 0 }
```
% theirs
```python
import no_such_module
```
% theirs
```python
a b
```
% skip: for a reason
```sh
false
```
% needs: no_such_module
```python
import no_such_module
```
% plugin: no_such_plugin
```sh
false
```
```cobol
```
"""


def self_test():
    tally = Tally()
    with contextlib.redirect_stdout(io.StringIO()) as told:
        check_page("self-test", SELF_TEST, True, tally)
    counts = (tally.passed, tally.failed, tally.out)
    if counts != (2, 5, 3):
        print(f"{told.getvalue()}self-test: expected 2 passed, 5 failed, 3 left out, got {counts}")
    return counts != (2, 5, 3)


def readme():
    """The README at the top as a page. Its two commands are those of tests/bare.sh."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(r"^```sh\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    pages, quick = pathlib.Path(sys.argv[1]), "--quick" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    tally, began = Tally(), time.monotonic()
    for path in sorted(pages.rglob("*.md")):
        if only in str(path):
            check_page(path.relative_to(pages), path.read_text(encoding="utf-8"), quick, tally)
    if only in "README.md":
        check_page("README.md", readme(), quick, tally)
    print(
        f"blocks: {tally.passed} passed, {tally.failed} failed, {tally.out} left out, {time.monotonic() - began:.0f} s"
    )
    return tally.failed > 0 or tally.passed == 0


if __name__ == "__main__":
    sys.exit(main())
