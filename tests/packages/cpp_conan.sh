# shellcheck shell=bash disable=SC2154
# try_cpp_conan ARTIFACTS: the archive of packages/conan.sh in a bare system with PyPI's Conan and Debian's compiler: restored, found by
# a host's CMakeLists.txt with CMakeDeps, run. Then the same recipe once more from the sources in the archive, static, and without
# image libraries. Sourced by tests/packages/cpp.sh.
# SPDX-License-Identifier: Apache-2.0

try_cpp_conan() {
  local artifacts=$1 at=$scratch/cpp_conan/srv/try
  if [[ $suite != bookworm ]]; then
    echo "packages: cpp: Conan: skipped: the archive's binary is for gcc 12, Debian 12's"
    return
  fi
  compgen -G "$artifacts/dataline-*-conan.tgz" >/dev/null || fail "there is no dataline-VERSION-conan.tgz in $artifacts (bindings/cpp/packages/conan.sh makes it)"
  system cpp_conan --without-tree
  mkdir -p "$at"
  cp "$artifacts"/dataline-*-conan.tgz "$at/"
  cpp_host "$at"
  cat >"$at/conanfile.txt" <<'CONAN'
[requires]
dataline/[>=0.2]
[generators]
CMakeDeps
CMakeToolchain
CONAN
  cat >"$at/first.sh" <<'SH'
set -e
apt-get install -y -qq --no-install-recommends python3-venv g++ cmake make libdeflate-dev libhwy-dev libjpeg62-turbo-dev libspng-dev libwebp-dev libzstd-dev liblz4-dev >/dev/null
python3 -m venv venv
venv/bin/pip install -q conan==2.34.0
export PATH=$PWD/venv/bin:$PATH
conan profile detect 2>/dev/null
conan cache restore dataline-*-conan.tgz 2>/dev/null
bash host.sh build-restored
SH
  cat >"$at/host.sh" <<'SH'
# host.sh FOLDER CONAN_INSTALL_ARGUMENT...: the host, built there with the package that Conan gives it, and run.
set -e
folder=$1
shift
export PATH=$PWD/venv/bin:$PATH
conan install . --no-remote --output-folder "$folder" "$@" >conan.log 2>&1 || { tail -n 40 conan.log; exit 1; }
cmake -S . -B "$folder" -DCMAKE_TOOLCHAIN_FILE="$PWD/$folder/conan_toolchain.cmake" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$folder" >/dev/null
. "$folder/conanrun.sh"
"$folder/first"
SH
  cat >"$at/more.sh" <<'SH'
set -e
options=(-o "dataline/*:shared=False")
for option in jpeg png webp deflate; do options+=(-o "dataline/*:with_$option=False"); done
bash host.sh build-static --build=missing "${options[@]}"
if ldd build-static/first | grep -E 'libdataline|jpeg|spng|webp|deflate'; then echo 'it needs what it was built without'; exit 1; fi
SH
  first_batch "C++ by Conan, Debian 12" chroot_in cpp_conan /srv/try bash first.sh
  [[ $(grep -c '128 rows, 512 numbers' "$scratch/first_batch.log") -eq 7 ]] || fail "Conan's package: the ten lines did not print 7 batches"
  logged cpp_conan_more chroot_in cpp_conan /srv/try bash more.sh || fail "Conan's recipe does not build the static library (above)"
}
