"""The driver of loops.json in Python (README.md).

SPDX-License-Identifier: Apache-2.0
"""

import array
import sys
import threading

import dataline


def text(batch):
    """As README.md prints a batch; None: the end of an epoch."""
    if batch is None:
        return "end_of_epoch"
    return f"{batch.info.epoch}:" + ",".join(map(str, batch.info.indices.tolist()))


def text_and_release(batch):
    said = text(batch)
    if batch is not None:
        batch.release()
    return said


def code(error):
    return error.name.replace("DL_ERR_", "").replace("DL_", "").lower()


class Driver:
    """Threads that are spawned use the loader and the loops, which do not change until they are joined."""

    def __init__(self):
        self.loader = None
        self.loops, self.held, self.threads = {}, [], {}

    def open(self, samples, *options):
        self.release()
        self.loops.clear()
        if self.loader is not None:
            self.loader.close()
        rows = array.array("q", range(int(samples)))
        self.loader = dataline.Loader(
            dataline.from_arrays({"x": rows}), **dict(option.split("=") for option in options)
        )

    def begin(self, name):
        self.loops[name] = iter(self.loader)

    def drop(self, name):
        del self.loops[name]

    def next(self, name):
        return text_and_release(next(self.loops[name], None))

    def hold(self, name):
        batch = next(self.loops[name], None)
        self.held.append(batch)
        return text(batch)

    def take(self):
        return text_and_release(self.loader.next())

    def release(self):
        self.held.clear()  # nothing else holds them

    def statement(self, limit):
        taken = []
        for batch in self.loader:
            taken.append(text_and_release(batch))
            if str(len(taken)) == limit:
                break
        return " ".join(taken) or "nothing"

    def seek(self, epoch, step):
        self.loader.seek(int(epoch), int(step))

    def save(self):
        self.state = self.loader.save_state()

    def load(self):
        self.loader.load_state(self.state)

    def position(self):
        return "{} {}".format(*self.loader.position)

    def call(self, name, *numbers):
        getattr(self.loader, name)(*map(int, numbers))

    def get(self, name):
        method, member = name.split(".")
        value = getattr(getattr(self.loader, method)(), member)
        return str(int(value) if isinstance(value, bool) else value)

    def interrupt(self, name=None):
        (self.loader if name is None else self.loops[name]).interrupt()

    def cancel(self):
        self.loader.cancel()

    def spawn(self, name, *command):
        said = []
        thread = threading.Thread(target=lambda: said.append(self.run(*command)))
        thread.start()
        self.threads[name] = thread, said

    def join(self, name):
        thread, said = self.threads.pop(name)
        thread.join()
        return said[0]

    def share(self, name, count):
        loop, samples, ends = self.loops[name], [], []

        def take():
            try:
                for batch in loop:
                    samples.extend(batch.info.indices.tolist())
                    batch.release()
                ends.append("end")
            except dataline.Error as error:
                ends.append(code(error))

        threads = [threading.Thread(target=take) for _ in range(int(count))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wrong = [one for one in ends if one != "end"]
        return wrong[0] if wrong else f"{len(samples)} samples, {len(set(samples))} different, {len(ends)} ends"

    def run(self, verb, *arguments):
        try:
            return getattr(self, "statement" if verb == "for" else verb)(*arguments) or "ok"
        except dataline.Error as error:
            return code(error)


def main():
    driver = Driver()
    for line in sys.stdin:
        print(driver.run(*line.split()), flush=True)


main()
