"""The files that a part of the proof depends on: patterns, and the digest of what matches them.

A pattern is a path of the repository, of a file or of a folder, or has a `*`, which matches any text, slashes too. The last
pattern that matches a file decides:
  path            the file's content counts
  names:path      only that the file exists counts
  threads:path    headers count, and sources that mention threads; of other sources only that they exist
  !path           the file does not count
  data:path       a file or folder under the folder of real data sets, beside the repository

SPDX-License-Identifier: Apache-2.0
"""

import bisect
import fnmatch
import hashlib
import os
import pathlib
import re
import subprocess

UNTRACKED = {"build", "target", "node_modules", "__pycache__", ".venv", ".git"}  # skipped where git cannot list the files
THREADS = re.compile(rb"thread|atomic|mutex|\bmutable\b|call_once")
KINDS = ("names", "threads", "data")


def git(root, *words):
    """What git prints about the checkout; None where there is no git, or no checkout."""
    try:
        done = subprocess.run(["git", "-C", str(root), "-c", f"safe.directory={root}", *words], capture_output=True, check=False)
    except OSError:
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None


def listed(root):
    """Paths of all files, tracked or new, that git does not ignore; without git, all but what builds leave behind."""
    told = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if told is not None:
        names = {name for name in told.split("\0") if name}
    else:
        names = set()
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in UNTRACKED]
            names.update(os.path.relpath(os.path.join(folder, name), root) for name in files)
    return sorted(name for name in names if os.path.lexists(os.path.join(root, name)))


def content(path):
    """A digest of a file: its type, whether it is executable, and its bytes or its link's target."""
    if os.path.islink(path):
        return "link " + os.readlink(path)
    if not os.path.isfile(path):
        return "other"
    kind = "program" if os.access(path, os.X_OK) else "file"
    return kind + " " + hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Pattern:
    def __init__(self, text):
        self.drops = text.startswith("!")
        text = text.removeprefix("!")
        kind, colon, rest = text.partition(":")
        self.kind = kind if colon and kind in KINDS else "content"
        self.path = rest if self.kind != "content" else text

    def among(self, names):
        """Those of the sorted names that the pattern matches."""
        if "*" in self.path:
            return fnmatch.filter(names, self.path)
        here = bisect.bisect_left(names, self.path)
        first, end = bisect.bisect_left(names, self.path + "/"), bisect.bisect_left(names, self.path + "0")  # the character after "/"
        return names[here:here + 1 if names[here:here + 1] == [self.path] else here] + names[first:end]


class Tree:
    """A checkout's files. Their digests are computed once."""

    def __init__(self, root, data=None):
        self.root = pathlib.Path(root).resolve()
        self.data = pathlib.Path(data) if data else self.root.parent / "shared" / "data"
        self.names = listed(self.root)
        self._digests = {}
        self._matched = {}

    def chosen(self, patterns):
        """{name: "content" or "names"} of the repository's files that the patterns choose."""
        found = {}
        for text in patterns:
            pattern = Pattern(text)
            if pattern.kind == "data":
                continue
            if pattern.path not in self._matched:
                self._matched[pattern.path] = pattern.among(self.names)
            for name in self._matched[pattern.path]:
                if pattern.drops:
                    found.pop(name, None)
                else:
                    found[name] = pattern.kind
        return {name: self._way(kind, name) for name, kind in sorted(found.items())}

    def _way(self, kind, name):
        if kind != "threads":
            return kind
        if not name.endswith((".cpp", ".c")) or THREADS.search((self.root / name).read_bytes()):
            return "content"
        return "names"

    def digest(self, patterns):
        """One line per file, hashed. It does not depend on where the checkout is."""
        lines = []
        for name, way in self.chosen(patterns).items():
            lines.append(f"{name}\0{self._content(self.root / name) if way == 'content' else 'exists'}")
        for pattern in map(Pattern, patterns):
            if pattern.kind == "data":
                lines += self._data_lines(pattern.path)
        return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()

    def _content(self, path):
        if path not in self._digests:
            self._digests[path] = content(path)
        return self._digests[path]

    def _data_lines(self, path):
        top = self.data / path
        if not top.exists():
            return [f"data:{path}\0absent"]
        files = [top] if top.is_file() else sorted(file for file in top.rglob("*") if not file.is_dir())
        return [f"data:{file.relative_to(self.data)}\0{self._content(file)}" for file in files]
