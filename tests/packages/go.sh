# shellcheck shell=bash disable=SC2154  # what packages.sh gives
# The Go module: `go get` from the folder that package.sh made, the README's first program with the library of the portable
# archive, the same with the library embedded, and `go install` of an example. Debian's Go is older than the module needs: it
# fetches the toolchain as a module (1.21 and later by themselves; Debian 12's 1.19 is told to, as bindings/go/setup.sh does).
# SPDX-License-Identifier: Apache-2.0

try_go() {
  local artifacts=$1 module=github.com/dataline/dataline/bindings/go archive at=$scratch/go
  archive=$(find "$artifacts" -maxdepth 1 -name 'dataline-*-linux-x86_64.tar.gz' | head -n 1)
  [[ -n $archive ]] || fail "go: there is no portable archive in $artifacts (bindings/cpp/package.sh)"
  system go --without-tree
  mkdir -p "$at/packages" "$at/work"
  cp -r "$artifacts/goproxy" "$at/packages/"
  cp "$archive" "$at/packages/library.tar.gz"
  awk '/^```go$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/bindings/go/README.md" >"$at/work/main.go"
  cat >"$at/work/first.sh" <<SCRIPT
set -euo pipefail
cd /work
apt-get install -y -qq --no-install-recommends golang-go ca-certificates >/dev/null
export GOPROXY=file:///packages/goproxy,\$(go env GOPROXY) GONOSUMDB=$module GOFLAGS=-modcacherw
. /packages/toolchain.sh
if ! use_go; then
  folder=\$(go_fetched)
  (cd / && go mod download "golang.org/toolchain@v0.0.1-go\$go_wanted.\$(go env GOOS)-\$(go env GOARCH)") >/dev/null
  find "\$folder/bin" "\$folder/pkg/tool" -type f -exec chmod 755 {} +
  use_go
fi
export CGO_ENABLED=0
go mod init first
go mod tidy # before the library is there
tar -xzf /packages/library.tar.gz -C /opt
library=\$(echo /opt/dataline-*/lib)
DATALINE_LIB_DIR=\$library go run .
SCRIPT
  cat >"$at/work/more.sh" <<SCRIPT
set -euo pipefail
cd /work
export GOPROXY=file:///packages/goproxy,\$(go env GOPROXY) GONOSUMDB=$module GOFLAGS=-modcacherw
. /packages/toolchain.sh
use_go
export CGO_ENABLED=0
library=\$(echo /opt/dataline-*/lib)
go run $module/cmd/dataline-embed "\$library"
go build -tags dataline_embed -o first .
env -i ./first
go install $module/cmd/dataline-batches@latest
head -c 160 /dev/zero >a.raw
DATALINE_LIB_DIR=\$library "\$(go env GOPATH)/bin/dataline-batches" 'raw:a.raw?dtype=u8&shape=16'
SCRIPT
  cp "$root/bindings/go/toolchain.sh" "$at/packages/"
  first_batch 'go get, portable library' inside go root bash /work/first.sh
  grep -q '^768 values, 256 labels$' "$scratch/first_batch.log" || fail "go: the README's program did not print its batches"
  logged go-more inside go root bash /work/more.sh || fail "go: embedding the library, or go install, failed"
  grep -q '^raw 10 samples' "$scratch/go-more.log" || fail "go: the installed example did not print its batches"
}
