"""The parts that are folders of C++ tests: what each folder's programs link and read, and the builds that run it.

Rooms come from the include law's table (tests/law/check_includes.py): a test depends on the rooms that it links, and on all
that these may include. After a build, ninja's record of the files that the compilers read is compared with what is
declared here (runner.py), so a forgotten file fails its part.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import pathlib
import sys

from part import Part

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "law"))
import check_includes  # noqa: E402

BUILD = ("CMakeLists.txt", "CMakePresets.json", "core/CMakeLists.txt", "core/cmake", "tests/CMakeLists.txt", "tests/support",
         "!tests/support/fake_cuda")
CAPI = ("capi", "!capi/*.md", "!capi/api", "!capi/abi")
SHELL = ("bindings/cli", "!bindings/cli/README.md")
CPP = ("bindings/cpp/CMakeLists.txt", "bindings/cpp/cmake", "bindings/cpp/include")
AUDIO = ("plugins/CMakeLists.txt", "plugins/plugin.h", "plugins/audio", "!plugins/*.md", "plugins/parquet/CMakeLists.txt")
FAKE = ("tests/support/fake_cuda",)
PURE = ("source", "order", "transform", "write")  # rooms that start no thread and share nothing that changes


def closure(*rooms):
    """The rooms, and all that they may include."""
    found, todo = set(), list(rooms)
    while todo:
        room = todo.pop()
        if room not in found:
            found.add(room)
            todo += check_includes.ROOMS[room]
    return found


def rooms(*names, kind="", of=()):
    """Patterns for the rooms and what they may include. `kind`: that of the patterns for the rooms `of`."""
    found = []
    for room in sorted(closure(*names)):
        found += [f"{kind if room in of else ''}core/{room}", f"!core/{room}/*.md"]
    return tuple(found)


def library(kind="", of=()):
    """The library: the C interface, the rooms that it sees, and what these may include."""
    return rooms(*check_includes.CAPI_SEES, kind=kind, of=of) + CAPI


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder of tests. `links`: a room, or "library". `reads`: what else its programs are built from or open."""

    name: str
    links: str = "library"
    reads: tuple = ()
    targets: tuple = ()  # besides tests_<name>
    path: str = ""  # under tests/, if it is not the name
    gate: bool = False  # tests of code outside the library, which they assume: its content counts with --long alone
    without: tuple = ()  # a label of tests that are another part
    light: tuple = ()  # rooms of which headers and what mentions threads count, as for ThreadSanitizer

    def linked(self, preset):
        of = PURE if preset in ("tsan", "interleave") else self.light
        if self.links == "library":
            return library("threads:", of)
        return rooms(self.links, kind="threads:", of=of) + ("capi/dataline.h",)  # core/base has its numbers

    def everything(self):
        """All that is linked, by content: what counts with --long."""
        return library() if self.links == "library" else rooms(self.links)

    def patterns(self, preset):
        linked = library("names:", ROOMS) if self.gate else self.linked(preset)
        return BUILD + linked + self.reads + (f"tests/{self.path or self.name}", "!tests/*.md")


