"""The CMake builds of the proof: configure a preset, build targets, run tests by label, list the files that a build read.

This file is in the key of every part that compiles: its flags decide what is tested.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shutil
import subprocess
import sys

import process

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import count_results  # noqa: E402

COMPILER_CACHE = {
    "CCACHE_DEPEND": "1",  # the compiler reports what it read: nothing is preprocessed first
    "CCACHE_NOHASHDIR": "1",  # build folders share objects with debug information
    "CCACHE_SLOPPINESS": "pch_defines,time_macros,locale",  # else ccache caches nothing that uses a precompiled header
    "CCACHE_IGNOREOPTIONS": "-Werror",  # the same object with and without
}


class Builds:
    """The builds of one run. `environment` is what commands are passed besides the compiler cache's settings."""

    def __init__(self, root, logs, environment, long=False, seed=1):
        self.root, self.logs, self.long = pathlib.Path(root), pathlib.Path(logs), long
        self.cache = {"CCACHE_BASEDIR": str(self.root), **COMPILER_CACHE}
        caches = environment.get("XDG_CACHE_HOME") or str(pathlib.Path(environment.get("HOME", "/"), ".cache"))
        self.environment = {**self.cache, "DATALINE_KERNEL_CACHE": f"{caches}/dataline/kernels", **environment}
        self.jobs = os.cpu_count() or 2
        self.properties = f"seed={seed} max_success=2000" if long else "seed=1"
        self._configured = {}

    def _kernels(self, preset):
        """Kernels for one generation of GPUs everyday, where only their twins run. Compiled once: all builds use what the first kept."""
        done = subprocess.run(["bash", "core/device/kernels/toolkit.sh", "--no-install"], cwd=self.root, env=self.environment, capture_output=True,
                              text=True, check=False)
        if done.returncode or not done.stdout.strip():
            return []
        found = [f"-DDATALINE_NVCC={done.stdout.strip()}", "-DDATALINE_KERNELS="]
        return found if preset == "release" and self.long else [*found, "-DDATALINE_CUDA_ARCHITECTURES=90"]

    def flags(self, preset):
        """Warnings are errors. What others may have switched off in a shared build folder is requested by name."""
        launcher = "ccache" if shutil.which("ccache") else ""
        # Many files at a time take a third of the time, and whole programs a tenth less; with --long each file of the
        # release build includes what it uses, and each case shows that it needs no other before it.
        together = "OFF" if preset == "release" and self.long else "ON"
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []  # programs alone: a quarter of the time
        # What the address sanitizer finds as well, when the program runs into it: a third of the time to compile.
        less = ["-DDATALINE_SANITIZE_EXCEPT=" + ("" if self.long else "null,object-size")] if preset == "asan" else []
        return ["-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", f"-DDATALINE_RAPIDCHECK={self.properties}", "-DDATALINE_TESTS=ON",
                f"-DDATALINE_BENCH={'ON' if preset == 'release' else 'OFF'}", "-DDATALINE_CLI=ON", "-DDATALINE_TESTS_REQUIRED=ON",
                f"-DDATALINE_WHOLE_PROGRAMS={together}", f"-DDATALINE_UNITY={together}", *less, *linker, *self._kernels(preset),
                f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"]

    def _run(self, words, name, seconds=5400, **more):
        return process.run(words, self.logs / f"{name}.log", {**self.environment, **more}, self.root, seconds)

    def configure(self, preset):
        if preset not in self._configured:
            self._configured[preset] = self._run(["cmake", "--preset", preset, *self.flags(preset)], f"{preset}-configure")
        return self._configured[preset]

    def build(self, preset, targets, name):
        """Configures once, then builds. Returns the command that failed, or the last one, and the seconds and CPU seconds of both."""
        first = preset not in self._configured
        done = self.configure(preset)
        seconds, cpu = (done.wall, done.cpu) if first else (0.0, 0.0)
        if done.status or not targets:
            return done, seconds, cpu
        done = self._run(["cmake", "--build", "--preset", preset, "-j", str(self.jobs), "--target", *targets], f"{name}-build")
        return done, seconds + done.wall, cpu + done.cpu

    def targets(self, preset):
        """The names of a configured build's targets."""
        told = subprocess.run(["ninja", "-C", f"build/{preset}", "-t", "targets", "all"], cwd=self.root, capture_output=True, text=True, check=False)
        return {line.partition(":")[0] for line in told.stdout.splitlines()}

    def _deps(self, preset):
        """{object: files that its compiler read}, as ninja recorded them."""
        told = subprocess.run(["ninja", "-C", f"build/{preset}", "-t", "deps"], cwd=self.root, capture_output=True, text=True, check=False)
        found, files = {}, []
        for line in told.stdout.splitlines():
            if line and not line.startswith(" "):
                files = found.setdefault(line.partition(":")[0], [])
            elif line.strip():
                files.append(line.strip())
        return found

    def files_read(self, preset, targets):
        """The files of the repository that the targets are built from, headers included."""
        told = subprocess.run(["ninja", "-C", f"build/{preset}", "-t", "inputs", *targets], cwd=self.root, capture_output=True, text=True,
                              check=True)
        inputs = {line for line in told.stdout.splitlines() if line and not line.startswith("ninja:")}
        deps = self._deps(preset)
        names = inputs.union(*(deps.get(name, ()) for name in inputs))
        place = self.root / "build" / preset
        paths = {os.path.normpath(os.path.join(place, name)) for name in names}
        inside = {os.path.relpath(path, self.root) for path in paths if path.startswith(f"{self.root}/")}
        return {name for name in inside if not name.startswith("build/") and (self.root / name).is_file()}

    def tests(self, preset, labels, without, name):
        """Runs the tests that have one label of each group. Returns (Done, [(test, verdict, reason)])."""
        results = self.logs / f"{name}.xml"
        told = self.root / "build" / preset / "tests" / "told"
        shutil.rmtree(told, ignore_errors=True)
        results.unlink(missing_ok=True)
        words = ["ctest", "--preset", preset, "-j", str(self.jobs + 1), "--output-junit", str(results)]
        for group in labels:
            words += ["-L", f"^({'|'.join(group)})$"]
        if without:
            words += ["-LE", f"^({'|'.join(without)})$"]
        if self.long:
            words += ["-C", "long"]
        # The thread sanitizer needs addresses as they were laid out before kernels randomised 32 bits of them.
        if preset == "tsan" and shutil.which("setarch") and subprocess.run(["setarch", "-R", "true"], check=False).returncode == 0:
            words = ["setarch", "-R", *words]
        more = {"DATALINE_EVERY_CALL": "1"} if self.long else {}
        done = self._run(words, name, 12 * 3600 if self.long else 3600, **more)
        return done, count_results.read(results, told) if results.is_file() else []
