"""What a part of the proof is: parts.py has the table of them.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses

import keys


@dataclasses.dataclass(frozen=True)
class Part:
    """One part. `inputs` are patterns (inputs.py): what they match is in the key.

    `assumes`: files that the part reads too, but that count with --long alone: another part of the everyday proof answers for
    them. README.md lists these cases.
    """

    name: str
    inputs: tuple = ()
    assumes: tuple = ()
    tools: tuple = ("c++", "python")
    environment: tuple = keys.COMPILING + keys.RUNNING
    seconds: int = 3600
    always: bool = False  # has no key: runs every time
    long: bool = False  # runs with --long alone

    # A script: its commands, everyday and with --long (the same if empty). Exit status 77: skipped.
    command: tuple = ()
    long_command: tuple = ()
    steps: tuple = ()  # what must be there first (steps.py)
    beside: tuple = ()  # uses one core: it runs in a thread while the parts that follow it have one of these names or prefixes
    results: str = ""  # with --long, the log is kept in tests/results/DATE-<this>
    kept: str = ""  # of the log, the lines that have this

    # A build: the targets of a preset, and the tests with this label. `also`: everyday the tests that have this one too, whose
    # programs are the targets with its name at their end.
    preset: str = ""
    targets: tuple = ()
    labels: tuple = ()
    also: str = ""
    without: tuple = ()

    @property
    def runner(self):
        """The files of the proof that decide what running this part does."""
        return ("tests/proof/builds.py", "tests/support/count_results.py") if self.preset else ("tests/proof/steps.py",)

    def built(self, long):
        if not self.also or long:
            return self.targets
        return tuple(f"{target}_{self.also}" if target.startswith("tests_") else target for target in self.targets)

    def words(self, long):
        return self.long_command if long and self.long_command else self.command

    def describe(self, long):
        if self.preset:
            return {"preset": self.preset, "targets": self.built(long), "labels": self.labels, "also": self.also, "without": self.without,
                    "long": long, "steps": self.steps}
        return {"command": self.words(long), "steps": self.steps}

    def chosen_by(self, prefix):
        return self.name == prefix or self.name.startswith(prefix + "/")
