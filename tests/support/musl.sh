#!/usr/bin/env bash
# The static library with musl instead of glibc, and static programs in C and C++ that are hosts of it: for tests/compilers.sh.
# The compiler is Zig's clang with its own musl and libc++, from PyPI (build/musl/zig). There are no optional libraries, and no
# shared one: Zig's linker does not know --exclude-libs. Ends with 77 where Zig cannot be had.
#   tests/support/musl.sh
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/musl began=$SECONDS zig=ziglang==0.17.1
mkdir -p "$build/bin"
fail() { echo "musl: $*"; exit 1; }
if [[ $(cat "$build/zig/ready" 2>/dev/null) != "$zig" ]]; then
  rm -rf "$build/zig" "$build/tree"
  { python3 -m venv "$build/zig" && "$build/zig/bin/pip" install -q --disable-pip-version-check "$zig"; } >"$build/log" 2>&1 || {
    rm -rf "$build/zig"
    echo "skipped: $zig cannot be had from PyPI ($build/log)"
    exit 77
  }
  echo "$zig" >"$build/zig/ready"
fi
for tool in cc c++ ar ranlib; do
  target=""
  case $tool in cc | c++) target="-target x86_64-linux-musl" ;; esac
  printf '#!/bin/sh\nexec "%s" -m ziglang %s %s "$@"\n' "$build/zig/bin/python" "$tool" "$target" >"$build/bin/$tool"
  chmod +x "$build/bin/$tool"
done

options=()
for option in HIGHWAY LIBJPEG LIBSPNG LIBWEBP LIBDEFLATE MIMALLOC CUDA; do options+=("-DDATALINE_WITH_$option=OFF"); done
cmake -S "$root" -B "$build/tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$build/bin/cc" -DCMAKE_CXX_COMPILER="$build/bin/c++" \
  -DCMAKE_AR="$build/bin/ar" -DCMAKE_RANLIB="$build/bin/ranlib" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DDATALINE_TESTS=OFF -DDATALINE_BENCH=OFF \
  -DDATALINE_EXAMPLES=OFF -DDATALINE_CLI=OFF "${options[@]}" >"$build/log" 2>&1 || { tail -n 20 "$build/log"; fail "configuring failed"; }
cmake --build "$build/tree" --target dataline_static >"$build/log" 2>&1 || { grep -A8 -E 'error|FAILED' "$build/log" | head -n 60; fail "building failed"; }

# The hosts of README and site: in C, and in C++ with the same libc++.
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/docs/pages/quickstart/c.md" >"$build/host.c"
awk '$0 == "```cpp" { on = 1; next } /^```$/ { if (on) exit } on' "$root/bindings/cpp/README.md" >"$build/host.cpp"
"$build/bin/cc" -c -I"$root/capi" "$build/host.c" -o "$build/host.o"
"$build/bin/c++" -static "$build/host.o" "$build/tree/lib/libdataline.a" -o "$build/host-c"
"$build/bin/c++" -static -std=c++20 -I"$root/capi" -I"$root/bindings/cpp/include" "$build/host.cpp" "$build/tree/lib/libdataline.a" -o "$build/host-cpp"
for program in host-c host-cpp; do
  ! readelf -l "$build/$program" | grep -q INTERP || fail "$program is not a static program"
done
head -c 160 /dev/zero >"$build/a.raw"
printed=$("$build/host-c" "raw:$build/a.raw?dtype=u8&shape=16") || fail "the C host failed"
[[ $printed == 'data: 10 samples at'* ]] || fail "the C host printed: $printed"
printed=$("$build/host-cpp") || fail "the C++ host failed"
[[ $(grep -c '^128 rows, 512 numbers' <<<"$printed") -eq 7 ]] || fail "the C++ host printed: $printed"
echo "musl: a static library, and C and C++ hosts of it, in $((SECONDS - began)) s"
