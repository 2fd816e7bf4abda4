"""The table of the parts of the proof, in the order in which they run.

SPDX-License-Identifier: Apache-2.0
"""

import cpp_parts
from part import Part

# What hosts learn from the library's tables: options, formats and operators reach every language through them.
TABLES = ("core/loader/option_rows.inc", "core/source/formats.def", "core/transform/operators/list.def", "capi/functions.def")
HEADER = ("capi/dataline.h", "capi/api", "capi/api.json", "core/setup.sh")
LIBRARY = cpp_parts.BUILD + cpp_parts.library()
CMAKE = ("CMakeLists.txt", "CMakePresets.json", "*/CMakeLists.txt", "*.cmake", "!tests/*/CMakeLists.txt")
PYTHON = ("bindings/python", "plugins/parquet", "plugins/plugin.h")
DATA = ("data:mnist",)
ALL = ("*", "!tests/results")  # runs write there


def gate(language, *reads, tools=(), **more):
    """The gate of a language. The library that it runs on is assumed: of core, the tables count."""
    return Part(
        name=f"bindings/{language}",
        inputs=(f"bindings/{language}", f"examples/{language}", "examples/check_progress.py", *HEADER, *TABLES, "tests/extensions", "LICENSE",
                "CMakeLists.txt", *reads, *DATA),
        assumes=LIBRARY + cpp_parts.SHELL + ("tests/support/fake_cuda",),
        command=(f"bindings/{language}/check.sh", "--quick"), long_command=(f"bindings/{language}/check.sh",),
        steps=("library",) if language == "python" else ("library", language), tools=("c++", "python", *tools), **more)


def long_only(name, *command, **more):
    return Part(name=name, command=command, inputs=ALL, long=True, seconds=12 * 3600, **more)


