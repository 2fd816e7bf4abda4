"""The include law: base includes nothing of ours; memory includes base; source, order, transform, batch and
device include base and memory and never each other; loader includes all; write includes source; capi includes loader,
write and base; bindings and examples see only dataline.h. The shell also sees the headers in SHARED, which need the standard
library alone. Platform #ifdefs stay in the few places made for them.

One level deeper, a room's sub-folders have an order too: in transform each sees only the folders listed for it, and the
room's own files see all; in source a format's folder sees the files at the room's top and the formats listed for it; in
loader the room's own files see all, and its sub-folders none of them.

  check_includes.py ROOT          checks the tree
  check_includes.py --self-test   proves that it can fail

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

import tree

LOW = {"base", "memory"}
ROOMS = {
    "base": set(),
    "memory": {"base"},
    "source": LOW,
    "order": LOW,
    "transform": LOW,
    "batch": LOW,
    "device": LOW,
    "loader": LOW | {"source", "order", "transform", "batch", "device"},
    "write": LOW | {"source"},  # what source reads: URIs, arrays of the host, checksums, names in archives
}
CAPI_SEES = {"loader", "write", "base"}
SHARED = {"core/base/edit_distance.h"}

# Which sub-folders of a room each of its sub-folders may include; "." are the files at the room's top, which may include
# all. A sub-folder of transform or loader that is not listed is a finding; one of source that is not listed may include "." only.
TYPES = {"pixels", "elements"}
PASSES = TYPES | {"decode", "resample", "passes"}
TRANSFORM = {
    "pixels": set(),
    "elements": set(),
    "grammar": {"elements"},
    "decode": {"pixels"},
    "warp": {"pixels"},
    "color": {"pixels", "warp"},
    "mix": TYPES,
    "resample": TYPES,
    "passes": TYPES,
    "frame": PASSES,
    "plan": PASSES | {"frame", "mix"},
    "operators": PASSES | {"grammar", "warp", "color", "mix", "frame", "plan"},
}
SOURCE = {
    "composed": {"host"},  # indices that the host lends
    "arrays": {"composed", "npy"},  # zipped; Fortran order
    "npz": {"arrays", "npy"},
    "safetensors": {"arrays"},
    "folder": {"labels"},
    "documents": {"npy"},
    "packing": {"composed", "documents"},
    "tokens": {"documents", "packing"},
    "megatron": {"documents", "packing"},
    "arrow": {"packing"},
    "jsonl": {"documents"},
    "csv": set(),
    "labels": {"csv"},
    "shards": {"composed"},
    "mds": {"composed", "shards"},
    "litdata": {"arrow", "composed", "documents", "packing", "shards"},
    "image_sets": {"composed", "idx"},
}
LOADER = {"config": {"tuning"}, "cache": set(), "metrics": set(), "tuning": set()}
SUBFOLDERS = {"transform": (TRANSFORM, None), "source": (SOURCE, {"."}), "loader": (LOADER, None)}  # what is listed; what others may include

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
PLATFORM = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b(__linux__|__APPLE__|_WIN32|_MSC_VER|__unix__|__FreeBSD__)\b")
PLATFORM_HOMES = ("core/memory/", "core/base/thread", "core/device/cuda_driver")
ROOM_CALL = re.compile(r"dataline_room\s*\(\s*(\w+)([^)]*)\)", re.DOTALL)


def subfolder(parts):
    """The sub-folder of a file of core/<room>/...; "." at the room's top."""
    return parts[2] if len(parts) > 3 else "."


def fault_of_subfolder(room, folder, other):
    if room not in SUBFOLDERS or folder in (".", other):
        return None
    listed, default = SUBFOLDERS[room]
    allowed = listed.get(folder, default)
    if allowed is None:
        return f"{room}/{folder} has no place in the order of the sub-folders of {room}"
    if other in allowed or (default is not None and other in default):
        return None
    return f"{room}/{folder} may not include {room if other == '.' else f'{room}/{other}'}"


