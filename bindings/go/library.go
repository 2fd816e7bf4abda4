// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// SetLibraryPath says where the shared library is, a file or a folder, before anything else of this package is used.
// Otherwise it is looked for in the folder that the environment variable DATALINE_LIB_DIR names, and where that is not
// set: beside the program, where the system looks (LD_LIBRARY_PATH, ldconfig), and in the build folder of the checkout
// this package was compiled in. A path that was told is the only place then. An error when the library is in use
// already, or linked in (build tag dataline_static).
func SetLibraryPath(path string) error {
	if err := abi.SetPath(path); err != nil {
		return fmt.Errorf("dataline: %w", err)
	}
	return nil
}

// Load finds and loads the library, once. Every function that can fail does it too; after a failure the next one tries
// again. The error names all places that were tried.
func Load() error {
	if err := abi.Load(); err != nil {
		return fmt.Errorf("dataline: %w", err)
	}
	return nil
}

// Version is the library's: "0.1.0".
func Version() (string, error) {
	if err := Load(); err != nil {
		return "", err
	}
	return abi.Text(abi.VersionString()), nil
}

// BuildInfo names the parts the library was built with, its compiler and, after "; missing: ", what it lacks and what that costs.
func BuildInfo() (string, error) {
	if err := Load(); err != nil {
		return "", err
	}
	return abi.Text(abi.BuildInfo()), nil
}

// cText is text for the library: NUL-terminated.
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
