"""What the tests of the proof share: small trees, and a runner on them.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

import inputs
import runner
import store
from part import Part

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "XDG_CACHE_HOME": "/nonexistent"}


def write(root, files):
    for name, text in files.items():
        path = pathlib.Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class TreeCase(unittest.TestCase):
    """Each test has a folder with a repository `root`, and a store beside it."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="dataline-proof.")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.root = self.folder / "tree"
        self.root.mkdir()
        write(self.root, {".gitignore": "build/\n", "tests/setup.sh": 'needed=""\noptional=""\n', "tests/proof/steps.py": "",
                          "tests/proof/builds.py": ""})
        subprocess.run(["git", "init", "-q", str(self.root)], check=True, capture_output=True)
        self.store = store.Store(self.folder / "store")
        self.told = []

    def tree(self, root=None):
        return inputs.Tree(root or self.root, self.folder / "data")

    def runner(self, environment=None, root=None, **more):
        return runner.Runner(root or self.root, more.pop("store", self.store), tell=self.told.append,
                             environment={**ENVIRONMENT, **(environment or {})}, **more)

    def script(self, text, name="part", **more):
        """A part that runs a line of bash. It leaves a mark for each run."""
        mark = f"echo ran >>{self.folder}/{name}.ran; "
        return Part(name, command=("bash", "-c", mark + text), tools=(), **{"inputs": ("input",), **more})

    def runs(self, name="part"):
        mark = self.folder / f"{name}.ran"
        return len(mark.read_text(encoding="utf-8").splitlines()) if mark.exists() else 0
