# The same bytes on another machine: sourced by the scripts that build the shell for one. `native` is the shell of this machine,
# `other` (an array) the command that runs the other one, `place` its name, `scratch` an empty folder. A difference ends the
# script with 1; `count` counts what was equal.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154

python3 - "$scratch" <<'PY'
import os, struct, sys
os.chdir(sys.argv[1])
chance = 12345
def data(count):
    global chance
    out = bytearray()
    for _ in range(count):
        chance = (chance * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(chance >> 56)
    return bytes(out)
def npy(name, descr, shape, content):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content)
npy("image.npy", "|u1", (500, 12, 10, 3), data(500 * 360))
npy("label.npy", "<i8", (500,), b"".join(struct.pack("<q", i % 10) for i in range(500)))
npy("big.npy", ">f4", (300, 7), b"".join(struct.pack(">f", (b - 128) / 7 * 10.0 ** (b % 9 - 4)) for b in data(2100)))
open("tokens.bin", "wb").write(data(20000))
open("weights.txt", "w").write("\n".join(str(i % 7 + 0.25) for i in range(500)))
PY

count=0
same() { # same NAME cat-words...: the native bytes and the other's
  local name=$1
  shift
  (cd "$scratch" && "$native" cat "$@" >native.out && "${other[@]}" cat "$@" >other.out)
  cmp -s "$scratch/native.out" "$scratch/other.out" || { echo "$place: $name differs: cat $*"; exit 1; }
  [ -s "$scratch/native.out" ] || { echo "$place: $name wrote nothing: cat $*"; exit 1; }
  count=$((count + 1))
}

# Orders, conversions and compositions.
same_jobs() {
  truncate -s 100000 "$scratch/wide.bin"
  same "Fisher-Yates" npy:label.npy --shuffle full --seed 5 --epochs 3
  same "Feistel" "raw:wide.bin?dtype=u8&shape=1" --shuffle full --indices --seed 9
  same "weights" npy:label.npy --weights weights.txt --seed 2 --indices
  same "weights without replacement" npy:label.npy --weights weights.txt --replacement=false --samples_per_epoch 300 --indices
  same "ranks" npy:label.npy --shuffle full --world_size 3 --rank 2 --batch_size 11 --last_batch pad
  same "byte order" npy:big.npy --shuffle full
  for transform in "cast(f32)" "cast(f16)" "cast(bf16)" "normalize(imagenet)" "normalize(imagenet), cast(bf16)" "chw, normalize(mean=0.5, std=0.3)" \
    "random_crop([8, 8], padding=2), hflip(0.5)" "center_crop(9), cast(f16)" "scale(0.1), flatten"; do
    same "$transform" "npy:image.npy?axes=HWC" --shuffle full --transform "$transform" --num_workers 2
  done
  for dtype in u8 i16 i64 f16 bf16 f64; do same "f32 to $dtype" npy:big.npy --transform "cast($dtype)"; done
  same "one_hot" npy:label.npy --transform "one_hot(10)"
  same "tokens" "tokens:tokens.bin?length=33&stride=7" --field y --shuffle full
  same "zip and concat" "npy:image=image.npy,label=label.npy" --field image --shuffle full --io pread
  same "another batch" npy:image.npy,image.npy --shuffle full --batch_size 77 --prefetch_depth 1 --num_workers 3
}

# A state saved there goes on here.
same_state() {
  (cd "$scratch" && "${other[@]}" cat npy:label.npy --shuffle full --batches 7 --save-state there.state >first.out &&
    "$native" cat npy:label.npy --shuffle full --load-state there.state >rest.out && cat first.out rest.out >joined.out &&
    "$native" cat npy:label.npy --shuffle full >whole.out)
  cmp -s "$scratch/joined.out" "$scratch/whole.out" || { echo "$place: a state saved there does not go on here"; exit 1; }
  count=$((count + 1))
}
