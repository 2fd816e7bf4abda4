"""A small net that is trained from one source of batches, epoch by epoch, and what its loop waited for.
SPDX-License-Identifier: Apache-2.0
"""
import time

import torch

import timeline
from contender import cpu_seconds

HIDDEN = 500


class Training:
    """A net, its optimiser and its source of batches."""

    def __init__(self, name, batches, device):
        self.name, self.batches, self.device = name, batches, device
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(784, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 10))
        self.net = net.to(self.device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.samples = {"epoch_s": [], "wait_s": [], "copy_s": [], "cpu_s": [], "accuracy_percent": []}
        self.timeline, self.seen = None, 0

    def _steps(self, marks):
        """Trains an epoch; the seconds until the loop had its batches. `marks`: events around each step."""
        clock, waited = time.perf_counter, 0.0
        asked = clock()
        self.seen = 0
        for images, labels in self.batches:
            waited += clock() - asked
            self._mark(marks)
            self.optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(self.net(images.view(len(labels), 784)), labels)
            loss.backward()
            self.optimizer.step()
            self.seen += len(labels)
            self._mark(marks)
            asked = clock()
        return waited + clock() - asked

    def _mark(self, marks):
        if self.device.type == "cuda":
            marks.append(torch.cuda.Event(enable_timing=True))
            marks[-1].record()

    def epoch(self):
        marks, begin, cpu = [], time.perf_counter(), cpu_seconds()
        waited = self._steps(marks)
        if marks:
            torch.cuda.synchronize(self.device)
        copied = getattr(self.batches, "copied_s", 0.0)
        self.samples["epoch_s"].append(time.perf_counter() - begin)
        self.samples["wait_s"].append(waited - copied)
        self.samples["copy_s"].append(copied)
        self.samples["cpu_s"].append(cpu_seconds() - cpu)
        if marks:  # from the end of a step to the beginning of the next
            between = sum(end.elapsed_time(begin) for end, begin in zip(marks[1:-1:2], marks[2::2]))
            self.samples.setdefault("between_steps_percent", []).append(100 * between / marks[0].elapsed_time(marks[-1]))

    def profile(self):
        self.timeline = timeline.profile(lambda: self._steps([]))
        for metric, value in self.timeline.figures().items():
            self.samples[metric] = [value]

    @torch.no_grad()
    def test(self, images, labels):
        right = (self.net(images.to(self.device)).argmax(1).cpu() == labels).sum().item()
        self.samples["accuracy_percent"].append(100 * right / len(labels))
