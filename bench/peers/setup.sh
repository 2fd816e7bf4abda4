#!/usr/bin/env bash
# Installs other loaders, each group into a virtual environment of its own under build/peers (several need
# versions of NumPy or protobuf that exclude each other), and builds LibTorch's program against the torch group.
# SPDX-License-Identifier: Apache-2.0
#
#   bench/peers/setup.sh [--prefix DIR] [group...]      groups: torch native grain tf dali ffcv streaming litdata tables megatron ray lance petastorm audio pillow_simd libtorch (all)
#
# About 5 GB to fetch and 12 GB on disk for all of them; one pip at a time, at most half an hour each. A finished group
# leaves the file `ready` with the versions it got, and is not touched again while it has all that is listed below. One
# that cannot be had leaves the file `failed` with the reason, which the results repeat; it is tried again the next time.
set -u
here="$(cd "$(dirname "$0")" && pwd)"
prefix="$(cd "$here/../.." && pwd)/build/peers"
if [ "${1:-}" = --prefix ]; then prefix=$2; shift 2; fi
mkdir -p "$prefix"
exec 9>"$prefix/lock"
flock 9

python=python3
install() { timeout 900 apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1; }
"$python" -c 'import venv, ensurepip' 2>/dev/null || install python3-venv python3-pip

packages() {
  case $1 in
    # torch wants its CUDA wheels to be importable, also on a machine without a GPU.
    torch) echo "torch==2.15.0 torchvision==0.29.2 torchdata==0.11.0 webdataset==1.0.2 pillow==13.0.0 numpy==2.4.6" ;;
    native) echo "mlx-data==0.1.0 spdl==0.8.0 spdl_io==0.8.0 opencv-python-headless==4.14.0.94 simplejpeg==1.9.0 pillow==13.0.0 numpy==2.4.6" ;;
    grain) echo "grain==0.2.18 opencv-python-headless==4.14.0.94 numpy==2.4.6" ;;
    tf) echo "tensorflow==2.21.0" ;;
    dali) echo "nvidia-dali-cuda130==2.4.0 numpy" ;;
    ffcv) echo "ffcv==1.0.2 numba numpy pillow tqdm psutil" ;;
    streaming) echo "mosaicml-streaming==0.13.0" ;;
    litdata) echo "litdata==0.2.76 pyarrow==26.0.1 zstd==1.5.7.2 pillow==13.0.0" ;;
    tables) echo "pyarrow==26.0.1 datasets==5.2.0 orjson==3.13.0 safetensors==0.8.0" ;;
    megatron) echo "megatron-core==0.16.1 packaging" ;;
    ray) echo "ray==2.60.0 pyarrow==26.0.1 pandas fsspec numpy==2.4.6 pillow==13.0.0" ;;
    lance) echo "lancedb==0.40.0 pylance==14.0.2 pyarrow==26.0.1" ;;
    # The last pyarrow, pandas and NumPy that it works with.
    petastorm) echo "petastorm==0.13.1 pyarrow==12.0.1 numpy==1.26.4 pandas==2.2.3 pyspark==3.5.8" ;;
    # torchaudio wants the torch that it was built with; torchcodec opens NPP, also on a machine without a GPU.
    audio) echo "soundfile==0.14.0 soxr==1.1.0 librosa==0.11.0 torch==2.11.0 torchaudio==2.11.0 torchcodec==0.11.0 nvidia-npp==13.2.0.93 numpy" ;;
    pillow_simd) echo "pillow-simd==12.1.1.post0 numpy==2.4.6" ;;
    *) return 1 ;;
  esac
}

# What must import for the group to count.
check() {
  case $1 in
    torch) echo "import torch, torchdata.nodes, torchvision.io, webdataset" ;;
    native) echo "import mlx.data, spdl.pipeline, spdl.io, cv2, simplejpeg" ;;
    grain) echo "import grain.python, cv2" ;;
    tf) echo "import tensorflow" ;;
    dali) echo "import nvidia.dali.fn" ;;
    ffcv) echo "import ffcv" ;;
    streaming) echo "import streaming" ;;
    litdata) echo "import litdata, PIL, zstd" ;;
    tables) echo "import datasets, orjson, pyarrow, safetensors.torch" ;;
    ray) echo "import ray.data" ;;
    lance) echo "import lancedb.streaming" ;;
    petastorm) echo "import petastorm.pytorch" ;;
    megatron) echo "from megatron.core.datasets.indexed_dataset import IndexedDataset" ;;
    audio) echo "import librosa, soundfile, soxr, torchaudio" ;;
    pillow_simd) echo "import PIL.Image, numpy" ;;
  esac
}

