# shellcheck shell=bash disable=SC2154
# try_cpp_deb ARTIFACTS: Debian's packages on the Debian they are made for, in a bare system: the first ten lines of
# bindings/cpp/README.md by the lines around them, then a project with find_package for either library, the shell, and removal.
# Sourced by tests/packages/cpp.sh.
# SPDX-License-Identifier: Apache-2.0

try_cpp_deb() {
  local artifacts=$1 at=$scratch/cpp_deb/srv/try
  if [[ $suite != bookworm ]]; then
    echo "packages: cpp: skipped: the .deb files are made for Debian 12"
    return
  fi
  compgen -G "$artifacts/libdataline2_*.deb" >/dev/null || fail "there is no libdataline2_*.deb in $artifacts (bindings/cpp/packages/deb.sh makes it)"
  system cpp_deb --without-tree
  mkdir -p "$at"
  cp "$artifacts"/*dataline*.deb "$at/"
  cpp_host "$at"
  { echo 'set -e'; cpp_readme_block 1 sh | sed 's/^sudo //'; cpp_readme_block 2 sh; } >"$at/first.sh"
  sed -i "s/apt-get install/apt-get install -y -qq/" "$at/first.sh"
  cat >"$at/more.sh" <<'SH'
set -e
apt-get install -y -qq --no-install-recommends ./dataline_*.deb cmake make libdeflate-dev libjpeg62-turbo-dev libspng-dev libwebp-dev libzstd-dev liblz4-dev >/dev/null
for shared in ON OFF; do
  cmake -B "build-$shared" -DBUILD_SHARED_LIBS=$shared >/dev/null
  cmake --build "build-$shared" >/dev/null
  "build-$shared/first" | grep -c '128 rows, 512 numbers' | grep -qx 7
done
ldd build-ON/first | grep -q libdataline.so.2
if ldd build-OFF/first | grep libdataline; then echo 'linked statically, and still needs libdataline.so'; exit 1; fi
dataline version
dpkg-query -W -f '${Package} ${Status}\n' libdataline2 libdataline-dev dataline
test -s /usr/share/doc/libdataline2/copyright -a -s /usr/share/doc/dataline/copyright
# minbase leaves out what is under man; the package has it.
for file in man/man1/dataline.1.gz man/man1/dataline-show.1.gz bash-completion/completions/dataline zsh/site-functions/_dataline \
  fish/vendor_completions.d/dataline.fish; do
  dpkg-deb --fsys-tarfile dataline_*.deb | tar -t | grep -qx "./usr/share/$file" || { echo "the package has no share/$file"; exit 1; }
done
apt-get remove -y -qq libdataline2 >/dev/null
if ls /usr/lib/*/libdataline* /usr/include/dataline* /usr/bin/dataline 2>/dev/null; then echo 'something is left after removal'; exit 1; fi
SH
  first_batch "C++ by apt-get, Debian 12" chroot_in cpp_deb /srv/try bash -c 'apt-get install -y -qq --no-install-recommends g++ pkg-config >/dev/null && bash first.sh'
  logged cpp_deb_more chroot_in cpp_deb /srv/try bash more.sh || fail "the packages of $artifacts do not work (above)"
}
