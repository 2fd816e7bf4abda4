"""What a run prints and keeps: a line for each part, a table at the end, and rows of times.tsv.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import pathlib

COLUMNS = ("date", "commit", "machine", "part", "key", "compile s", "run s", "cpu s", "result")
MAX_ROWS = 3000  # of times.tsv; the oldest are dropped


@dataclasses.dataclass
class Result:
    """Of one part that ran."""

    name: str
    passed: int = 0
    failed: int = 0
    skips: list = dataclasses.field(default_factory=list)  # "test: reason"
    lines: list = dataclasses.field(default_factory=list)  # what is printed: failures, ends of logs
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    cpu_seconds: float = 0.0
    key: str = ""
    remark: str = ""

    @property
    def verdict(self):
        if self.failed:
            return "FAILED"
        return "passed" if self.passed else "skipped"

    def fail(self, *lines):
        self.failed += 1
        self.lines += lines
        return self

    def told(self):
        counts = f"{self.passed} passed, {self.failed} failed, {len(self.skips)} skipped"
        return [*(f"  {line}" for line in self.lines), *(f"  skipped {skip}" for skip in self.skips),
                f"  {self.name}: {counts}; compile {self.compile_seconds:.0f} s, run {self.run_seconds:.0f} s, CPU {self.cpu_seconds:.0f} s"
                + (f" ({self.remark})" if self.remark else "")]


def stored_lines(name, entry):
    """For a part that does not run again. Its skipped tests are repeated: they proved nothing."""
    return [f"{name}: same inputs passed {entry['when']} at {entry['commit']}", *(f"  skipped {skip}" for skip in entry["skips"])]


def summary(results, stored, wall, cores):
    """The table of the parts that ran, the count of those that did not, and the last line that others read."""
    lines = [f"== summary ({wall / 60:.1f} min on {cores} cores)"]
    if results:
        width = max(len(result.name) for result in results)
        lines.append(f"{'part':{width}}  compile s   run s   CPU s  result")
        lines += [f"{result.name:{width}}  {result.compile_seconds:9.0f} {result.run_seconds:7.0f} {result.cpu_seconds:7.0f}  {result.verdict}"
                  for result in results]
    if stored:
        tests = sum(entry["passed"] for _, entry in stored)
        skips = sum(len(entry["skips"]) for _, entry in stored)
        lines.append(f"{len(stored)} parts not run again, the same inputs passed before: {tests} tests, {skips} skipped in them (--fresh runs all)")
    passed, failed, skipped = (sum(counts) for counts in zip(*((r.passed, r.failed, len(r.skips)) for r in results))) if results else (0, 0, 0)
    return [*lines, f"{passed} passed, {failed} failed, {skipped} skipped"]


def add_times(path, rows):
    """Appends rows to a tab-separated file with a header. A file that cannot be written is no failure."""
    path = pathlib.Path(path)
    try:
        old = path.read_text(encoding="utf-8").splitlines()[1:]
    except OSError:
        old = []
    lines = [*old, *("\t".join(map(str, row)) for row in rows)][-MAX_ROWS:]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(path.name + ".new")
        temporary.write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError:
        pass


def rows(results, date, commit, machine):
    return [(date, commit, machine, result.name, result.key or "-", f"{result.compile_seconds:.1f}", f"{result.run_seconds:.1f}",
             f"{result.cpu_seconds:.1f}", result.verdict) for result in results]
