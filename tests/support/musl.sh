#!/usr/bin/env bash
# The static library with musl instead of glibc, and static programs in C and C++ that are hosts of it: for tests/compilers.sh.
# The compiler is Zig's clang with its own musl and libc++, from PyPI (build/musl/zig). There are no optional libraries, and no
# shared one: Zig's linker does not know --exclude-libs. Workers have room enough also where threads get musl's small stacks. Ends
# with 77 where Zig cannot be had.
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
for option in HIGHWAY LIBJPEG LIBSPNG LIBWEBP LIBDEFLATE LIBZSTD LIBLZ4 MIMALLOC CUDA; do options+=("-DDATALINE_WITH_$option=OFF"); done
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
# Zig's linker asks for large stacks, which musl then gives every thread. This host is linked with those of musl, 128 KiB, and has a
# reader that needs more, before pixel operators: on the library's threads.
cat >"$build/small.c" <<'HOST'
#include <dataline.h>
#include <stdio.h>
#include <string.h>

static int32_t read_deep(void *context, dl_reader_request *request) {
  volatile unsigned char deep[400 << 10];
  (void)context;
  for (size_t i = 0; i < sizeof deep; i += 512) deep[i] = (unsigned char)i;
  for (int32_t i = 0; i < request->record_count; ++i)
    memset(dl_reader_cell_at(request, i, 0)->data, deep[(size_t)(request->indices[i] % 2) * 512], 48 * 48 * 3);
  return 0;
}

int main(void) {
  int64_t shape[] = {48, 48, 3};
  dl_view field = {.struct_size = sizeof field, .name = "image", .kind = DL_KIND_DENSE, .dtype = DL_DTYPE_U8, .rank = 3, .shape = shape, .axes = "HWC"};
  dl_reader reader = {.struct_size = sizeof reader, .field_count = 1, .fields = &field, .record_count = 64, .read = read_deep};
  dl_error error = DL_ERROR_INIT;
  dl_options *options = NULL;
  dl_dataset *dataset = NULL;
  dl_loader *loader = NULL;
  dl_batch *batch = NULL;
  int64_t samples = 0;
  dl_status status = dl_options_create(&options, &error);
  if (status == DL_OK) status = dl_options_set(options, "num_workers", "2", &error);
  if (status == DL_OK) status = dl_options_set(options, "transform",
      "resize(64), rand_augment, color_jitter(0.4, 0.4, 0.4, 0.1), perspective(0.5, p=1), gaussian_blur(9), "
      "random_resized_crop(32), normalize(imagenet), chw", &error);
  if (status == DL_OK) status = dl_dataset_from_reader(&reader, options, &dataset, &error);
  if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, &error);
  while (status == DL_OK && (status = dl_loader_next(loader, -1, &batch, &error)) == DL_OK) {
    dl_batch_info info = {.struct_size = sizeof info};
    status = dl_batch_get_info(batch, &info, &error);
    samples += info.samples;
    dl_batch_release(batch);
  }
  if (status < 0) fprintf(stderr, "%s\n", error.message);
  printf("%lld samples\n", (long long)samples);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset), dl_options_destroy(options);
  return status < 0;
}
HOST
"$build/bin/cc" -c -I"$root/capi" "$build/small.c" -o "$build/small.o"
"$build/bin/c++" -static -Wl,-z,stack-size=131072 "$build/small.o" "$build/tree/lib/libdataline.a" -o "$build/host-small"
readelf -lW "$build/host-small" | grep -q 'GNU_STACK.* 0x0*20000 ' || fail "host-small is not linked with musl's own stacks: $(readelf -lW "$build/host-small" | grep GNU_STACK)"
for program in host-c host-cpp host-small; do
  ! readelf -l "$build/$program" | grep -q INTERP || fail "$program is not a static program"
done
head -c 160 /dev/zero >"$build/a.raw"
printed=$("$build/host-c" "raw:$build/a.raw?dtype=u8&shape=16") || fail "the C host failed"
[[ $printed == 'data: 10 samples at'* ]] || fail "the C host printed: $printed"
printed=$("$build/host-cpp") || fail "the C++ host failed"
[[ $(grep -c '^128 rows, 512 numbers' <<<"$printed") -eq 7 ]] || fail "the C++ host printed: $printed"
printed=$("$build/host-small") || fail "the host with threads of 128 KiB failed"
[[ $printed == '64 samples' ]] || fail "the host with threads of 128 KiB printed: $printed"
echo "musl: a static library, and C and C++ hosts of it, in $((SECONDS - began)) s"
