# shellcheck shell=bash disable=SC2154
# try_cpp_tarball ARTIFACTS: the portable archive, unpacked in a home folder of a bare system (Debian 12 or 13) that has a compiler and
# none of our libraries: the ten lines of bindings/cpp/README.md and the C quickstart of the site, by pkg-config and by CMake, with the
# shared and with the static library; then the same from the place that the folder is moved to. Sourced by tests/packages/cpp.sh.
# SPDX-License-Identifier: Apache-2.0

try_cpp_tarball() {
  local artifacts=$1 archive at=$scratch/cpp_tarball/srv/try
  archive=$(find "$artifacts" -maxdepth 1 -name 'dataline-*-linux-x86_64.tar.gz' | head -n 1)
  [[ -n $archive ]] || fail "there is no portable archive in $artifacts (bindings/cpp/packages/tarball.sh makes it)"
  system cpp_tarball --without-tree
  mkdir -p "$at"
  cp "$archive" "$at/"
  cpp_host "$at"
  awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/docs/pages/quickstart/c.md" >"$at/quickstart.c"
  cat >"$at/first.sh" <<'SH'
set -e
apt-get install -y -qq --no-install-recommends g++ pkg-config >/dev/null
tar xzf dataline-*-linux-x86_64.tar.gz
export PKG_CONFIG_PATH=$(echo "$PWD"/dataline-*/lib/pkgconfig) LD_LIBRARY_PATH=$(echo "$PWD"/dataline-*/lib)
g++ -std=c++17 first.cpp $(pkg-config --cflags --libs dataline) -o first
./first
SH
  cat >"$at/more.sh" <<'SH'
set -e
apt-get install -y -qq --no-install-recommends cmake make >/dev/null
mkdir elsewhere
mv dataline-*/ 'elsewhere/the library'
at="$PWD/elsewhere/the library"
"$at/bin/dataline" version
head -c 160 /dev/zero >a.raw
check() { # check COMMAND...: what it prints, of the raw file or of the ten lines
  "$@" >printed && grep -Eq '^data: 10 samples at|^104 rows, 416 numbers' printed || { echo "failed: $*"; cat printed; exit 1; }
}
link() { # link OUTPUT [--static] COMPILER FILE FLAG...
  local output=$1 static=() flags
  shift
  if [ "$1" = --static ]; then static=(--static); shift; fi
  eval "flags=($(PKG_CONFIG_PATH="$at/lib/pkgconfig" pkg-config "${static[@]}" --cflags --libs dataline))"
  "$@" "${flags[@]}" -o "$output"
}
raw='raw:a.raw?dtype=u8&shape=16'
link c-shared gcc quickstart.c -Wl,-rpath,"$at/lib"
link c-static --static gcc quickstart.c
link c-all-static --static gcc -static quickstart.c 2>/dev/null
link cpp-static --static g++ -std=c++17 first.cpp
link cpp-own-runtime --static g++ -std=c++17 -static-libstdc++ first.cpp
for program in c-shared c-static c-all-static; do check ./$program "$raw"; done
for program in cpp-static cpp-own-runtime; do check ./$program; done
if ldd c-static | grep -E 'libdataline|libstdc|jpeg|spng|webp|deflate|mimalloc'; then echo 'linked statically, and needs more than the C library'; exit 1; fi
for shared in ON OFF; do
  cmake -S . -B "build-$shared" -DCMAKE_PREFIX_PATH="$at" -DBUILD_SHARED_LIBS=$shared >/dev/null
  cmake --build "build-$shared" >/dev/null
  check "build-$shared/first"
done
for part in LICENSE NOTICE README.md dataline.spdx.json; do test -s "$at/share/doc/dataline/$part"; done
test -s "$at/share/man/man1/dataline.1"
SH
  first_batch "C++ by the portable archive" chroot_in cpp_tarball /srv/try bash first.sh
  [[ $(grep -c '128 rows, 512 numbers' "$scratch/first_batch.log") -eq 7 ]] || fail "the portable archive: the ten lines did not print 7 batches"
  logged cpp_tarball_more chroot_in cpp_tarball /srv/try bash more.sh || fail "the portable archive of $artifacts does not work (above)"
}
