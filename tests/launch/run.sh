#!/usr/bin/env bash
# Jobs under real launchers, and one that is killed and resized.
#   tests/launch/run.sh [--long]     after the gates of Go and Python (bindings/*/check.sh), whose builds are used
# Everyday: five kills with ranks in C, Go and Python, torchrun, mpirun. --long: two hundred, Slurm and Ray too. What is not here is left out,
# and named. DATALINE_LIB_DIR, DATALINE_BIN, DATALINE_PYTHON_VENV as there; DATALINE_RAY_PYTHON: a Python with Ray.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
export DATALINE_LIB_DIR=${DATALINE_LIB_DIR:-$root/build/release/lib}
export LD_LIBRARY_PATH=$DATALINE_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONDONTWRITEBYTECODE=1
DATALINE_BUILD=$(dirname "$DATALINE_LIB_DIR")
export DATALINE_BUILD
rank=$DATALINE_BUILD/bin/example_rank
python=${DATALINE_PYTHON_VENV:-$root/build/python/venv}/bin/python
work=$root/build/launch
mkdir -p "$work"
kills=5
[[ ${1:-} != --long ]] || kills=200
[[ -x $rank ]] || { echo "skipped: $rank was not built"; exit 77; }

ranks=("c=$rank")
# shellcheck source=/dev/null
if . bindings/go/toolchain.sh && use_go; then
  (cd examples/launch/go && CGO_ENABLED=0 go build -o "$work/rank_go" .)
  ranks+=("go=$work/rank_go")
else
  echo "left out: a rank in Go, which is not here"
fi
if (cd / && "$python" -c 'import dataline') 2>/dev/null; then
  ranks+=("python=$python $root/examples/launch/rank.py")
else
  echo "left out: a rank in Python, for the package is not installed in $python"
  python=""
fi

# launched NAME command...: 77 is no failure, but said.
launched() {
  local name=$1 status=0
  shift
  "$@" || status=$?
  case $status in
    0) ;;
    77) echo "left out: $name" ;;
    *) echo "$name ended with $status"; exit 1 ;;
  esac
}

launched "kills and resizes" python3 tests/launch/acceptance_test.py --kills $kills "${ranks[@]}"
if [[ -n $python ]]; then
  launched mpirun python3 tests/launch/mpi_test.py "$rank" "$python"
  launched torchrun python3 tests/launch/torchrun_test.py "$python"
fi
[[ $kills -eq 200 ]] || exit 0

if [[ $(id -u) -eq 0 ]] && ! command -v slurmctld >/dev/null && command -v apt-get >/dev/null; then
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends munge slurmctld slurmd slurm-client </dev/null >/dev/null 2>&1 || true
fi
launched Slurm python3 tests/launch/slurm_test.py "$rank"
# Ray wants packages of its own, 400 MB of them.
ray=${DATALINE_RAY_PYTHON:-$work/ray/bin/python}
wheel=$(ls "$root"/build/python/wheel/dataline-*.whl 2>/dev/null || true)
if [[ -z ${DATALINE_RAY_PYTHON:-} && -n $wheel ]]; then
  [[ -x $ray ]] || python3 -m venv "$work/ray"
  "$ray" -m pip install --quiet --disable-pip-version-check 'ray[train,data]>=2.50,<3' pyarrow || echo "left out: Ray, which cannot be installed"
  "$ray" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$wheel"
fi
if [[ -x $ray ]]; then launched Ray "$ray" tests/launch/ray_test.py; else echo "left out: Ray, for there is no $ray"; fi
