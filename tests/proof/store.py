"""What passed on this machine: one small file for each key, in ${XDG_CACHE_HOME:-~/.cache}/dataline-tests/everyday or long.

Runs at the same time share the store: an entry is written under a temporary name and renamed. An entry that cannot be read
counts as absent. The oldest entries are removed when there are too many.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import tempfile

MAX_ENTRIES = 4000
MAX_BYTES = 20_000_000
MUST_HAVE = {"part": str, "when": str, "commit": str, "passed": int, "skips": list}


def default_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "dataline-tests"


class Store:
    def __init__(self, folder, max_entries=MAX_ENTRIES, max_bytes=MAX_BYTES):
        self.folder = pathlib.Path(folder)
        self.max_entries = max_entries
        self.max_bytes = max_bytes

    def _path(self, key):
        return self.folder / f"{key}.json"

    def find(self, key):
        """The entry of a key; None if there is none that can be read. Use makes an entry young."""
        path = self._path(key)
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(entry, dict) or any(not isinstance(entry.get(name), kind) for name, kind in MUST_HAVE.items()):
            return None
        try:
            os.utime(path)
        except OSError:
            pass  # removed by another run, or a store that cannot be written: the entry still holds
        return entry

    def keep(self, key, entry):
        """Stores a part that passed. A store that cannot be written is no failure: the part runs again."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".new")
        except OSError:
            return
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(entry, out, indent=1)
            os.replace(temporary, self._path(key))
        except OSError:
            pathlib.Path(temporary).unlink(missing_ok=True)
        self._bound()

    def _bound(self):
        """Removes the entries used longest ago until the rest fits. Leftovers of killed runs age like entries."""
        found = []
        for path in self.folder.iterdir():
            try:
                status = path.stat()
            except OSError:
                continue  # another run was faster
            found.append((status.st_mtime_ns, status.st_size, path))
        total, count = sum(size for _, size, _ in found), len(found)
        for _, size, path in sorted(found):
            if count <= self.max_entries and total <= self.max_bytes:
                return
            try:
                path.unlink()
            except OSError:
                pass
            total, count = total - size, count - 1
