#!/usr/bin/env bash
# The packages for aarch64, under QEMU: what the shell of the portable archive writes is compared with the native one's, a C program is
# linked with the static library, and the wheel, in Debian's Python for that machine, gives the same bytes by loops over loaders.
#   tests/aarch64_packages.sh [--artifacts DIR]
# DIR has the artifacts of bindings/release.sh, where a wheel may be missing; without it they are made in build/aarch64-packages.
# Native is the archive for x86-64 in DIR, or else the release build. Ends with 77 where QEMU or Debian's packages for arm64 cannot be
# had. By bindings/release.sh --try, which tests/run.sh --long calls.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case $#:${1:-} in
  0:) artifacts='' ;;
  2:--artifacts) artifacts=$(cd "$2" && pwd) ;;
  *) echo 'usage: tests/aarch64_packages.sh [--artifacts DIR]' >&2; exit 2 ;;
esac
fail() { echo "aarch64_packages.sh: $*" >&2; exit 1; }
export DATALINE_ARCH=aarch64
# shellcheck source=bindings/cpp/packages/portable/machine.sh
. "$root/bindings/cpp/packages/portable/machine.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# ---- The artifacts, a native shell, and Debian for arm64.

version=$(sed -n 's/^project(dataline VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
if [[ -z $artifacts ]]; then
  artifacts=$root/build/aarch64-packages
  rm -rf "$artifacts"
  "$root/bindings/cpp/package.sh" "$artifacts" || exit $?
  "$root/bindings/python/package.sh" "$artifacts" || exit $?
fi
archive=$artifacts/dataline-$version-linux-aarch64.tar.gz
[[ -e $archive ]] || fail "there is no ${archive##*/} in $artifacts"
native=$root/build/release/bin/dataline
portable=dataline-$version-linux-x86_64
if [[ -e $artifacts/$portable.tar.gz ]]; then
  tar -C "$scratch" -xf "$artifacts/$portable.tar.gz"
  native=$scratch/$portable/bin/dataline
fi
[[ -x $native ]] || { echo "skipped: there is no native shell to compare with (cmake --build --preset release)"; exit 77; }
command -v qemu-aarch64-static >/dev/null || { echo "skipped: there is no qemu-aarch64-static (apt-get install qemu-user-static)"; exit 77; }
python=$root/build/python/aarch64
"$root/bindings/python/foreign_python.sh" "$python" || exit $?
for_sysroot "$python/root"

# ---- The archive.

tar -C "$scratch" -xf "$archive"
at=$scratch/$(basename "$archive" .tar.gz)
for part in LICENSE NOTICE README.md dataline.spdx.json; do [[ -s $at/share/doc/dataline/$part ]] || fail "the archive is without $part"; done
[[ -s $at/share/man/man1/dataline.1 ]] || fail "the archive is without its manual pages"
"${run[@]}" "$at/bin/dataline" version
# shellcheck disable=SC2034  # for same_bytes.sh
place="the archive" other=("${run[@]}" "$at/bin/dataline")
# shellcheck source=tests/support/same_bytes.sh
. "$root/tests/support/same_bytes.sh"
(cd "$scratch" && "$native" info npy:image.npy >native.info && "${other[@]}" info npy:image.npy >other.info && cmp native.info other.info) ||
  fail "the archive's info differs"
same_jobs
same_state

# Pictures by each decoder inside: a PNG and two WebP are written here, JPEGs are drawn where the release build can.
mkdir -p "$scratch/pictures/a"
python3 - "$scratch/pictures/a" <<'PYTHON'
import base64, gzip, os, struct, sys, zlib
os.chdir(sys.argv[1])
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\0" + bytes((x * y * 7 + c * 40) % 256 for x in range(50) for c in range(3)) for y in range(30))
head = chunk(b"IHDR", struct.pack(">IIBBBBB", 50, 30, 8, 2, 0, 0, 0))
open("1.png", "wb").write(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
open("2.webp", "wb").write(base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="))
open("3.webp", "wb").write(base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"))
open("../../lines.csv.gz", "wb").write(gzip.compress(b"x,y\n" + b"".join(b"%d,%d.5\n" % (i, i * i) for i in range(500)), mtime=0))
PYTHON
shapes=$root/build/release/bin/example_make_shapes
drawn=10
if [[ -x $shapes ]]; then
  "$shapes" --out "$scratch/shapes" --train 20 --val 4 >/dev/null
  for file in "$scratch"/shapes/train/*/*; do cp "$file" "$scratch/pictures/a/$((++drawn)).${file##*.}"; done
fi
for transform in "decode, resize([37, 29])" "decode, resize([60, 70]), random_resized_crop(24), hflip, normalize(imagenet), chw" \
  "decode, resize([20, 20], filter=lanczos), rotate(30), cast(f16)"; do
  same "$transform" folder:pictures --field image --shuffle full --transform "$transform" --num_workers 2
done
same "gzip" csv:lines.csv.gz --field x --shuffle full

# ---- The static library, with a C compiler alone.

awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/docs/pages/quickstart/c.md" >"$scratch/quickstart.c"
if "${cross}nm" -u "$at/lib/libdataline.a" | grep __aarch64_; then fail "libdataline.a needs a newer compiler's libgcc (above)"; fi
read -r -a libraries < <(sed -n 's/^Libs.private://p' "$at/lib/pkgconfig/dataline-link.pc")
"${cross}gcc" -I"$at/include" "$scratch/quickstart.c" "$at/lib/libdataline.a" "${libraries[@]}" -o "$scratch/quickstart"
head -c 160 /dev/zero >"$scratch/a.raw"
"${run[@]}" "$scratch/quickstart" "raw:$scratch/a.raw?dtype=u8&shape=16" | grep -q '^data: 10 samples at' ||
  fail "a program with the static library does not run"

# ---- The wheel: installed into a folder, for a pip that is of this machine.

wheel=$(find "$artifacts" -name "dataline-$version-cp39-abi3-*_aarch64.whl")
if [[ -z $wheel ]]; then
  echo "aarch64 packages: $count comparisons, all equal; there is no wheel"
  exit 0
fi
platform=manylinux${wheel##*[-.]manylinux} platform=${platform%.whl}
for pip in "$root"/build/python/{package,venv}/bin/python python3; do
  if [[ -x $(command -v "$pip") ]] && "$pip" -m pip --version >/dev/null 2>&1; then break; fi
done
PIP_ROOT_USER_ACTION=ignore "$pip" -m pip install -q --disable-pip-version-check --no-index --find-links "$artifacts" --target "$scratch/site" --no-deps --only-binary=:all: \
  --platform "$platform" --python-version 3.11 --implementation cp --abi abi3 dataline=="$version"
place="the wheel's shell" other=("${run[@]}" "$scratch/site/dataline/bin/dataline")
same "permuted" npy:image.npy --shuffle full --seed 3
cat >"$scratch/cat.py" <<'PYTHON'
"""`dataline cat URI --field FIELD KEY VALUE...` by the package: the bytes of a field, batch for batch."""
import sys
import dataline

uri, field, *options = sys.argv[1:]
options = dict(zip(options[::2], options[1::2]))
for batch in dataline.Loader(uri, **options):
    sys.stdout.buffer.write(memoryview(batch.tensor(field)).tobytes())
PYTHON
# looped URI FIELD KEY VALUE...
looped() {
  local uri=$1 field=$2 words=()
  shift 2
  for ((i = 1; i < $#; i += 2)); do words+=("--${!i}" "${@:i+1:1}"); done
  (cd "$scratch" && "$native" cat "$uri" --field "$field" "${words[@]}" >native.out &&
    PYTHONPATH=$scratch/site "$python/python" cat.py "$uri" "$field" "$@" >other.out)
  [[ -s $scratch/native.out ]] || fail "no bytes: cat $uri"
  cmp "$scratch/native.out" "$scratch/other.out" || fail "the wheel's loop differs: $uri $*"
  count=$((count + 1))
}
looped npy:image.npy data shuffle full seed 7 batch_size 64 num_workers 2
looped npy:image=image.npy,label=label.npy label shuffle full world_size 3 rank 2 batch_size 11 last_batch pad
looped "npy:image.npy?axes=HWC" data transform "random_crop([8, 8], padding=2), hflip(0.5), normalize(imagenet)" seed 4
looped folder:pictures image transform "decode, resize([37, 29])" shuffle full num_workers 2
looped tokens:tokens.bin?length=33 x shuffle full last_batch drop
# Python's own objects, and errors.
PYTHONPATH=$scratch/site "$python/python" - <<'PYTHON'
import array, platform
import dataline

assert platform.machine() == "aarch64"
class Source:
    def __len__(self): return 100
    def __getitem__(self, index):
        if index == 50: raise ValueError("bad")
        return {"n": index, "text": "x" * index}

loader = dataline.Loader(dataline.from_reader(Source()), batch_size=10, on_error="replace", num_workers=2)
assert sum(len(batch.tensor("n")) for batch in loader) == 100
assert [bad.index for bad in loader.bad_samples()] == [50]
values = array.array("i", range(1000))
assert sorted(n for batch in dataline.Loader(dataline.from_arrays({"x": values}), batch_size=64, shuffle=True)
              for n in memoryview(batch.tensor("x")).tolist()) == list(range(1000))
try:
    dataline.open("npy:nowhere.npy")
except FileNotFoundError as error:
    assert error.errno == 2 and error.name == "DL_ERR_NOT_FOUND"
PYTHON
echo "aarch64 packages: $count comparisons, all equal"