PROGRAM = SHELL + ("capi/exports.map",)
HOST = ("capi/*.in", "capi/dataline.h", "capi/CMakeLists.txt", "capi/exports.map", "core/*/CMakeLists.txt")
TEMPORARY = ("tests/memory/*.h", "tests/conformance/files.h")
IMAGES = ("tests/transform/decode/*.h", "tests/transform/decode/golden_images.txt")
FOLDERS = {folder.name: folder for folder in (
    Folder("base", "base"),
    Folder("memory", "memory"),
    Folder("source", "source", reads=("data:mnist", "data:text")),
    Folder("order", "order"),
    Folder("transform", "transform", reads=("data:imagenet-sample", "bench/peers")),
    Folder("batch", "batch"),
    Folder("device", light=("source", "order", "write"),
           reads=FAKE + TEMPORARY + IMAGES + ("tests/loader/*.h", "tests/transform/support", "tests/transform/CMakeLists.txt")),
    Folder("loader", reads=IMAGES),
    Folder("write", reads=TEMPORARY + ("tests/capi/host_data.h",)),
    Folder("capi", reads=FAKE + TEMPORARY + ("tests/source/*.h",)),
    Folder("conformance", reads=TEMPORARY),
    Folder("faults", reads=PROGRAM + TEMPORARY + IMAGES + ("tests/loader/*.h", "tests/source/*.h")),
    Folder("law", reads=CPP + PROGRAM + ("capi", "bindings/*"), targets=("dataline_shared", "dataline_static")),
    Folder("cli", targets=("dataline-audio", "fake_cuda"),
           reads=PROGRAM + AUDIO + IMAGES + FAKE + ("tests/extensions", "tests/fuzz/*.py", "docs/pages/gpu-waits.md", "docs/pages/reference/order.md",
                                                    "data:mnist", "data:text", "data:imagenet-sample", "bench/peers")),
    Folder("cpp", reads=PROGRAM + CPP + FAKE + TEMPORARY + ("tests/extensions",), without=("headers",)),
    Folder("languages", reads=PROGRAM + CPP + ("examples", "tests/cpp", "tests/extensions"),
           targets=("dataline_cli", "example_chain", "example_chain_cpp", "cpp_reader", "loops_c", "loops_cpp")),
    Folder("extensions", reads=("plugins/plugin.h", "plugins/parquet/*.h")),
    Folder("metrics", reads=PROGRAM + ("docs/observability",)),
    Folder("kept", path="capi/kept", reads=TEMPORARY + ("tests/capi", "tests/extensions", "tests/source/*.h", "capi/api.json", "capi/abi")),
    Folder("fuzz-source", "source", path="fuzz"),
    Folder("fuzz-transform", "transform", path="fuzz", reads=IMAGES + ("core/source/source.h",)),
    Folder("fuzz-library", path="fuzz", reads=AUDIO + IMAGES),
    # Of code that uses the library as any host does.
    Folder("headers", path="cpp", gate=True, reads=HOST + CPP + ("README.md", "bindings/cpp/README.md", "tests/capi/packaging"),
           targets=("dataline_shared",)),
    Folder("packaging", path="capi/packaging", gate=True, reads=HOST + PROGRAM + CPP + AUDIO + ("LICENSE", "bindings/cpp/README.md"),
           targets=("dataline_shared", "dataline_static", "dataline_cli", "dataline_share", "dataline-audio"), without=("headers",)),
    Folder("examples", gate=True, reads=HOST + PROGRAM + CPP + ("examples", "data:mnist"), targets=("examples",)),
    Folder("loader-threads", "loader", path="interleave"),
)}

# Which build runs which folders. Arithmetic, parsers and grammars run under AddressSanitizer and UBSan; the release build keeps
# what depends on optimisation or stands in for what a sanitizer replaces (label `release`), and what users run; threads run
# under ThreadSanitizer and in the search of interleavings. --long runs all in all.
MARKED = ("base", "memory", "source", "order", "transform", "device", "loader", "faults")  # release: tests with the label `release`
USED = ("law", "conformance", "capi", "cpp", "headers", "extensions", "kept", "metrics", "languages", "packaging", "examples", "cli")
FUZZ = ("fuzz-source", "fuzz-transform", "fuzz-library")
ROOMS = ("base", "memory", "source", "order", "transform", "batch", "device", "loader", "write")
EVERYDAY = {
    "asan": (*ROOMS, "capi", "faults", *FUZZ),
    "tsan": ("base", "batch", "device", "loader", "write"),
    "interleave": ("loader-threads",),
    "release": (*MARKED, *USED),
}
LONG = {"release": ("batch", "write", *FUZZ), "asan": ("extensions", "kept"),
        "tsan": ("memory", "source", "order", "transform", "capi", "extensions", "faults")}


def part(preset, name, long):
    folder = FOLDERS[name]
    label = {"loader-threads": "interleave"}.get(name, name.replace("-", "_"))
    marked = preset == "release" and name in MARKED
    targets = {"headers": ()}.get(name, (f"tests_{label}",)) + folder.targets
    return Part(name=f"{preset}/{name.removesuffix('-threads')}", inputs=folder.patterns(preset), assumes=folder.everything(),
                preset=preset, targets=targets, labels=(label,), also="release" if marked else "", without=folder.without, long=long,
                steps=("peers",) if name == "cli" else ())


def parts():
    everyday = [part(preset, name, False) for preset, names in EVERYDAY.items() for name in names]
    return everyday + [part(preset, name, True) for preset, names in LONG.items() for name in names]