PARTS = (
    # Always: the laws of the tree read every file, and this proof is what the others rest on. Both take seconds.
    Part("law", command=("python3", "tests/law/run.py"), always=True),
    Part("proof", command=("python3", "-B", "tests/proof/run_tests.py"), always=True),
    # Declared inputs are enough: a cheap part in a copy that holds nothing else; with --long all parts that everyday runs.
    Part("proof/isolated", command=("python3", "-B", "tests/proof", "--isolate", "asan/batch,release/base"), seconds=6 * 3600,
         long_command=("python3", "-B", "tests/proof", "--isolate", "asan,tsan,interleave,release,bindings,docs,examples,bench"),
         inputs=("tests/proof", "tests/law/check_includes.py", "tests/batch", "tests/base", *cpp_parts.BUILD, *cpp_parts.rooms("batch"))),
    *(part for part in cpp_parts.parts() if part.preset == "asan" or part.name == "release/law"),
    *(part for part in cpp_parts.parts() if part.preset in ("tsan", "interleave")),
    *(part for part in cpp_parts.parts() if part.preset == "release" and part.name != "release/law"),
    Part("release/plants", command=("bench/doctor/plants.py", "--program", "build/release/bin/dataline"), steps=("library",), inputs=ALL,
         long=True),
    gate("julia", tools=("julia",), beside=("bindings",)),
    gate("rust", "README.md", tools=("rust",)),
    gate("go", tools=("go",)),
    gate("python", "plugins", "tests/support/fake_cuda", "tests/metrics/check_trace.py", "bench/peers", "data:imagenet-sample", "data:text"),
    # On a system that has nothing yet can break the way to the first build, and files that are not listed. Objects may come out of
    # the compiler cache, where all that goes into one is the same there; --long compiles everything.
    Part("bare", command=("bash", "-c", 'cache=$(ccache -k cache_dir 2>/dev/null || true); exec tests/bare.sh --user ${cache:+--ccache "$cache"}'), long_command=("tests/bare.sh", "debian12", "--main"), seconds=7200,
         inputs=("names:core", "names:capi", "names:bindings/cli", "names:plugins", "examples", *CMAKE, "core/setup.sh", "capi/*.in",
                 "capi/exports.map", "tests/bare.sh", "tests/support/bare_system.sh"), assumes=LIBRARY + cpp_parts.SHELL, tools=("chroot",),
         beside=("languages", "launch", "examples", "docs")),
    Part("languages", command=("tests/languages/run.sh",), steps=("library", "rust", "go", "julia", "python"),
         inputs=LIBRARY + cpp_parts.SHELL + cpp_parts.CPP + HEADER + ("tests/languages", "tests/extensions", "tests/cpp", "bindings", "examples"),
         tools=("c++", "python", "rust", "go", "julia")),
    Part("launch", command=("tests/launch/run.sh",), long_command=("tests/launch/run.sh", "--long"), steps=("library", "go", "python"),
         inputs=("tests/launch", "examples/launch", "bindings/go", *PYTHON, "capi", "core/loader", "core/order"), assumes=LIBRARY,
         tools=("c++", "python", "go", "mpi"), results="launch.txt"),
    Part("examples", command=("examples/run.sh", "--quick"), long_command=("examples/run.sh",), steps=("library",),
         inputs=("examples", *HEADER, *CMAKE, *TABLES, *DATA), assumes=LIBRARY),
    Part("examples/mnist", command=("tests/examples/real_mnist.sh",), steps=("library",), inputs=(*ALL, *DATA), long=True),
    Part("docs/site", command=("docs/check.sh", "--quick", "--only", "site"), long_command=("docs/check.sh", "--only", "site"), steps=("library",),
         inputs=("names:*", "docs", "*.md", "capi/api.json", "capi/api", "capi/dataline.h", *TABLES, *cpp_parts.SHELL), assumes=LIBRARY,
         tools=("python", "chromium")),
    Part("docs/code", command=("docs/check.sh", "--quick", "--only", "code"), long_command=("docs/check.sh", "--only", "code"),
         steps=("library", "python"),
         inputs=("docs", "README.md", "bindings/cpp/include", "bindings/python/src", "examples/rust", "examples/go", *HEADER, *TABLES),
         assumes=LIBRARY,
         tools=("c++", "python", "rust", "go", "julia")),
    Part("bare/debian13", command=("tests/bare.sh", "debian13", "--main"), inputs=ALL, long=True, seconds=7200, tools=("chroot",)),
    Part("bare/tests", command=("tests/bare.sh", "--tests"), inputs=ALL, long=True, seconds=4 * 3600, tools=("chroot",)),
    Part("bench", command=("bench/run.sh", "--smoke"), steps=("library",), assumes=LIBRARY,
         inputs=("names:core", "bench", "!bench/results", *HEADER, *CMAKE, "bindings/cli/*.h", "bindings/cli/gather_loops.cpp",
                 "bindings/cli/json.cpp", "bindings/cli/system.cpp", "bindings/cli/text.cpp")),
    Part("tidy", command=("tests/tidy.sh",), long_command=("tests/tidy.sh", "--all"), steps=("configured",),
         inputs=(".clang-tidy", "tests/tidy.sh", "core", "capi", "bindings/cli", "bindings/cpp", "bindings/python/src", "examples",
                 "*/CMakeLists.txt"),
         tools=("c++", "tidy")),
    long_only("packages", "bash", "-c", "rm -rf build/packages && bindings/release.sh build/packages --draft --try", results="packages.txt",
              kept="^== dataline |^packages: "),
    long_only("compilers", "tests/compilers.sh", results="compilers.txt"),
    long_only("aarch64", "tests/aarch64.sh", steps=("library",)),
    long_only("windows", "tests/windows.sh"),
    long_only("gpu", "bash", "-c", 'cache=$(ccache -k cache_dir 2>/dev/null || true); exec tests/gpu_rehearsal.sh ${cache:+--ccache "$cache"}'),
    long_only("interleave/long", "bash", "-c",
              'build/interleave/tests/interleave_loader --schedules 20000000 --seed "$(date +%s)00000" --jobs "$(nproc)"', steps=("interleave",),
              results="interleave.txt"),
    long_only("flaky", "tests/flaky.sh", "--minutes", "120"),
    long_only("mutants", "bash", "-c", 'tests/mutants/run.sh --results "tests/results/$(date +%F)-mutants"'),
    long_only("fuzz", "bash", "-c", 'tests/fuzz/run.sh "${DATALINE_FUZZ_SECONDS:-900}"'),
)


def selected(prefixes, long):
    """The parts of a run, in order; ValueError names a prefix that no part has."""
    for prefix in prefixes:
        if not any(part.chosen_by(prefix) for part in PARTS):
            raise ValueError(f"--only {prefix}: no part has this name; the parts are {', '.join(part.name for part in PARTS)}")
    return [part for part in PARTS if (long or not part.long) and (not prefixes or any(part.chosen_by(prefix) for prefix in prefixes))]
