#!/usr/bin/env bash
# The libraries that the portable archive has inside, as static ones that a shared library may hold, for an old glibc: Debian's
# sources of them (its security fixes are in), compiled by this machine's gcc, or a cross compiler (machine.sh), against Debian
# 11's C library.
#   libraries.sh FOLDER
# FOLDER: sysroot (Debian 11's C library and its headers), include, lib, licences/NAME/*, sources.tsv (name, version, archive, its
# SHA-256). Does nothing when all is there. Ends with 77 where the packages cannot be had.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: libraries.sh FOLDER" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bindings/cpp/packages/portable/machine.sh
. "$here/machine.sh"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
suite=bookworm old_suite=bullseye
made=$({ echo "$folder $arch"; cat "$here"/{libraries.sh,machine.sh,old_glibc.c}; } | sha256sum | cut -d " " -f 1) # the folder: paths are in it
[[ $(cat "$folder/made" 2>/dev/null) != "$made" ]] || exit 0
rm -rf "$folder" && mkdir -p "$folder"/{include,lib,licences,sources}
lacks() { echo "skipped: $*"; exit 77; }
had() { "$@" >"$folder/log" 2>&1 || { tail -n 3 "$folder/log"; return 1; }; }
quietly() { "$@" >"$folder/log" 2>&1 || { tail -n 30 "$folder/log"; echo "libraries.sh: failed: $*" >&2; exit 1; }; }

# ---- What it takes.

# shellcheck disable=SC2016  # apt replaces these
mapfile -t mirrors < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(SIGNED_BY)' 'Identifier: Packages' |
  awk -v suite="$suite" '$3 == "main" && index($2, suite) == 1 { print $1, $2 }' | sort -u -k 2)
main=$(printf '%s\n' "${mirrors[@]}" | awk -v suite="$suite" '$2 == suite { print $1; exit }')
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -n $main && -e $keys ]] || lacks "apt knows no mirror of Debian's $suite"
had mmdebstrap --quiet --architectures="$debian_arch" --variant=extract --include=libc6-dev "$old_suite" "$folder/sysroot" "deb [signed-by=$keys] $main $old_suite main" ||
  lacks "Debian 11's C library cannot be had by mmdebstrap (from $main; as root)"
find "$folder/sysroot" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do ln -sfn "$folder/sysroot$target" "$link"; done
# The compiler looks there for the headers of C++ too; a cross compiler has them elsewhere.
version=$("${cross}gcc" -dumpversion)
places=(include/c++ "include/$multiarch/c++")
[[ -z $cross ]] || places=()
for place in "${places[@]}"; do
  mkdir -p "$folder/sysroot/usr/$place"
  ln -s "/usr/$place/$version" "$folder/sysroot/usr/$place/$version"
done

