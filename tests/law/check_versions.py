"""The version has one place, CMakeLists.txt's project(VERSION); what else has to name it agrees: the header, each language's package,
the change log, the citation, and the commands that people copy from READMEs and the site.

  check_versions.py ROOT
  check_versions.py --self-test

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

import tree

NUMBER = r"(\d+\.\d+\.\d+)"
# What must be there, and say the version.
NAMED = {
    "bindings/julia/Project.toml": rf'^version = "{NUMBER}"',
    "bindings/python/pyproject.toml": rf'^version = "{NUMBER}"',
    "bindings/rust/dataline/Cargo.toml": rf'^version = "{NUMBER}"',
    "bindings/rust/dataline-burn/Cargo.toml": rf'^version = "{NUMBER}"',
    "bindings/rust/dataline-sys/Cargo.toml": rf'^version = "{NUMBER}"',
    "CITATION.cff": rf"^version: {NUMBER}",
}
# What may be there, in files of these names below bindings/.
MANIFESTS = {
    "Cargo.toml": rf'^dataline[\w-]* = {{ version = "{NUMBER}"',
    "vcpkg.json": rf'^  "version(?:-semver)?": "{NUMBER}"',
    "conanfile.py": rf'^    version = "{NUMBER}"',
    "build_tarballs.jl": rf'^version = v"{NUMBER}"',
}
# Names of artifacts, and the tag of a release.
COPIED = rf"(?:\b[Dd]ataline(?:\.jl)?[-/]|\bGIT_TAG v|/releases/download/v){NUMBER}(?![\w.]*\.\d)"
# The library as the system's linker knows it: the number is the ABI's, where it is not that of a file (libdataline.so.0.2.0).
SONAME = r"\blibdataline\.so\.(\d+)\b(?!\.\d)"


def stated(root):
    """(path, line, version) of every place."""
    places = [(pathlib.Path(path), pattern) for path, pattern in NAMED.items()]
    for path in tree.files(root, suffixes={".toml", ".json", ".py", ".jl"}, folders=("bindings",)):
        if path.name in MANIFESTS:
            places.append((path, MANIFESTS[path.name]))
    places += [(path, COPIED) for path in tree.files(root, suffixes={".md"}, folders=("bindings", "docs/pages", "capi"))]
    for path, pattern in places:
        if not pathlib.Path(root, path).exists():
            yield path, 0, None
            continue
        found = [(number, match[1]) for number, line in enumerate(tree.lines(root, path), 1) for match in re.finditer(pattern, line)]
        if not found and str(path) in NAMED and pattern == NAMED[str(path)]:
            yield path, 0, None
        for number, version in found:
            yield path, number, version


def sonames(root):
    """(path, line, ABI) of every place that names the library with a number."""
    places = tree.files(root, suffixes={".md", ".jl", ".py", ".sh", ".rs", ".go", ".cmake"}, folders=("bindings", "docs", "capi"))
    for path in places:
        for number, line in enumerate(tree.lines(root, path), 1):
            for match in re.finditer(SONAME, line):
                yield path, number, match[1]


def check(root):
    text = pathlib.Path(root, "CMakeLists.txt").read_text(encoding="utf-8")
    match = re.search(rf"^project\(dataline VERSION {NUMBER} ", text, re.M)
    if not match:
        return ["CMakeLists.txt: project(dataline VERSION ...) is not there"]
    wanted = match[1]
    found = []
    for path, line, version in stated(root):
        if version is None:
            found.append(f"{path}: names no version, expected {wanted}")
        elif version != wanted:
            found.append(f"{path}:{line}: version {version}, but CMakeLists.txt has {wanted}")
    header = pathlib.Path(root, "capi/dataline.h").read_text(encoding="utf-8")
    parts = [re.search(rf"^#define DL_VERSION_{part} +(\d+)", header, re.M) for part in ("MAJOR", "MINOR", "PATCH")]
    if ".".join(part[1] if part else "?" for part in parts) != wanted:
        found.append(f"capi/dataline.h: DL_VERSION_MAJOR, MINOR and PATCH are not {wanted}")
    abi = re.search(r"^#define DL_ABI_VERSION +(\d+)", header, re.M)
    if not abi:
        found.append("capi/dataline.h: DL_ABI_VERSION is not there")
    found += [f"{path}:{line}: libdataline.so.{number}, but the header's DL_ABI_VERSION is {abi[1]}" for path, line, number in sonames(root) if abi and number != abi[1]]
    if f"\n## {wanted} " not in pathlib.Path(root, "CHANGELOG.md").read_text(encoding="utf-8"):
        found.append(f"CHANGELOG.md: there is no heading '## {wanted} - DATE'")
    return found


def self_test():
    good = {
        "CMakeLists.txt": "project(dataline VERSION 1.2.3 LANGUAGES C)\n",
        "CHANGELOG.md": "# Changes\n\n## Unreleased\n\n## 1.2.3 - 2026-01-01\n\n## 1.2.2 - 2025-01-01\n",
        "CITATION.cff": "version: 1.2.3\n",
        "capi/dataline.h": "#define DL_VERSION_MAJOR 1\n#define DL_VERSION_MINOR 2\n#define DL_VERSION_PATCH 3\n#define DL_ABI_VERSION 4\n",
        "bindings/julia/Project.toml": 'name = "Dataline"\nversion = "1.2.3"\n[compat]\nOther = "4.5.6"\n',
        "bindings/python/pyproject.toml": '[project]\nversion = "1.2.3"\nrequires = ["other==9.9.9"]\n',
        "bindings/rust/dataline/Cargo.toml": 'version = "1.2.3"\ndataline-sys = { version = "1.2.3", path = "../dataline-sys" }\n',
        "bindings/rust/dataline-burn/Cargo.toml": 'version = "1.2.3"\n',
        "bindings/rust/dataline-sys/Cargo.toml": 'version = "1.2.3"\n',
        "bindings/cpp/README.md": "unpack dataline-1.2.3-linux-x86_64.tar.gz, CMake 3.22.1\n",
        "docs/pages/c.md": "GIT_TAG v1.2.3\n",
        "bindings/go/README.md": "`libdataline.so.4`, a file libdataline.so.1.0.0, tar xzf Dataline.jl-1.2.3.tar.gz\n",
    }

    def changed(path, old, new):
        return {**good, path: good[path].replace(old, new)}

    tree.expect(check, [
        ("all agree", good, 0),
        ("none in CMake", changed("CMakeLists.txt", "VERSION", "V"), 1),
        ("a new version in CMake alone", changed("CMakeLists.txt", "1.2.3", "1.3.0"), 12),
        ("a package", changed("bindings/python/pyproject.toml", "1.2.3", "1.2.2"), 1),
        ("a package without one", changed("bindings/julia/Project.toml", "version", "v"), 1),
        ("a package that is gone", {path: text for path, text in good.items() if "burn" not in path}, 1),
        ("what a crate needs", changed("bindings/rust/dataline/Cargo.toml", 'sys = { version = "1.2.3"', 'sys = { version = "1.2.2"'), 1),
        ("the header", changed("capi/dataline.h", "PATCH 3", "PATCH 4"), 1),
        ("the change log", changed("CHANGELOG.md", "1.2.3", "1.2.1"), 1),
        ("a command to copy", changed("docs/pages/c.md", "v1.2.3", "v1.2.2"), 1),
        ("an artifact's name", changed("bindings/cpp/README.md", "dataline-1.2.3", "dataline-1.1.0"), 1),
        ("a Julia package's name", changed("bindings/go/README.md", "jl-1.2.3", "jl-1.2.1"), 1),
        ("the ABI in the library's name", changed("bindings/go/README.md", "so.4", "so.3"), 1),
        ("a header without an ABI", changed("capi/dataline.h", "DL_ABI", "ABI"), 1),
        ("another manager's manifest", {**good, "bindings/cpp/packages/vcpkg/vcpkg.json": '{\n  "version": "1.0.0"\n}\n'}, 1),
    ])


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test()
    tree.report(check(sys.argv[1]), "versions")
