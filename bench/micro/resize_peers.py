#!/usr/bin/env python3
"""Resizing alone beside other libraries, same run, one thread, same size of photograph crop: 350x260 RGB to 224x224.

    resize_peers.py RESAMPLE_BENCH [--rounds 7]     RESAMPLE_BENCH: the built bench/resample_bench

Rounds alternate; each contender's median of CPU time a call, and the ratio to the best peer that antialiases. Pillow, OpenCV
and torchvision as installed; what is missing is said.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
try:
    import numpy
except ImportError as missing:
    system = "/usr/bin/python3"  # has the distribution's packages, which another interpreter first in PATH lacks
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.access(system, os.X_OK):
        os.execv(system, [system] + sys.argv)
    sys.exit(f"{missing}")

HEIGHT, WIDTH, OUT = 260, 350, 224


def peers():
    """name -> (call, whether it antialiases)"""
    pixels = numpy.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=numpy.uint8)
    found = {}
    try:
        import PIL
        from PIL import Image
        image = Image.fromarray(pixels)
        found[f"Pillow {PIL.__version__} BILINEAR"] = (lambda: image.resize((OUT, OUT), Image.BILINEAR), True)
    except ImportError as missing:
        print(f"left out: {missing}")
    try:
        import cv2
        cv2.setNumThreads(1)
        found[f"OpenCV {cv2.__version__} INTER_AREA"] = (lambda: cv2.resize(pixels, (OUT, OUT), interpolation=cv2.INTER_AREA), True)
        found[f"OpenCV {cv2.__version__} INTER_LINEAR"] = (lambda: cv2.resize(pixels, (OUT, OUT), interpolation=cv2.INTER_LINEAR), False)
    except ImportError as missing:
        print(f"left out: {missing}")
    try:
        import torch
        import torchvision
        from torchvision.transforms import functional
        torch.set_num_threads(1)
        planes = torch.from_numpy(pixels.copy()).permute(2, 0, 1).contiguous()
        found[f"torchvision {torchvision.__version__} antialias"] = (lambda: functional.resize(planes, [OUT, OUT], antialias=True), True)
    except ImportError as missing:
        print(f"left out: {missing}")
    return found


def cpu_of(call, seconds=0.15):
    """CPU microseconds a call."""
    call()
    calls, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        call()
        calls += 1
    return (time.process_time() - start) / calls * 1e6


def ours(program):
    """label -> CPU microseconds a call: a size met before, and sizes never met, as random crops draw them."""
    wanted = f"resize/(same_size|new_sizes)/{HEIGHT}/{WIDTH}/1/"
    out = subprocess.run([program, f"--benchmark_filter={wanted}", "--benchmark_min_time=0.1", "--benchmark_format=json"],
                         check=True, capture_output=True, text=True).stdout
    return {f"dataline {row['label']}, {row['name'].split('/')[1].replace('_', ' ')}": row["cpu_time"]
            for row in json.loads(out)["benchmarks"] if not row.get("error_occurred") and row["label"] != "plain"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    others, times = peers(), {}
    for _ in range(arguments.rounds):
        for name, (call, _) in others.items():
            times.setdefault(name, []).append(cpu_of(call))
        for name, cost in ours(arguments.program).items():
            times.setdefault(name, []).append(cost)
    medians = {name: statistics.median(costs) for name, costs in times.items()}
    best = min((medians[name] for name, (_, antialiases) in others.items() if antialiases), default=None)
    print(f"{WIDTH}x{HEIGHT} RGB to {OUT}x{OUT}, bilinear with antialias unless said, CPU us a call, {arguments.rounds} rounds")
    for name, cost in sorted(medians.items(), key=lambda item: item[1]):
        plain = name in others and not others[name][1]
        note = "no antialias" if plain else "" if best is None else f"{best / cost:.1f}x the best peer"
        print(f"{name:<38}{cost:>9.1f}  (least {min(times[name]):.1f})  {note}")


main()
