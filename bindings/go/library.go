// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// SetLibraryPath sets the only location of the shared library, a file or a folder. Call it before anything else of
// this package. Otherwise the library is searched in the folder of the environment variable DATALINE_LIB_DIR. If that
// is not set, these places are searched: next to the program, the system's search path (LD_LIBRARY_PATH, ldconfig),
// the build folder of the checkout that this package was compiled in. An error if the library is already in use, or
// linked in (build tag dataline_static).
func SetLibraryPath(path string) error {
	if err := abi.SetPath(path); err != nil {
		return fmt.Errorf("dataline: %w", err)
	}
	return nil
}

// SetLibraryData sets the bytes of the shared library, which the program has embedded with //go:embed, so that it is
// one file. Call it before anything else of this package. The library is loaded from memory (memfd_create). If the
// system forbids that, it is loaded from a file in the user's cache folder, which is named by the digest of its bytes
// and compared with it. Errors are those of SetLibraryPath. The command cmd/dataline-embed writes the Go file that
// does this.
func SetLibraryData(library []byte) error {
	if err := abi.SetData(library); err != nil {
		return fmt.Errorf("dataline: %w", err)
	}
	return nil
}

// Load finds and loads the library, once. Every function that can fail does so too. After a failure, the next one
// tries again. The error lists all locations tried.
func Load() error {
	if err := abi.Load(); err != nil {
		return fmt.Errorf("dataline: %w", err)
	}
	return nil
}

// Version returns the version of the library: "0.2.0".
func Version() (string, error) {
	if err := Load(); err != nil {
		return "", err
	}
	return abi.Text(abi.VersionString()), nil
}

// BuildInfo returns the optional parts of the build, and the compiler. If parts are missing, "; missing: " follows,
// with the parts and what each costs.
func BuildInfo() (string, error) {
	if err := Load(); err != nil {
		return "", err
	}
	return abi.Text(abi.BuildInfo()), nil
}

// textFrom returns the text of a call that follows the protocol of dl_loader_state_save.
func textFrom(call func(room *byte, bytes *uintptr) error) (string, error) {
	bytes := new(uintptr)
	if err := call(nil, bytes); err != nil {
		return "", err
	}
	for {
		text := make([]byte, *bytes)
		err := call(&text[0], bytes)
		if err == nil {
			return abi.TextOf(text), nil
		}
		if *bytes <= uintptr(len(text)) { // else the text has grown since its length was returned
			return "", err
		}
	}
}

// cText returns NUL-terminated text for the library.
func cText(what, text string) (*byte, error) {
	bytes := make([]byte, len(text)+1)
	for at := range len(text) {
		if text[at] == 0 {
			return nil, localError(ErrInvalidArgument, "%s: a NUL byte at %d", what, at)
		}
		bytes[at] = text[at]
	}
	return &bytes[0], nil
}
