"""The loop that bindings/README.md shows in each language runs: 5 epochs over a small set of digits, each step called.

  readme_test.py LANGUAGE=COMMAND...

cpp: a compiler with the flags to find and link the library; rust: cargo; go, julia, python: their programs with what they need
to find the package. Words are apart by spaces.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES, STEPS = 70, 5 * 2  # two batches of at most 64 an epoch

# What stands around the block: a train_step that counts and looks at what it is given.
AROUND = {
    "cpp": """#include <cstdint>
#include <dataline.hpp>
static int64_t steps = 0, samples = 0;
static void train_step(dataline::Span<const float> image, dataline::Span<const int64_t> label) {{
  ++steps, samples += image.size() == 784 * label.size() ? static_cast<int64_t>(label.size()) : -1000;
}}
int main() {{
{block}
  return steps == {steps} && samples == 5 * {samples} ? 0 : 1;
}}
""",
    "rust": """use dataline::{{Dataset, Loader, Options}};
static STEPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
fn train_step(image: &[f32], label: &[i64]) {{
    assert_eq!(image.len(), 784 * label.len());
    STEPS.fetch_add(1000 + label.len(), std::sync::atomic::Ordering::Relaxed);
}}
fn main() -> dataline::Result<()> {{
{block}
    assert_eq!(STEPS.load(std::sync::atomic::Ordering::Relaxed), 1000 * {steps} + 5 * {samples});
    Ok(())
}}
""",
    "go": """package main

import (
	"context"

	"github.com/dataline/dataline/bindings/go"
)

var steps, samples int

func trainStep(image []float32, label []int64) {{
	if len(image) == 784*len(label) {{
		steps, samples = steps+1, samples+len(label)
	}}
}}

func train(ctx context.Context) error {{
{block}
	return nil
}}

func main() {{
	if err := train(context.Background()); err != nil || steps != {steps} || samples != 5*{samples} {{
		panic(err)
	}}
}}
""",
    "julia": """steps = samples = 0
function train_step!(image, label)
    size(image) == (784, length(label)) || error("$(size(image)) and $(length(label))")
    global steps += 1
    global samples += length(label)
end
{block}
exit(steps == {steps} && samples == 5 * {samples} ? 0 : 1)
""",
    "python": """steps = samples = 0
def train_step(image, label):
    global steps, samples
    assert tuple(image.shape) == (len(label), 784)
    steps, samples = steps + 1, samples + len(label)
{block}
assert (steps, samples) == ({steps}, 5 * {samples})
""",
}


def idx(shape, data):
    return bytes([0, 0, 8, len(shape)]) + b"".join(struct.pack(">I", dim) for dim in shape) + data


def digits(folder):
    folder.mkdir()
    for name in ("train", "t10k"):
        (folder / f"{name}-images-idx3-ubyte").write_bytes(idx((SAMPLES, 28, 28), bytes(SAMPLES * 784)))
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(idx((SAMPLES,), bytes(SAMPLES)))


def run_cpp(command, folder, source):
    (folder / "loop.cpp").write_text(source, encoding="utf-8")
    return [[*command, "loop.cpp", "-o", "loop"], ["./loop"]]


def run_rust(command, folder, source):
    (folder / "src").mkdir()
    (folder / "src/main.rs").write_text(source, encoding="utf-8")
    # The example's lock file, so that nothing is asked of a registry.
    (folder / "Cargo.toml").write_text((ROOT / "examples/rust/Cargo.toml").read_text(encoding="utf-8").replace(
        "../../bindings", str(ROOT / "bindings")), encoding="utf-8")
    (folder / "Cargo.lock").write_text((ROOT / "examples/rust/Cargo.lock").read_text(encoding="utf-8"), encoding="utf-8")
    name = re.search(r'^name = "([^"]+)"', (folder / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    return [[*command, "run", "--quiet", "--bin", name]]


def run_go(command, folder, source):
    (folder / "main.go").write_text(source, encoding="utf-8")
    (folder / "go.mod").write_text((ROOT / "examples/go/go.mod").read_text(encoding="utf-8").replace(
        "../../bindings", str(ROOT / "bindings")), encoding="utf-8")
    (folder / "go.sum").write_text((ROOT / "examples/go/go.sum").read_text(encoding="utf-8"), encoding="utf-8")
    return [[*command, "run", "."]]


def run_script(command, folder, source):
    (folder / "loop").write_text(source, encoding="utf-8")
    return [[*command, "loop"]]


RUN = {"cpp": run_cpp, "rust": run_rust, "go": run_go, "julia": run_script, "python": run_script}


def blocks():
    """The blocks of the section "In each language", by language; the indentation is what stands around them."""
    text = (ROOT / "bindings/README.md").read_text(encoding="utf-8")
    section = re.search(r"^## In each language$(.*?)^## ", text, re.MULTILINE | re.DOTALL).group(1)
    return {name: block.rstrip("\n") for name, block in re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL)}


def check(language, command, block):
    """What is wrong, or nothing."""
    source = AROUND[language].format(block=block, steps=STEPS, samples=SAMPLES)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        digits(folder / "data")
        for words in RUN[language](command, folder, source):
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=os.environ)
            if done.returncode:
                return f"{words[0]} ended with {done.returncode}:\n{source}\n{done.stdout}{done.stderr}"
    return ""


def main():
    shown = blocks()
    failed = 0
    for argument in sys.argv[1:]:
        language, _, command = argument.partition("=")
        wrong = check(language, shlex.split(command), shown[language])
        failed += bool(wrong)
        print(f"{'FAILED' if wrong else 'ok'}: the loop of bindings/README.md in {language}{': ' + wrong if wrong else ''}")
    missing = sorted(set(RUN) - set(shown))
    if missing:
        print(f"FAILED: bindings/README.md shows no loop in {', '.join(missing)}")
    print(f"{len(sys.argv) - 1 - failed} passed, {failed + len(missing)} failed")
    return failed + len(missing) > 0


if __name__ == "__main__":
    sys.exit(main())
