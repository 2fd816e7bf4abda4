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
    beside: bool = False  # uses one core: runs beside the parts that follow it
    results: str = ""  # with --long, the log is kept in tests/results/DATE-<this>
    kept: str = ""  # of the log, the lines that have this

    # A build: the targets of a preset, and the tests with this label, and also with this one; everyday and with --long.
    preset: str = ""
    targets: tuple = ()
    labels: tuple = ()
    also: str = ""
    without: tuple = ()

    @property
    def runner(self):
        """The files of the proof that decide what running this part does."""
        return ("tests/proof/builds.py", "tests/support/count_results.py") if self.preset else ("tests/proof/steps.py",)

    def words(self, long):
        return self.long_command if long and self.long_command else self.command

    def describe(self, long):
        if self.preset:
            return {"preset": self.preset, "targets": self.targets, "labels": self.labels, "also": self.also, "without": self.without, "long": long, "steps": self.steps}
        return {"command": self.words(long), "steps": self.steps}

    def chosen_by(self, prefix):
        return self.name == prefix or self.name.startswith(prefix + "/")