def fault_of_include(path, bracket, name, root):
    """What the law says against `path` including `name`; None when it is fine."""
    top = path.parts[0]
    target = name.split("/")
    if top in ("core", "capi"):
        if bracket == "<":
            return "our own headers are included with quotes" if target[0] in ("core", "capi") else None
        if target[0] not in ("core", "capi"):  # somebody else's header, or ours without its room
            ours = pathlib.Path(root, path).parent.joinpath(name).is_file()
            return f'"{name}" is not written from the root ("core/room/file.h")' if ours else None
        if not pathlib.Path(root, name).is_file():
            return f'"{name}" does not exist'
        if top == "capi":
            seen = target[0] == "capi" or target[1] in CAPI_SEES
            return None if seen else f"capi may not include room {target[1]}"
        if target[0] == "capi":
            return "core may not include capi"
        if path.as_posix() in SHARED:
            return "the shell includes this header too: it may include the standard library alone"
        room, other = path.parts[1], target[1]
        if room == other:
            return fault_of_subfolder(room, subfolder(path.parts), subfolder(target))
        if other in ROOMS.get(room, set()):
            return None
        return f"room {room} may not include room {other}"
    if top in ("bindings", "examples"):
        if target[-1] in ("dataline.h", "dataline.hpp") or bracket == "<":
            return f"<{name}> is the library's inside" if target[0] == "core" else None
        if path.parts[:2] == ("bindings", "cli") and name in SHARED:
            return None
        near = pathlib.Path(root, path).parent / name
        own = "/".join(path.parts[:2]) + "/"
        if near.is_file() or (name.startswith(own) and pathlib.Path(root, name).is_file()):
            inside = pathlib.Path(root, own).resolve() if top == "bindings" else pathlib.Path(root, top).resolve()
            place = near if near.is_file() else pathlib.Path(root, name)
            return None if inside in place.resolve().parents else f'"{name}" leaves its own folder'
        return f'"{name}": {top} see only dataline.h and their own files'
    return None


def circles():
    """Sub-folders that reach themselves: the lists above allow no circle."""
    found = []
    for room, (listed, _) in SUBFOLDERS.items():
        for folder in sorted(listed):
            reached, todo = set(), [folder]
            while todo:
                for other in listed.get(todo.pop(), set()) - reached:
                    reached.add(other)
                    todo.append(other)
            if folder in reached:
                found.append(f"the order of the sub-folders of {room} is a circle at {folder}")
    return found


def check(root):
    found = circles()
    for path in tree.files(root):
        text = tree.lines(root, path)
        for number, line in enumerate(text, 1):
            include = INCLUDE.match(line)
            if include:
                fault = fault_of_include(path, include.group(1), include.group(2), root)
                if fault:
                    found.append(f"{path}:{number}: {fault}")
            platform = PLATFORM.match(line)
            if platform and path.parts[0] == "core" and not str(path).startswith(PLATFORM_HOMES):
                found.append(f"{path}:{number}: platform #ifdef {platform.group(1)} outside {', '.join(PLATFORM_HOMES)}")
        if path.parts[0] == "core" and path.suffix == ".h" and "#pragma once" not in text:
            found.append(f"{path}:1: no #pragma once")
    for room, allowed in ROOMS.items():
        script = pathlib.Path(root, "core", room, "CMakeLists.txt")
        if not script.is_file():
            continue
        for call in ROOM_CALL.finditer(script.read_text(encoding="utf-8")):
            words = re.split(r"\bDEPENDS\b", call.group(2))
            depends = re.split(r"\b(?:SOURCES|LIBRARIES)\b", words[1])[0].split() if len(words) > 1 else []
            for other in sorted(set(depends) - allowed):
                found.append(f"core/{room}/CMakeLists.txt: room {room} may not depend on room {other}")
    return found


BASE = {"core/base/status.h": "#pragma once\n", "core/order/order.h": '#pragma once\n#include "core/base/status.h"\n',
        "core/source/source.h": "#pragma once\n", "capi/dataline.h": "#include <stdint.h>\n"}
FOLDERS = {**BASE, "core/transform/t.h": '#pragma once\n#include "core/transform/frame/p.h"\n',
           "core/transform/pixels/f.h": "#pragma once\n",
           "core/transform/decode/d.h": '#pragma once\n#include "core/transform/pixels/f.h"\n',
           "core/transform/frame/p.h": '#pragma once\n#include "core/transform/decode/d.h"\n',
           "core/loader/loader.h": '#pragma once\n#include "core/loader/metrics/m.h"\n',
           "core/loader/metrics/m.h": '#pragma once\n#include "core/source/source.h"\n',
           "core/source/npy/n.h": '#pragma once\n#include "core/source/source.h"\n'}
