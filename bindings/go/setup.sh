#!/usr/bin/env bash
# Installs what the gate of the Go package needs and is missing, on Debian 12 or newer, as root or with sudo: Go, a C
# compiler and pkg-config for the form with cgo, and the modules that are imported. Ends with 77, and says what it lacks,
# where it cannot.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/toolchain.sh"

lacks() {
  echo "skipped: $*"
  exit 77
}

install() {
  command -v apt-get >/dev/null || lacks "no apt-get; install by hand: $*"
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    sudo -n true 2>/dev/null || lacks "not root, and no sudo without a password; run: apt-get install $*"
    as_root=(sudo -n)
  fi
  echo "setup: installing $*"
  "${as_root[@]}" apt-get update -qq || lacks "apt-get cannot update its lists"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null ||
    lacks "apt-get cannot install $*"
}

packages=()
command -v cc >/dev/null || packages+=(gcc libc6-dev)
command -v pkg-config >/dev/null || packages+=(pkg-config)
use_go || command -v go >/dev/null || packages+=(golang-go ca-certificates)
[[ ${#packages[@]} -eq 0 ]] || install "${packages[@]}"

if ! use_go; then
  echo "setup: fetching Go $go_wanted with $(go version)"
  folder=$(go_fetched)
  (cd / && go mod download "golang.org/toolchain@v0.0.1-go$go_wanted.$(go env GOOS)-$(go env GOARCH)") ||
    lacks "Go $go_wanted is not to be had, and $(go version) is too old"
  # Files of a module are never programs; these are.
  chmod -R u+w "$folder"
  find "$folder/bin" "$folder/pkg/tool" -type f -exec chmod 755 {} +
  use_go || lacks "the Go that was fetched does not run: $folder"
fi

for module in "$here" "$here/../../examples/go" "$here/gomlx"; do
  # What is in the cache already needs no network.
  (cd "$module" && GOPROXY=off go list -deps -test ./... >/dev/null 2>&1) && continue
  echo "setup: fetching the modules of ${module##*/}"
  (cd "$module" && go list -deps -test ./... >/dev/null) || lacks "the modules of $module are not to be had"
done
echo "setup: $(go version)"
