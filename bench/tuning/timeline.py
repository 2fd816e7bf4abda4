"""What the device did and when, out of PyTorch's profiler: was it idle, and were copies hidden behind kernels?
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import tempfile


def union(spans):
    """Sorted, without overlaps."""
    joined = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return joined


def length(spans):
    return sum(end - begin for begin, end in spans)


def common(first, second):
    """The time that two unions share."""
    total, at = 0.0, 0
    for begin, end in first:
        while at < len(second) and second[at][1] <= begin:
            at += 1
        look = at
        while look < len(second) and second[look][0] < end:
            total += min(end, second[look][1]) - max(begin, second[look][0])
            look += 1
    return total


class Timeline:
    """Device activities of a stretch of time, in microseconds from its first one."""

    def __init__(self, events):
        chosen = [event for event in events if event.get("ph") == "X" and event.get("cat") in ("kernel", "gpu_memcpy")]
        zero = min((event["ts"] for event in chosen), default=0)
        self.activities = sorted((event["ts"] - zero, event["ts"] - zero + event["dur"], event.get("args", {}).get("stream"),
                                  event["cat"] == "kernel", event["name"]) for event in chosen)
        self.kernels = union([(begin, end) for begin, end, _, kernel, _ in self.activities if kernel])
        self.uploads = union([(begin, end) for begin, end, _, _, name in self.activities if "HtoD" in name])

    def figures(self):
        """{metric: value}; percentages of the time from the first activity to the last, and of all uploads."""
        span = max((end for _, end, *_ in self.activities), default=0)
        out = {"kernel_us": length(self.kernels), "upload_us": length(self.uploads),
               "device_idle_percent": 100 * (1 - length(self.kernels) / span) if span else 0.0}
        if self.uploads:
            out["upload_hidden_percent"] = 100 * common(self.uploads, self.kernels) / length(self.uploads)
        return out

    def lines(self, count):
        """`count` activities from the middle, one a line: begin, end, stream, what."""
        middle = max(0, len(self.activities) // 2 - count // 2)
        return [f"{begin:11.1f} .. {end:11.1f} us  stream {stream!s:>4}  {'' if kernel else 'COPY '}{name[:70]}"
                for begin, end, stream, kernel, name in self.activities[middle:middle + count]]


def profile(work):
    """The timeline of what `work()` has the device do."""
    import torch  # the rest of this file does without, and so does its test

    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        work()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        return Timeline(json.loads(path.read_text())["traceEvents"])
