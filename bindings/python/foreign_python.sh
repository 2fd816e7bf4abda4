#!/usr/bin/env bash
# Gets Debian's Python for another machine (DATALINE_ARCH=aarch64), unpacked into a folder, with what the wheel for it is built with and
# tried in; nothing is installed.
#   DATALINE_ARCH=aarch64 bindings/python/foreign_python.sh FOLDER
# FOLDER: headers (Python.h and that machine's pyconfig.h), root (the files of the packages), python (runs it under QEMU, where
# `qemu-aarch64-static` is; PYTHONPATH and others are the caller's). Ends with 77 where the packages cannot be had.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: DATALINE_ARCH=aarch64 bindings/python/foreign_python.sh FOLDER" >&2; exit 2; }
portable=$(cd "$(dirname "${BASH_SOURCE[0]}")/../cpp/packages/portable" && pwd)
# shellcheck source=bindings/cpp/packages/portable/machine.sh
. "$portable/machine.sh"
[[ -n $cross ]] || { echo "foreign_python.sh: $arch is this machine" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
"$portable/unpacked.sh" "$folder/root" "$debian_arch" python3 libpython3-dev
name=$(cd "$folder/root/usr/bin" && readlink python3)
rm -rf "$folder/headers"
cp -R "$folder/root/usr/include/$name" "$folder/headers"
# The one in their place includes that of the machine, by a path.
cp "$folder/root/usr/include/$multiarch/$name/pyconfig.h" "$folder/headers"
cat >"$folder/python" <<PYTHON
#!/bin/sh
exec qemu-$arch-static -L '$folder/root' -E PYTHONHOME='$folder/root/usr' '$folder/root/usr/bin/$name' "\$@"
PYTHON
chmod +x "$folder/python"
