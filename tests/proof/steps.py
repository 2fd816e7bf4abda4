"""What parts need before they run, made once in a run: the library for its hosts, toolchains of languages, packages.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib

import process

# What the gates and the scripts use of the release build. Programs in C++ on LibTorch are built with release/examples.
LIBRARY = ("dataline_shared", "dataline_static", "dataline_cli", "dataline_share", "fake_cuda", "dataline-samples", "dataline-bad_abi",
           "dataline-no_entry", "loops_c", "loops_cpp", "examples_c", "examples_cpp")
OPTIONAL = ("dataline-audio", "dataline-parquet")  # where their libraries are installed
LANGUAGES = ("rust", "go", "julia", "python")


class Steps:
    def __init__(self, root, builds, logs, environment):
        self.root, self.builds, self.logs, self.environment = pathlib.Path(root), builds, pathlib.Path(logs), environment
        self.done = {}
        self.seconds = {}  # of those made in this run, for the report

    def library_environment(self):
        """Where hosts find the library, as every script is passed it."""
        release = self.root / "build" / "release"
        found = {"DATALINE_LIB_DIR": str(release / "lib"), "DATALINE_BIN": str(release / "bin" / "dataline"),
                 "CARGO_TARGET_DIR": str(self.root / "build" / "cargo")}
        mnist = pathlib.Path(self.environment.get("DATALINE_MNIST") or self.root.parent / "shared" / "data" / "mnist")
        if mnist.is_dir():
            found["DATALINE_MNIST"] = str(mnist)
        return found

    def make(self, name):
        """Makes a step once. Returns what ran last; status 77: it cannot be had here, which the part itself reports."""
        if name not in self.done:
            self.done[name] = self._make(name)
        return self.done[name]

    def _make(self, name):
        if name == "configured":
            return self.builds.configure("release")
        if name == "library":
            done = self.builds.configure("release")
            if done.status:
                return done
            known = self.builds.targets("release")
            return self.builds.build("release", [*LIBRARY, *(target for target in OPTIONAL if target in known)], "release-library")[0]
        if name == "interleave":
            return self.builds.build("interleave", ["tests_interleave"], "interleave")[0]
        if name == "peers":  # oracles of tests of the shell; without them those tests skip, and say so
            if self.builds.long:
                self._script("peers", "bench/peers/setup.sh", "torch", "streaming", "litdata", "tf")
            return self.make("configured")
        done = self._script(f"setup-{name}", f"bindings/{name}/setup.sh")
        if name == "python" and done.status == 0:
            # The gate's environment gets this checkout's package: launchers, pages and the job across languages use it.
            self.make("library")
            return self._script("python-package", "bindings/python/wheel.sh")
        return done

    def _script(self, name, *words):
        return process.run(words, self.logs / f"{name}.log", {**self.environment, **self.library_environment()}, self.root)

