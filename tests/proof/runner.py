"""Runs the parts of the proof, except those whose inputs passed before on this machine: it reports when that was.

SPDX-License-Identifier: Apache-2.0
"""

import datetime
import os
import pathlib
import re
import threading

import keys
import process
import report
import skips
from builds import Builds
from inputs import Tree, git
from steps import Steps

LEFT_OUT = re.compile(r"^(?:left out: .*|skipped: .*)$", re.MULTILINE)
FAILED_TESTS = re.compile(r"\*\*\*(Failed|Timeout|Exception)")


def commit_of(root):
    """The commit of a checkout, and whether files differ from it. Rows of times are written by runs and do not count."""
    commit = (git(root, "rev-parse", "--short", "HEAD") or "no commit").strip()
    changed = [line for line in (git(root, "status", "--porcelain") or "").splitlines() if not line.endswith("tests/results/times.tsv")]
    return commit + (" with changes" if changed else "")


class Runner:
    """Runs parts in one checkout. `store` may be None: nothing is looked up or kept."""

    def __init__(self, root, store, long=False, fresh=False, seed=1, tell=print, environment=None):
        self.root, self.store, self.long, self.fresh, self.tell = pathlib.Path(root).resolve(), store, long, fresh, tell
        self.all_environment = dict(os.environ if environment is None else environment)
        self.logs = self.root / "build" / "test-logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.facts = keys.Facts(self.root)
        everything = keys.chosen_environment(keys.PASSED_ON + keys.COMPILING + keys.RUNNING, self.all_environment)
        self.builds = Builds(self.root, self.logs, everything, long, seed)
        self.steps = Steps(self.root, self.builds, self.logs, everything)
        self.results, self.stored = [], []
        self._beside = []  # (part, key, result) of parts that ran in a thread

    def tree(self):
        return Tree(self.root, self.all_environment.get("DATALINE_SHARED_DATA"))

    def key(self, part, tree):
        return keys.key_of(part, tree, self.facts, self.all_environment, self.long)

    def known(self, part, key):
        """The entry of a part that passed with these inputs; None if it has to run."""
        if part.always or self.store is None or self.fresh:
            return None
        return self.store.find(key)

    def run(self, parts):
        """Runs what has to; a part that fails does not stop the later ones."""
        tree, beside = self.tree(), []
        keyed = [(part, "" if part.always else self.key(part, tree)[0]) for part in parts]
        for part, key in keyed:
            beside = self._joined(beside, part)
            entry = self.known(part, key)
            if entry:
                self.stored.append((part.name, entry))
                for line in report.stored_lines(part.name, entry):
                    self.tell(line)
            elif part.beside and self._steps(part) is None:
                self.tell(f"== {part.name} (beside the next)")
                beside.append((part, threading.Thread(target=self._in_thread, args=(part, key))))
                beside[-1][1].start()
            else:
                self.tell(f"== {part.name}")
                self._finish(part, key, self.execute(part, tree))
        self._joined(beside, None)
        return not any(result.failed for result in self.results)

    def _joined(self, beside, part):
        """Waits for the parts in threads that may not run beside this one, and reports those that have ended. Returns the others."""
        going_on = [(other, thread) for other, thread in beside if part and any(part.chosen_by(prefix) for prefix in other.beside)]
        for other, thread in beside:
            if (other, thread) not in going_on:
                thread.join()
        while self._beside:
            self._finish(*self._beside.pop(0))
        return going_on

    def _in_thread(self, part, key):
        self._beside.append((part, key, self.execute(part, self.tree())))

    def _finish(self, part, key, result):
        """Reports a part. Stores it if it passed and its inputs did not change meanwhile."""
        result.key = key
        if self.store and key and not result.failed and (result.passed or result.skips):
            strange = skips.unknown(result.skips)
            if strange:
                result.remark = f"not stored: nothing in its key would show when this can run: {strange[0]}"
            elif self.key(part, self.tree())[0] != key:
                result.remark = "not stored: its inputs changed meanwhile"
            else:
                self.store.keep(key, {"part": part.name, "when": datetime.datetime.now().strftime("%Y-%m-%d %H:%M"), "commit": commit_of(self.root),
                                      "passed": result.passed, "skips": result.skips, "compile_seconds": round(result.compile_seconds, 1),
                                      "run_seconds": round(result.run_seconds, 1)})
        self.results.append(result)
        for line in result.told():
            self.tell(line)

    def environment(self, part):
        return keys.chosen_environment(keys.PASSED_ON + part.environment, self.all_environment)

    def _steps(self, part):
        """None if all that the part needs is there, else the failed command. 77: the part itself reports what it lacks."""
        for name in part.steps:
            done = self.steps.make(name)
            if done.status not in (0, 77):
                return done
        return None

    def execute(self, part, tree):
        result = report.Result(part.name)
        failed = self._steps(part)
        if failed:
            return result.fail(f"FAILED {part.name}: {failed.log.name} ended with {failed.status}; its end:", *failed.tail())
        return self._build(part, tree, result) if part.preset else self._script(part, result)

    def _build(self, part, tree, result):
        name = part.name.replace("/", "-")
        built, seconds, cpu = self.builds.build(part.preset, part.built(self.long), name)
        result.compile_seconds, result.cpu_seconds = seconds, cpu
        if built.status:
            return result.fail(f"FAILED {part.name}: {built.log.name} ended with {built.status}; its end:", *built.tail())
        undeclared = sorted(self.builds.files_read(part.preset, part.built(self.long)) - set(tree.chosen(part.inputs + part.assumes)))
        if undeclared:
            result.fail(f"FAILED {part.name}: its build reads files that tests/proof does not declare for it:", *undeclared[:20])
        labels = [part.labels] + ([(part.also,)] if part.also and not self.long else [])
        done, tests = self.builds.tests(part.preset, labels, part.without, name)
        result.run_seconds, result.cpu_seconds = done.wall, result.cpu_seconds + done.cpu
        result.passed = sum(verdict == "passed" for _, verdict, _ in tests)
        result.skips = [f"{test}: {why}" for test, verdict, why in tests if verdict == "skipped"]
        for test, verdict, _ in tests:
            if verdict == "failed":
                result.fail(f"FAILED {test}")
        if result.failed:
            result.lines += failures_of(done.log)
        elif not result.passed:
            result.fail(f"FAILED {part.name}: no test ran, see {done.log}")
        return result

    def _script(self, part, result):
        environment = {**self.builds.cache, **self.environment(part), **self.steps.library_environment()}
        log = self.logs / f"{part.name.replace('/', '-')}.log"
        done = process.run(part.words(self.long), log, environment, self.root, part.seconds)
        result.run_seconds, result.cpu_seconds = done.wall, done.cpu
        text = log.read_text(encoding="utf-8", errors="replace")
        counts = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", text, re.MULTILINE) if part.always else []
        if part.always:
            result.skips += re.findall(r"^skipped: (.*)$", text, re.MULTILINE)
        if done.status == 77:
            result.skips.append(f"{part.name}: {next((line for line in LEFT_OUT.findall(text)), 'no reason given')}")
        elif done.status:
            result.fail(f"FAILED {part.name}: {' '.join(part.words(self.long))} ended with {done.status}; the end of its log:", *done.tail())
        else:
            result.passed = int(counts[-1][0]) if counts else 1
            if not part.always:
                result.lines += sorted({line for line in LEFT_OUT.findall(text)})
        if self.long and part.results:
            self._keep_results(part, text)
        return result

    def _keep_results(self, part, text):
        kept = [line for line in text.splitlines() if re.search(part.kept, line)]
        path = self.root / "tests" / "results" / f"{datetime.date.today()}-{part.results}"
        path.write_text("\n".join(kept) + "\n", encoding="utf-8")


def failures_of(log, before=2, after=40, most=200):
    """The lines around each failure in a log of ctest."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    shown = set()
    for number, line in enumerate(lines):
        if FAILED_TESTS.search(line):
            shown.update(range(max(0, number - before), min(len(lines), number + after)))
    return [lines[number] for number in sorted(shown)[:most]]