SELF_TEST = [
    ("a lawful tree", BASE, 0),
    ("lawful sub-folders", FOLDERS, 0),
    ("siblings meet", {**BASE, "core/source/a.cpp": '#include "core/order/order.h"\n'}, 1),
    ("base looks up", {**BASE, "core/base/b.cpp": '#include "core/order/order.h"\n'}, 1),
    ("core knows capi", {**BASE, "core/loader/l.cpp": '#include "capi/dataline.h"\n'}, 1),
    ("capi goes past the loader", {**BASE, "capi/loader.cpp": '#include "core/source/source.h"\n'}, 1),
    ("an include that is not from the root", {**BASE, "core/order/o.cpp": '#include "order.h"\n'}, 1),
    ("an include of nothing", {**BASE, "core/order/o.cpp": '#include "core/base/gone.h"\n'}, 1),
    ("a binding looks inside", {**BASE, "bindings/cli/m.cpp": '#include "core/base/status.h"\n'}, 1),
    ("the shell with a shared header", {**BASE, "bindings/cli/m.cpp": '#include "core/base/edit_distance.h"\n', "core/base/edit_distance.h": "#pragma once\n"}, 0),
    ("another binding with it", {**BASE, "bindings/cpp/m.cpp": '#include "core/base/edit_distance.h"\n', "core/base/edit_distance.h": "#pragma once\n"}, 1),
    ("a shared header that needs ours", {**BASE, "core/base/edit_distance.h": '#pragma once\n#include "core/base/status.h"\n'}, 1),
    ("a binding with its own header", {**BASE, "bindings/cli/m.cpp": '#include "dataline.h"\n#include "bindings/cli/w.h"\n',
                                       "bindings/cli/w.h": ""}, 0),
    ("a binding in another's folder", {**BASE, "bindings/cli/m.cpp": '#include "../go/w.h"\n', "bindings/go/w.h": ""}, 1),
    ("an example looks inside", {**BASE, "examples/c/m.c": '#include "../../core/base/status.h"\n'}, 1),
    ("a platform in the wrong room", {**BASE, "core/order/o.cpp": "#ifdef __linux__\n#endif\n"}, 1),
    ("a platform where it belongs", {**BASE, "core/memory/p.cpp": "#ifdef __linux__\n#endif\n"}, 0),
    ("a header without a guard", {**BASE, "core/batch/b.h": "\n"}, 1),
    ("a type looks up", {**FOLDERS, "core/transform/pixels/f.cpp": '#include "core/transform/decode/d.h"\n'}, 1),
    ("the decoder knows the pass", {**FOLDERS, "core/transform/decode/d.cpp": '#include "core/transform/frame/p.h"\n'}, 1),
    ("a folder knows the room's face", {**FOLDERS, "core/transform/decode/d.cpp": '#include "core/transform/t.h"\n'}, 1),
    ("a folder without a place", {**FOLDERS, "core/transform/new/n.cpp": '#include "core/transform/pixels/f.h"\n'}, 1),
    ("a format with the room's top", {**FOLDERS, "core/source/npy/n.cpp": '#include "core/source/source.h"\n'}, 0),
    ("a format looks into another", {**FOLDERS, "core/source/tar/t.cpp": '#include "core/source/npy/n.h"\n'}, 1),
    ("the room's top knows the formats", {**FOLDERS, "core/source/f.cpp": '#include "core/source/npy/n.h"\n'}, 0),
    ("the metrics know the loader", {**FOLDERS, "core/loader/metrics/m.cpp": '#include "core/loader/loader.h"\n'}, 1),
    ("the cache knows the metrics", {**FOLDERS, "core/loader/cache/c.cpp": '#include "core/loader/metrics/m.h"\n'}, 1),
    ("CMake breaks the law", {**BASE, "core/order/CMakeLists.txt": "dataline_room(order SOURCES o.cpp DEPENDS base source)"}, 1),
]

if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        tree.expect(check, SELF_TEST)
    tree.report(check(sys.argv[1]), "include law")
