#!/usr/bin/env bash
# The same bytes on another processor: builds the shell and the tests of bases, orders and pixels for aarch64 with Debian's
# cross compiler, runs them under QEMU, and compares what `cat` writes with the native build's, over orders, conversions,
# pictures, compositions and a saved state. Libraries for aarch64 are Debian's, unpacked into the build folder: only the
# compiler and QEMU are installed.
# Ends with 77 where these cannot be had. By tests/run.sh --long, after the release build.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
native=$PWD/build/release/bin/dataline
shapes=$PWD/build/release/bin/example_make_shapes
[ -x "$native" ] || { echo "skipped: no native build to compare with (cmake --build --preset release)"; exit 77; }

packages="g++-aarch64-linux-gnu qemu-user-static"
if ! command -v aarch64-linux-gnu-g++ >/dev/null || ! command -v qemu-aarch64-static >/dev/null; then
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $packages >/dev/null 2>&1 || { echo "skipped: $packages cannot be installed"; exit 77; }
fi

build=$PWD/build/aarch64
sysroot=$build/sysroot
bindings/cpp/packages/portable/unpacked.sh "$sysroot" arm64 libc6-dev libhwy-dev libdeflate-dev libzstd-dev liblz4-dev libjpeg62-turbo-dev libspng-dev \
  libwebp-dev libgmock-dev libgtest-dev || exit $?
cat >"$build/toolchain.cmake" <<CMAKE
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT "$sysroot")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;$sysroot")
CMAKE
launcher=""
command -v ccache >/dev/null && launcher=ccache
cmake -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
  -DDATALINE_TESTS=ON -DDATALINE_EXAMPLES=OFF -DDATALINE_BENCH=OFF -DDATALINE_WITH_CUDA=OFF
cmake --build "$build" --target dataline_cli tests_base tests_order tests_transform
"$build/bin/dataline" version 2>/dev/null || qemu-aarch64-static -L "$sysroot" "$build/bin/dataline" version

# Not the oracles in Python, which start the programs by themselves.
ctest --test-dir "$build" -L '^(base|order|transform)$' -E 'pillow|torchvision|by_definition' -j "$(nproc)" --output-on-failure

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
place=aarch64 other=(qemu-aarch64-static -L "$sysroot" "$build/bin/dataline")
. tests/support/same_bytes.sh
same_jobs

# Pictures: decoded, scaled, turned and coloured.
"$shapes" --out "$scratch/shapes" --train 40 --val 8 >/dev/null
for transform in "decode, resize([37, 29])" "decode, random_resized_crop(24), hflip, normalize(imagenet), chw" \
  "decode, resize(40, filter=bicubic), center_crop(32), cast(f16)" "decode, resize([9, 50], filter=lanczos), chw" \
  "decode, resize([50, 9], filter=area), flatten" "decode, resize([60, 70]), rotate(30), random_erasing, normalize(imagenet)" \
  "decode, resize([60, 70]), perspective, gaussian_blur(5), solarize(100)" \
  "decode, resize([60, 70]), color_jitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1), grayscale(0.3)" \
  "decode, rand_augment, random_crop(48, padding=4)" \
  "decode, resize([60, 70]), trivial_augment, equalize, autocontrast"; do
  same "$transform" "folder:shapes/train" --field image --shuffle full --transform "$transform" --num_workers 2
done

same_state
echo "aarch64: $count comparisons, all equal"
