#!/usr/bin/env bash
# The main job from nothing: installs what is missing, builds, makes or takes MNIST digits (with --images: folders of JPEG
# pictures), trains a small network on them in C, then shows that a stop in mid-epoch and a resume in a new process give
# the same weights, bit for bit.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage='usage: bash examples/run.sh [--data DIR | --images [DIR]] [--epochs N] [--quick]

  --data DIR   the four MNIST files, .gz or not (otherwise 60,000 + 10,000 digits are drawn)
  --images     train on pictures instead: DIR/train/CLASS/* and DIR/val/CLASS/* (otherwise 3,000 + 600 JPEG files of
               shapes are drawn)
  --epochs N   how often the training set is seen (5; pictures 12)
  --quick      fewer samples and epochs: a few seconds
  --work DIR   where digits, pictures and checkpoints go (build/data)
  --bin DIR    programs that are built already; nothing is installed or built'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
data='' epochs='' quick=false images=false work="$root/build/data" bin=''

say() { printf '%s\n' "$*"; }
refuse() { printf 'run.sh: %s\n\n%s\n' "$1" "$usage" >&2; exit 2; }
fail() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }

while [[ $# -gt 0 ]]; do
  flag=${1%%=*}
  case $flag in
    --data | --epochs | --work | --bin)
      if [[ $1 == *=* ]]; then value=${1#*=}; elif [[ $# -gt 1 ]]; then value=$2; shift; else refuse "$flag: its value is missing"; fi
      [[ -n $value ]] || refuse "$flag: its value is empty"
      printf -v "${flag#--}" '%s' "$value" ;;
    --images)
      images=true
      if [[ $1 == *=* ]]; then data=${1#*=}; elif [[ $# -gt 1 && $2 != --* ]]; then data=$2; shift; fi ;;
    --quick) quick=true ;;
    --help | -h) say "$usage"; exit 0 ;;
    *) refuse "unknown argument \"$1\"" ;;
  esac
  shift
done
if [[ -z $epochs ]]; then
  if $images; then epochs=12; else epochs=5; fi
  if $quick; then if $images; then epochs=4; else epochs=2; fi; fi
fi
[[ $epochs =~ ^[1-9][0-9]{0,3}$ ]] || refuse "--epochs: expected an integer in 1 .. 9999, got \"$epochs\""
if [[ -n $data && ! -d $data ]]; then fail "$data is not a directory"; fi

# The programs, headers and packages below are Debian's and Ubuntu's names for the same things.
have_header() { printf '#include <%s>\n' "$1" | c++ -E -x c++ - >/dev/null 2>&1; }

jpeg_package() { # Debian's name, or Ubuntu's for the same library
  if command -v apt-cache >/dev/null && [[ -z $(apt-cache show libjpeg62-turbo-dev 2>/dev/null) ]] &&
    [[ -n $(apt-cache show libjpeg-turbo8-dev 2>/dev/null) ]]; then
    say libjpeg-turbo8-dev
  else
    say libjpeg62-turbo-dev
  fi
}

missing_packages() {
  command -v c++ >/dev/null && command -v cc >/dev/null || say g++
  command -v cmake >/dev/null || say cmake
  command -v ninja >/dev/null || say ninja-build
  command -v pkg-config >/dev/null || say pkg-config
}
missing_extras() { # each makes the library faster or more able; none is needed
  command -v c++ >/dev/null || { say libhwy-dev libdeflate-dev libmimalloc-dev libjpeg62-turbo-dev libspng-dev libwebp-dev; return; }
  have_header hwy/highway.h || say libhwy-dev
  have_header libdeflate.h || say libdeflate-dev
  have_header mimalloc.h || say libmimalloc-dev
  printf '#include <stdio.h>\n#include <jpeglib.h>\n' | c++ -E -x c++ - >/dev/null 2>&1 || say "$(jpeg_package)"
  have_header spng.h || say libspng-dev
  have_header webp/decode.h || say libwebp-dev
}

install() { # install PACKAGE...: false when it cannot be done
  local become=()
  command -v apt-get >/dev/null || return 1
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || return 1
    become=(sudo)
  fi
  say "installing $*"
  "${become[@]}" apt-get update -qq || true
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

prepare_machine() {
  local needed extras
  mapfile -t needed < <(missing_packages)
  mapfile -t extras < <(missing_extras | tr ' ' '\n')
  [[ ${#needed[@]} -gt 0 || ${#extras[@]} -gt 0 ]] || return 0
  if install "${needed[@]}" "${extras[@]}"; then return 0; fi
  if [[ ${#needed[@]} -gt 0 ]]; then
    install "${needed[@]}" || fail "please install: ${needed[*]}"
  fi
  [[ ${#extras[@]} -eq 0 ]] || say "going on without: ${extras[*]}"
}

build() {
  # Tests and benches want more libraries than this job; where they are not installed, a fresh build leaves them out.
  local flags=() targets=(dataline_shared dataline_static dataline_cli examples)
  have_header gtest/gtest.h || flags+=(-DDATALINE_TESTS=OFF)
  have_header benchmark/benchmark.h || flags+=(-DDATALINE_BENCH=OFF)
  local log="$root/build/run.log"
  mkdir -p "$root/build"
  (cd "$root" && cmake --preset release "${flags[@]}") >"$log" 2>&1 || { tail -n 30 "$log" >&2; fail "configuring failed ($log)"; }
  if [[ -t 1 ]]; then
    (cd "$root" && cmake --build --preset release --target "${targets[@]}") || fail "building failed"
  else
    (cd "$root" && cmake --build --preset release --target "${targets[@]}") >>"$log" 2>&1 || { tail -n 30 "$log" >&2; fail "building failed ($log)"; }
  fi
}

# line_of FILE NAME: what follows "NAME: " in the output of the training program.
line_of() { sed -n "s/^$2: //p" "$1" | head -n 1; }

# train LOG ARGUMENT...: the whole report is kept in LOG; the epochs are shown (on a terminal the program draws a line).
train() {
  local log=$1
  shift
  "$bin/$program" --data "$data" "$@" | tee "$log" | sed -un '/^epoch/p; /^stopped/p'
}

draw_digits() {
  local size=()
  if $quick; then size=(--train 12000 --test 2000); fi
  data="$work/digits"
  "$bin/example_make_digits" --out "$data" "${size[@]}"
}

draw_shapes() {
  local size=() status=0
  if $quick; then size=(--train 1200 --val 240); fi
  data="$work/shapes"
  rm -rf "$data"  # of another size, perhaps
  "$bin/example_make_shapes" --out "$data" "${size[@]}" || status=$?
  [[ $status -ne 77 ]] || { say "skipped: pictures need libjpeg (libjpeg62-turbo-dev)"; exit 77; }
  return "$status"
}

started=$SECONDS
program=example_train_mnist
if $images; then program=example_train_images; fi
if [[ -z $bin ]]; then
  say "[1/4] build"
  prepare_machine
  build
  bin="$root/build/release/bin"
else
  say "[1/4] build: $bin"
  [[ -x $bin/$program ]] || fail "--bin: $bin has no $program"
  bin=$(cd "$bin" && pwd)
fi
mkdir -p "$work" || fail "--work: $work cannot be made"

settings=(--epochs "$epochs")
if [[ -n $data ]]; then
  say "[2/4] data: $data"
  if $quick && ! $images; then settings+=(--samples 12000); fi
elif $images; then
  say "[2/4] data: drawing shapes to $work/shapes"
  draw_shapes
else
  say "[2/4] data: drawing digits to $work/digits"
  draw_digits
fi

say "[3/4] train: $epochs epochs"
train "$work/train.log" "${settings[@]}"

# In the middle of the job, and never at an epoch's end.
steps=$(line_of "$work/train.log" "steps per epoch")
stop=$((epochs / 2 * steps + steps / 2 + 1))
say "[4/4] the same again, stopped after $stop steps, then resumed in a new process with other threads"
train "$work/stopped.log" "${settings[@]}" --stop-after "$stop" --save-state "$work/job.ckpt"
train "$work/resumed.log" --resume "$work/job.ckpt" --num-workers 2

say
for name in "test accuracy" "waited for data" "training speed"; do
  say "$name: $(line_of "$work/train.log" "$name")"
done
whole=$(line_of "$work/train.log" "weights digest")
resumed=$(line_of "$work/resumed.log" "weights digest")
if [[ -z $whole || $whole != "$resumed" ]]; then
  say "resume: weights differ ($whole, $resumed)"
  exit 1
fi
say "resume: weights identical"
say "finished in $((SECONDS - started)) s"
