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
  --build DIR  where it is built (build/release), for one, where this tree is read-only; a folder that was configured before is
               used as it is
  --work DIR   where digits, pictures and checkpoints go (build/data; DIR/data after --build DIR)
  --bin DIR    programs that are built already; nothing is installed or built'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
data='' epochs='' quick=false images=false build='' work='' bin=''

say() { printf '%s\n' "$*"; }
refuse() { printf 'run.sh: %s\n\n%s\n' "$1" "$usage" >&2; exit 2; }
fail() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }

while [[ $# -gt 0 ]]; do
  flag=${1%%=*}
  case $flag in
    --data | --epochs | --build | --work | --bin)
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

# In a folder of its own configuration only what is built here is configured: tests and benches want more libraries. One that
# is configured already, perhaps with tests, stays as somebody wanted it.
configure() {
  if [[ -f $build/CMakeCache.txt && -f $build/build.ninja ]]; then
    cmake -S "$root" -B "$build"
    return
  fi
  local flags=(-DDATALINE_TESTS=OFF -DDATALINE_BENCH=OFF)
  # Slow is better than nothing here; elsewhere somebody has to say so.
  printf '#include <hwy/highway.h>\n' | c++ -E -x c++ - >/dev/null 2>&1 || flags+=(-DDATALINE_WITH_HIGHWAY=AUTO)
  (cd "$root" && cmake --preset release -B "$build" "${flags[@]}")
}

# Keeps a build's output in FILE. A line for each tenth is shown: minutes should not pass in silence.
show_tenths() {
  local line tenths=0
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$1"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    ((BASH_REMATCH[1] * 10 / BASH_REMATCH[2] > tenths)) || continue
    tenths=$((BASH_REMATCH[1] * 10 / BASH_REMATCH[2]))
    say "built ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} files, $((SECONDS - started)) s"
  done
}

build() {
  local log="$build/run.log" targets=(dataline_shared dataline_static dataline_cli examples_c)
  local advice="$build was configured before: remove it, or name another folder with --build DIR"
  [[ -f $build/CMakeCache.txt ]] || advice="all of it is in $log"
  configure >"$log" 2>&1 || { tail -n 30 "$log" >&2; fail "configuring failed; $advice"; }
  if [[ -t 1 ]]; then
    cmake --build "$build" --target "${targets[@]}" || fail "building failed; $advice"
  else
    NINJA_STATUS='[%f/%t] ' cmake --build "$build" --target "${targets[@]}" 2>&1 | show_tenths "$log" ||
      { tail -n 30 "$log" >&2; fail "building failed; $advice"; }
  fi
  # By its own word, with what that costs.
  "$build/bin/dataline" version | sed -n 's/^missing */built without /p'
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

# What this run built and made, and where.
used() {
  local folders=("$work")
  if [[ -n $build && $work == "$build"/* ]]; then folders=("$build"); elif [[ -n $build ]]; then folders=("$build" "$work"); fi
  printf '%s MB in %s' "$(du -scm "${folders[@]}" 2>/dev/null | tail -n 1 | cut -f 1)" "${folders[0]}${folders[1]:+ and ${folders[1]}}"
}

started=$SECONDS
program=example_train_mnist
if $images; then program=example_train_images; fi
if [[ -z $bin ]]; then
  say "[1/4] build"
  folder=${build:-"$root/build/release"}
  # Before anything is installed.
  mkdir -p "$folder" 2>/dev/null && [[ -w $folder ]] || fail "$folder cannot be written to: name a folder that can, --build DIR"
  [[ -n $work ]] || work=${build:+"$folder/data"}
  build=$(cd "$folder" && pwd)
  "$root/core/setup.sh" || exit 1
  build
  bin="$build/bin"
else
  say "[1/4] build: $bin"
  [[ -x $bin/$program ]] || fail "--bin: $bin has no $program"
  bin=$(cd "$bin" && pwd)
fi
work=${work:-"$root/build/data"}
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
say "finished in $((SECONDS - started)) s; $(used)"