mkdir -p "$folder/apt/partial"
for mirror in "${mirrors[@]}"; do echo "deb-src [signed-by=$keys] $mirror main"; done >"$folder/sources.list"
apt=(apt-get -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$folder/apt" -qq)
had "${apt[@]}" update || lacks "Debian's list of sources cannot be had"
names=(highway libdeflate libjpeg-turbo libspng libwebp libzstd lz4 mimalloc zlib)
(cd "$folder/sources" && had "${apt[@]}" -o APT::Sandbox::User=root source "${names[@]}") || lacks "Debian's sources of ${names[*]} cannot be had"

# ---- Each library: its tree, its licences, what it was made of.

# taken NAME LICENCE_FILE...: sets `tree`; keeps the licences and where the sources are from.
taken() {
  local name=$1 file dsc
  shift
  tree=$(echo "$folder/sources/$name"-[0-9]*)
  dsc=$(echo "$folder/sources/${name}"_*.dsc)
  mkdir -p "$folder/licences/$name"
  for file in "$@"; do cp "$tree/$file" "$folder/licences/$name/"; done
  awk -v name="$name" '/^Version: / { version = $2 } /^Checksums-Sha256:/ { on = 1; next } /^[^ ]/ { on = 0 }
    on && $3 ~ /\.orig\.tar\.[a-z0-9]+$/ { print name "\t" version "\t" $3 "\t" $1 }' "$dsc" >>"$folder/sources.tsv"
}
for_sysroot "$folder/sysroot"
toolchain "$folder/toolchain.cmake"
flags="-O2 -fPIC -fvisibility=hidden"
jobs=${J:-$(nproc)}
# by_cmake TARGET ARGUMENT...: builds it in $tree/made.
by_cmake() {
  local target=$1
  shift
  quietly cmake -S "$tree" -B "$tree/made" -G Ninja -DCMAKE_BUILD_TYPE=None "${cmake_machine[@]}" -DCMAKE_C_FLAGS="$c_flags $flags -DNDEBUG" \
    -DCMAKE_CXX_FLAGS="$cxx_flags $flags -DNDEBUG" -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DBUILD_SHARED_LIBS=OFF "$@"
  quietly cmake --build "$tree/made" -j"$jobs" --target "$target"
}
# by_hand LIBRARY FILE...: compiles the files, which are few.
by_hand() {
  local library=$1 objects=() file
  shift
  for file in "$@"; do
    objects+=("$folder/sources/$(basename "$file" .c).o")
    # shellcheck disable=SC2086
    quietly "${cross}gcc" $c_flags $flags -DNDEBUG -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN -DHAVE_UNISTD_H -I"$folder/include" -c "$file" -o "${objects[-1]}"
  done
  quietly "${cross}ar" rcs "$folder/lib/$library" "${objects[@]}"
}

taken highway LICENSE
(cd "$tree" && find hwy -name '*.h' ! -path 'hwy/tests/*' ! -path 'hwy/contrib/*' -exec cp --parents {} "$folder/include" \;)

taken zlib README
cp "$tree"/{zlib.h,zconf.h} "$folder/include"
by_hand libz.a "$tree"/{adler32,compress,crc32,deflate,inffast,inflate,inftrees,trees,zutil}.c

taken libspng LICENSE
cp "$tree/spng/spng.h" "$folder/include"
sed -i 's/\bpow(/powl(/' "$tree/spng/spng.c" # of gamma, which nobody asks for; pow is of glibc 2.29
by_hand libspng.a "$tree/spng/spng.c"

taken libjpeg-turbo LICENSE.md README.ijg
by_cmake jpeg-static -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DREQUIRE_SIMD=ON
cp "$tree"/{jpeglib,jmorecfg,jerror,jpegint}.h "$tree/made/jconfig.h" "$folder/include"
cp "$tree/made/libjpeg.a" "$folder/lib"

taken libwebp COPYING PATENTS
by_cmake webpdecoder -DWEBP_BUILD_{ANIM_UTILS,CWEBP,DWEBP,GIF2WEBP,IMG2WEBP,VWEBP,WEBPINFO,WEBPMUX,EXTRAS}=OFF
mkdir "$folder/include/webp"
cp "$tree"/src/webp/{decode,types}.h "$folder/include/webp"
cp "$tree/made/libwebpdecoder.a" "$folder/lib"

taken libdeflate COPYING
quietly make -C "$tree" -j"$jobs" libdeflate.a CC="${cross}gcc" AR="${cross}ar" CFLAGS="$c_flags $flags -DNDEBUG"
cp "$tree/libdeflate.h" "$folder/include"
cp "$tree/libdeflate.a" "$folder/lib"

taken libzstd LICENSE # its BSD licence is taken, not the GPL that it offers too
quietly make -C "$tree/lib" -j"$jobs" libzstd.a CC="${cross}gcc" AR="${cross}ar" CFLAGS="$c_flags $flags -DNDEBUG" \
  ZSTD_LIB_DICTBUILDER=0 ZSTD_LIB_DEPRECATED=0 ZSTD_LEGACY_SUPPORT=0
cp "$tree"/lib/{zstd,zstd_errors}.h "$folder/include"
cp "$tree/lib/libzstd.a" "$folder/lib"

taken lz4 lib/LICENSE
cp "$tree"/lib/{lz4,lz4frame}.h "$folder/include"
by_hand liblz4.a "$tree"/lib/{lz4,lz4frame,lz4hc,xxhash}.c

taken mimalloc LICENSE # its malloc and operator new stay out; memory of threads that dlopen can always give
by_cmake mimalloc-static -DMI_OVERRIDE=OFF -DMI_BUILD_{SHARED,OBJECT,TESTS}=OFF -DMI_LOCAL_DYNAMIC_TLS=ON
cp "$tree"/include/mimalloc*.h "$folder/include"
cp "$tree"/made/libmimalloc*.a "$folder/lib/libmimalloc.a"

# With -L$folder/lib, -lstdc++ is the static one, and what that wants of a C library.
by_hand libold_glibc.a "$here/old_glibc.c"
echo "GROUP ( $("${cross}gcc" -print-file-name=libstdc++.a) $folder/lib/libold_glibc.a -lpthread )" >"$folder/lib/libstdc++.a"
mkdir -p "$folder/licences/libstdc++"
base=gcc-$version${cross:+-${cross%-}}-base
awk '/^GCC RUNTIME LIBRARY EXCEPTION/ { on = 1 } /^lib.*:$/ { if (on) exit } on' "/usr/share/doc/$base/copyright" >"$folder/licences/libstdc++/EXCEPTION"
cp /usr/share/common-licenses/GPL-3 "$folder/licences/libstdc++/"
grep -q 'You have permission to propagate' "$folder/licences/libstdc++/EXCEPTION" || lacks "the licence of libstdc++ is not in /usr/share/doc/$base"
# A cross compiler is made of the same source: 12.2.0-14cross1 is 12.2.0-14.
printf 'libstdc++\t%s\t\t\n' "$(dpkg-query -W -f '${Version}' "g++-$version${cross:+-${cross%-}}" | sed 's/cross[0-9]*$//')" >>"$folder/sources.tsv"
rm -rf "$folder"/{apt,log,sources.list,sources}
echo "$made" >"$folder/made"
