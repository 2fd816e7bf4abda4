#!/usr/bin/env bash
# Debian's packages for another architecture, with what they need, unpacked into a folder: nothing is installed.
#   unpacked.sh FOLDER DEBIAN_ARCH PACKAGE...
# By an apt that keeps its lists to itself. Does nothing when they are there. Ends with 77 where they cannot be had.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
[[ $# -ge 3 ]] || { echo "usage: unpacked.sh FOLDER DEBIAN_ARCH PACKAGE..." >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[[ $(cat "$folder/complete" 2>/dev/null) != "$*" ]] || exit 0
rm -rf "$folder"
apt=$folder.apt
rm -rf "$apt"
mkdir -p "$folder" "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"
cat >"$apt/apt.conf" <<APT
APT::Architecture "$1";
APT::Architectures "$1";
APT::Sandbox::User "root";
Dir::State "$apt";
Dir::State::Lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
APT
export APT_CONFIG=$apt/apt.conf
if ! { apt-get update -qq && apt-get install -qq -y --download-only --no-install-recommends "${@:2}"; } >"$apt/log" 2>&1; then
  echo "skipped: Debian's packages for $1 cannot be had: $(tail -n 1 "$apt/log")"
  exit 77
fi
for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$folder"; done
echo "$*" >"$folder/complete"
rm -rf "$apt"
