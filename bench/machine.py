"""What a reader must know of the machine and the build to judge a number.
SPDX-License-Identifier: Apache-2.0
"""
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess


def read(path, default=""):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return default


def output(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def cpu_name():
    found = re.search(r"model name\s*:\s*(.+)", read("/proc/cpuinfo"))
    return found.group(1) if found else platform.machine()


def chosen(text):
    """The word in brackets of a kernel switch."""
    found = re.search(r"\[(\w+)\]", text)
    return found.group(1) if found else text


def cpu_ticks():
    """(all, stolen) ticks since boot: what a shared machine took away."""
    fields = [int(word) for word in read("/proc/stat").split("\n")[0].split()[1:9]]
    return sum(fields), fields[7]


def facts():
    flags = set(re.search(r"flags\s*:\s*(.+)", read("/proc/cpuinfo") + "\nflags: -").group(1).split())
    return {
        "cpu": cpu_name(), "cores": os.cpu_count(), "cores_allowed": len(os.sched_getaffinity(0)),
        "simd": [name for name in ("sse4_2", "avx2", "avx512f", "avx512vbmi", "neon", "sve") if name in flags],
        "caches": output("lscpu", "-C=NAME,ONE-SIZE,ALL-SIZE").splitlines(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(), "page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "transparent_huge_pages": chosen(read("/sys/kernel/mm/transparent_hugepage/enabled", "none")),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "none"),
        "virtual": output("systemd-detect-virt") or ("yes" if "hypervisor" in flags else "no"),
        "read_ahead_kb": {path.parent.parent.name: path.read_text().strip()
                          for path in pathlib.Path("/sys/block").glob("[vsn]*/queue/read_ahead_kb")},
        "io_uring_disabled": read("/proc/sys/kernel/io_uring_disabled", "unknown"),
        "libc": " ".join(platform.libc_ver()), "compiler": output("c++", "--version").split("\n")[0],
    }


def gpu():
    """The first card that nvidia-smi shows: name, driver, memory; empty without one."""
    lines = output("nvidia-smi", "--query-gpu=name,driver_version,memory.total,power.limit", "--format=csv,noheader").splitlines()
    return dict(zip(("name", "driver", "memory", "power_limit"), lines[0].split(", "))) if lines else {}


def commit(repository):
    """(id, whether the tree has changes that are not in it; results do not count, a run writes them)."""
    known = os.environ.get("DATALINE_COMMIT") or output("git", "-C", repository, "rev-parse", "--verify", "-q", "HEAD") or "none"
    return known, bool(output("git", "-C", repository, "status", "--porcelain", "--", ".", ":!bench/results"))


def library(program):
    try:
        return json.loads(output(program, "version", "--json"))
    except json.JSONDecodeError:
        return {}


def slug():
    return re.sub(r"[^a-z0-9]+", "-", f"{cpu_name()} {os.cpu_count()} cores".lower()).strip("-")


def results_path(repository, on_gpu, kind=""):
    """Where today's results of this machine, or of its card, are kept; `kind`: those that have a file of their own."""
    name = slug() if not on_gpu else re.sub(r"[^a-z0-9]+", "-", gpu().get("name", "unknown gpu").lower()).strip("-")
    return pathlib.Path(repository) / "bench" / "results" / f"{datetime.date.today()}-{name}{kind}.json"
