"""The key of a part: a hash of all that its result depends on.

Files (inputs.py), the command, the versions of tools and packages, the environment variables that the part is passed, the
machine. The runner passes a part no other variables than these and PASSED_ON, so an undeclared one cannot matter.

SPDX-License-Identifier: Apache-2.0
"""

import fnmatch
import functools
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess

# Where things are, and how a network is reached: passed to every part, and in no key.
PASSED_ON = (
    "HOME", "USER", "LOGNAME", "SHELL", "PATH", "TERM", "TMPDIR", "TZ", "XDG_*", "*_proxy", "*_PROXY", "PIP_*", "UV_*", "GOPROXY", "GOSUMDB",
    "GONOSUMDB", "GOPRIVATE", "GOCACHE", "GOMODCACHE", "GOPATH", "CARGO_HOME", "CARGO_HTTP_*", "CARGO_NET_*", "CARGO_REGISTR*",
    "CARGO_SOURCE_*", "RUSTUP_HOME", "CCACHE_*", "SSL_CERT_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PYENV_*",
    "JULIA_PKG_SERVER", "JULIAUP_*", "NPM_CONFIG_*",
)
# In the key of every part that is passed them.
COMPILING = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CMAKE_*")
RUNNING = ("DATALINE_*", "RC_PARAMS", "GTEST_*", "LANG", "LC_*", "LD_LIBRARY_PATH", "LD_PRELOAD", "OMP_NUM_THREADS")

# Commands whose output is a tool's version. One that cannot be run is absent.
PYTHONS = "import sys, importlib.metadata as m; print(sys.version, sorted(f'{d.name} {d.version}' for d in m.distributions()))"
TOOLS = {
    "c++": ["c++ --version", "clang++ --version", "cmake --version", "ninja --version", "ld --version", "ld.lld --version"],
    "python": [f'python3 -c "{PYTHONS}"', f'/usr/bin/python3 -c "{PYTHONS}"'],
    "tidy": ["clang-tidy-14 --version", "clang-tidy --version"],
    "format": ["clang-format-14 --version"],
    "rust": ["rustc --version", "cargo --version", "cargo clippy --version", "cargo fmt --version"],
    "go": ["go version", "shellcheck --version"],
    "julia": ["bindings/julia/setup.sh --where", "julia --version", "shellcheck --version"],
    "chroot": ["mmdebstrap --version", "unshare --version"],
    "chromium": ["chromium --version", "chromium-browser --version", "google-chrome --version"],
    "mpi": ["mpirun --version"],
}


def chosen_environment(patterns, environment):
    return {name: value for name, value in environment.items() if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)}


def cpu():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.machine()
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return model.group(1).strip() if model else platform.machine()


def machine():
    return f"{cpu()} x {os.cpu_count()}"


class Facts:
    """What is asked of this machine, each question once."""

    def __init__(self, root):
        self.root = root

    @functools.cache  # noqa: B019  one instance lives as long as the run
    def tool(self, name):
        told = []
        for command in TOOLS[name]:
            done = subprocess.run(["bash", "-c", command], cwd=self.root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            told.append(f"{command}\n{done.stdout}" if done.returncode == 0 else f"{command}\nabsent")
        return "\n".join(told).replace(str(self.root), ".")

    @functools.cache  # noqa: B019
    def packages(self):
        """Versions of what tests/setup.sh installs, and of what those bring that compilers read."""
        words = re.findall(r'^(?:needed|optional)="([^"]*)"', pathlib.Path(self.root, "tests/setup.sh").read_text(encoding="utf-8"), re.MULTILINE)
        names = sorted({*" ".join(words).split(), "libc6-dev", "linux-libc-dev", "prometheus", "python3-torch", "python3-torchvision"})
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version} ${db:Status-Status}\n", *names], capture_output=True, text=True,
                              check=False) if os.access("/usr/bin/dpkg-query", os.X_OK) else None
        return "\n".join(sorted(done.stdout.splitlines())) if done else "no dpkg"

    @functools.cache  # noqa: B019
    def machine(self):
        return f"{machine()}, user {'root' if os.geteuid() == 0 else 'somebody'}, {platform.system()}"


def key_of(part, tree, facts, environment, long=False):
    """The key, and the dictionary that it is the hash of (for --why)."""
    what = {
        "part": part.name,
        "command": part.describe(long),
        "files": tree.digest(part.inputs + (part.assumes if long else ())),
        "runner": tree.digest(part.runner),
        "tools": {name: facts.tool(name) for name in part.tools},
        "packages": facts.packages(),
        "environment": chosen_environment(part.environment, environment),
        "machine": facts.machine(),
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode(errors="surrogateescape")).hexdigest()[:32], what
