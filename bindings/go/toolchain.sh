# The Go that the gate uses, for setup.sh and check.sh, which source this file. Debian 12's own Go is too old to build
# with, but it can fetch a newer one as what it is: a module, checked like any other.
# SPDX-License-Identifier: Apache-2.0
go_wanted=1.26.8 # GoMLX needs 1.26; the package itself 1.25
go_least=1.26

# Whether $1 is a go that is new enough.
go_is_new() {
  local version
  version=$(cd / && GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  version=${version#go}
  [[ -n $version && $(printf '%s\n' "$go_least" "$version" | sort -V | head -n 1) == "$go_least" ]]
}

# The folder where an older go keeps the newer one.
go_fetched() {
  local cache
  cache=$(cd / && go env GOMODCACHE 2>/dev/null) || return 1
  printf '%s\n' "$cache/golang.org/toolchain@v0.0.1-go$go_wanted.$(go env GOOS)-$(go env GOARCH)"
}

# Puts a new enough go first on the PATH; false when there is none.
use_go() {
  local folder
  if ! command -v go >/dev/null && [[ -x /usr/local/go/bin/go ]]; then export PATH=/usr/local/go/bin:$PATH; fi
  command -v go >/dev/null || return 1
  if ! go_is_new go; then
    folder=$(go_fetched)
    [[ -n $folder && -x $folder/bin/go ]] && go_is_new "$folder/bin/go" || return 1
    export PATH=$folder/bin:$PATH
    unset GOROOT
  fi
  export GOTOOLCHAIN=local
}
