#!/usr/bin/env bash
# Installs other loaders, each group into a virtual environment of its own under build/peers (several need
# versions of NumPy or protobuf that exclude each other). A group that cannot be had is reported and skipped.
# SPDX-License-Identifier: Apache-2.0
#
#   bench/peers/setup.sh [--prefix DIR] [group...]      groups: torch native grain tf dali ffcv (all by default)
#
# About 5 GB to fetch and 12 GB on disk for all of them; one pip at a time. A finished group leaves the file
# `ready` with the versions it got, and is not touched again.
set -u
prefix="$(cd "$(dirname "$0")/../.." && pwd)/build/peers"
if [ "${1:-}" = --prefix ]; then prefix=$2; shift 2; fi
mkdir -p "$prefix"
exec 9>"$prefix/lock"
flock 9

python=python3
"$python" -c 'import venv, ensurepip' 2>/dev/null || apt-get install -y --no-install-recommends python3-venv python3-pip >/dev/null

packages() {
  case $1 in
    # torch wants its CUDA wheels to be importable, also on a machine without a GPU.
    torch) echo "torch==2.15.0 torchdata==0.11.0 numpy==2.4.6" ;;
    native) echo "mlx-data==0.1.0 spdl==0.8.0 numpy==2.4.6" ;;
    grain) echo "grain==0.2.18 numpy==2.4.6" ;;
    tf) echo "tensorflow==2.21.0" ;;
    dali) echo "nvidia-dali-cuda130==2.4.0 numpy" ;;
    ffcv) echo "ffcv==1.0.2 numba numpy pillow tqdm psutil" ;;
    *) return 1 ;;
  esac
}

# What must import for the group to count.
check() {
  case $1 in
    torch) echo "import torch, torchdata.nodes" ;;
    native) echo "import mlx.data, spdl.pipeline" ;;
    grain) echo "import grain.python" ;;
    tf) echo "import tensorflow" ;;
    dali) echo "import nvidia.dali.fn" ;;
    ffcv) echo "import ffcv" ;;
  esac
}

before() {
  [ "$1" = ffcv ] || return 0
  # FFCV compiles against OpenCV and turbojpeg, and imports torch: that of the torch group.
  apt-get install -y --no-install-recommends libopencv-dev libturbojpeg0-dev pkg-config g++ python3-dev >/dev/null || return 1
  local site
  site=$("$prefix/ffcv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$prefix/torch/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/zz_torch.pth"
  "$prefix/ffcv/bin/pip" install -q --no-cache-dir setuptools wheel
}

status=0
for group in ${*:-torch native grain tf dali ffcv}; do
  list=$(packages "$group") || { echo "setup: no group '$group'" >&2; exit 2; }
  [ -f "$prefix/$group/ready" ] && continue
  echo "setup: $group ($list)"
  flags=""
  # FFCV's own dependencies name torch, opencv-python (with a GUI) and fastargs: what it uses is listed above.
  [ "$group" = ffcv ] && flags="--no-build-isolation"
  if [ ! -x "$prefix/$group/bin/python" ]; then "$python" -m venv "$prefix/$group" || { status=1; continue; }; fi
  if before "$group" && "$prefix/$group/bin/pip" install -q --no-cache-dir $flags $list >"$prefix/$group.log" 2>&1 &&
    (cd / && "$prefix/$group/bin/python" -c "$(check "$group")") >>"$prefix/$group.log" 2>&1; then
    "$prefix/$group/bin/pip" freeze >"$prefix/$group/ready"
  else
    echo "setup: $group could not be had: $(tail -n 1 "$prefix/$group.log")" >&2
    status=1
  fi
done
exit $status
