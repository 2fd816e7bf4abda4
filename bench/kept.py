"""Results files: JSON in which a row of a bench is one line.
SPDX-License-Identifier: Apache-2.0
"""
import datetime
import json
import os

import machine


def read(path):
    """What the file holds; a file that does not exist yet has no rows."""
    return json.loads(path.read_text()) if path.exists() else {"rows": {}, "machine": machine.facts()}


def text_of(results):
    def member(key, value):
        return f"{json.dumps(key)}: {value}"

    def members(key, value):
        if key != "rows" or not value:
            return member(key, json.dumps(value))
        return member(key, "{\n  " + ",\n  ".join(member(name, json.dumps(row)) for name, row in value.items()) + "\n }")

    return "{\n " + ",\n ".join(members(key, value) for key, value in results.items()) + "\n}\n"


def write(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(results))


class Begun:
    """A row that is being measured: commit, load and CPU ticks from before it."""

    def __init__(self, repository):
        self.commit, self.changed = machine.commit(repository)
        self.load, self.ticks = os.getloadavg()[0], machine.cpu_ticks()

    def entry(self, command, rounds, seconds, samples, **more):
        """The finished row. `samples`: {variant: {figure: [a value for each round]}}."""
        ticks, stolen = (after - before for after, before in zip(machine.cpu_ticks(), self.ticks))
        return {"command": command, "commit": self.commit, "changed": self.changed,
                "time": datetime.datetime.now().isoformat(timespec="seconds"), "seconds": seconds, "rounds": rounds,
                "load_before": self.load, "load_after": os.getloadavg()[0], "stolen_percent": 100 * stolen / max(ticks, 1),
                "versions": {}, "failed": {}, "notes": {}, **more, "samples": samples}