# borrow_torch GROUP: it imports the torch group's torch, which is too large to have twice.
borrow_torch() {
  [ -f "$prefix/torch/ready" ] || { echo "$1 imports torch, and that group is not installed"; return 1; }
  local site
  site=$("$prefix/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') &&
    "$prefix/torch/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/zz_torch.pth"
}

# FFCV compiles against OpenCV and turbojpeg, with what is in its environment.
before_ffcv() {
  install libopencv-dev libturbojpeg0-dev pkg-config g++ python3-dev ||
    { echo "FFCV compiles against libopencv-dev and libturbojpeg0-dev, which cannot be installed"; return 1; }
  borrow_torch ffcv && timeout 300 "$prefix/ffcv/bin/pip" install -q --no-cache-dir setuptools wheel
}

# Pillow-SIMD is compiled here, and for AVX2 only when the compiler is told.
before_pillow_simd() {
  install libjpeg-dev zlib1g-dev gcc python3-dev || { echo "Pillow-SIMD compiles against libjpeg-dev, which cannot be installed"; return 1; }
  export CC="cc -mavx2"
}

# SPDL decodes with the FFmpeg that is installed; without it the group has all but that.
before_native() { install ffmpeg || echo "no FFmpeg: SPDL takes no part in rows of photographs"; }

# torchcodec decodes with the FFmpeg that is installed.
before_audio() { install ffmpeg || echo "no FFmpeg: torchcodec takes no part"; }

# Whether a group has every package of its list: a list that grew since is fetched.
is_ready() {
  local word
  [ -f "$prefix/$1/ready" ] || return 1
  for word in $(packages "$1"); do
    grep -qi "^$(echo "${word%%==*}" | tr _ -)\b" <(tr _ - <"$prefix/$1/ready") || return 1
  done
}

python_group() { # python_group GROUP: its environment, packages and one import; what went wrong is the last line
  local group=$1 list flags=""
  list=$(packages "$group")
  [ -x "$prefix/$group/bin/pip" ] || "$python" -m venv --clear "$prefix/$group" || return 1
  case $group in
    ffcv)
      before_ffcv || return 1
      flags=--no-build-isolation ;;
    streaming | litdata | tables | lance | petastorm) borrow_torch "$group" || return 1 ;;
    megatron)
      borrow_torch "$group" || return 1
      flags=--no-deps ;;  # it asks for an older NumPy, and its indexed datasets need no more
    native) before_native ;;
    audio) before_audio ;;
    pillow_simd) before_pillow_simd || return 1 ;;
  esac
  # shellcheck disable=SC2086
  timeout 1800 "$prefix/$group/bin/pip" install -q --no-cache-dir $flags $list || return 1
  # Not from here: a folder of the same name as a package would be imported in its place.
  (cd / && timeout 300 "$prefix/$group/bin/python" -c "$(check "$group")") || return 1
  "$prefix/$group/bin/pip" freeze >"$prefix/$group.versions"
}

libtorch_group() {
  [ -f "$prefix/torch/ready" ] || { echo "LibTorch is in the wheel of torch, and that group is not installed"; return 1; }
  local torch
  torch=$("$prefix/torch/bin/python" -c 'import os, torch; print(os.path.dirname(torch.__file__))') &&
    cmake -S "$here/libtorch" -B "$prefix/libtorch" -G Ninja -DTORCH_DIR="$torch" &&
    timeout 1800 cmake --build "$prefix/libtorch"
}

status=0
for group in ${*:-torch native grain tf dali ffcv streaming litdata tables megatron ray lance petastorm audio pillow_simd libtorch}; do
  log=$prefix/$group.log
  if [ "$group" = libtorch ]; then
    what="from torch's wheel" get="libtorch_group"  # always: the build looks for changes itself
  else
    what=$(packages "$group") || { echo "setup: no group '$group'" >&2; exit 2; }
    is_ready "$group" && continue
    get="python_group $group"
  fi
  echo "setup: $group ($what)"
  if $get >"$log" 2>&1; then
    rm -f "$prefix/$group/failed"
    [ "$group" = libtorch ] || mv "$prefix/$group.versions" "$prefix/$group/ready"
  else
    mkdir -p "$prefix/$group"
    reason=$(grep -v '^ *$' "$log" | tail -n 1)
    echo "$group could not be installed: ${reason:-no word, or over its time}" | tee "$prefix/$group/failed" | sed 's/^/setup: /' >&2
    status=1
  fi
done
exit $status
