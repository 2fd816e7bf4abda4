// SPDX-License-Identifier: Apache-2.0

//go:build !(dataline_static && cgo)

package abi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// Set by SetPath and SetData, under loading; the later one applies.
var (
	path string
	data []byte
)

// Functions of Go that C can call; made once, for they are never freed.
var callbacks struct {
	release, read, write, writeTrace    uintptr
	sniff, openFormat                   uintptr
	prepare, apply, forget              uintptr
	openObject, readObject, closeObject uintptr
}

// SetPath sets the location of the library, a file or a folder; before the first call.
func SetPath(to string) error {
	loading.Lock()
	defer loading.Unlock()
	if loaded.Load() {
		return errTooLate
	}
	path, data = to, nil
	return nil
}

// SetData sets the bytes of the library; before the first call.
func SetData(library []byte) error {
	loading.Lock()
	defer loading.Unlock()
	if loaded.Load() {
		return errTooLate
	}
	path, data = "", library
	return nil
}

func fileNames() []string {
	if runtime.GOOS == "darwin" {
		return []string{fmt.Sprintf("libdataline.%d.dylib", DL_ABI_VERSION), "libdataline.dylib"}
	}
	return []string{fmt.Sprintf("libdataline.so.%d", DL_ABI_VERSION), "libdataline.so"}
}

// place is where the library may be, and how we know of it.
type place struct {
	what, folder string
}

// places is the one place that the user named, or else all places. The folder "" is the system's search.
func places() []place {
	if path != "" {
		return []place{{"SetLibraryPath", path}}
	}
	if told := os.Getenv("DATALINE_LIB_DIR"); told != "" {
		return []place{{"DATALINE_LIB_DIR", told}}
	}
	var all []place
	if program, err := os.Executable(); err == nil {
		all = append(all, place{"beside the program", filepath.Dir(program)})
	}
	all = append(all, place{"the system's search (LD_LIBRARY_PATH, ldconfig)", ""})
	// This source file's place is known unless the program was built with -trimpath. In a checkout the library is built
	// four folders up; elsewhere there is nothing.
	if _, source, _, ok := runtime.Caller(0); ok && filepath.IsAbs(source) {
		root := filepath.Join(filepath.Dir(source), "..", "..", "..", "..")
		if _, err := os.Stat(filepath.Join(root, "capi", "dataline.h")); err == nil {
			all = append(all, place{"the checkout's build folder", filepath.Join(root, "build", "release", "lib")})
		}
	}
	return all
}

// openIn tries the library's file names in one place; the error contains the message for each.
func openIn(where place) (library uintptr, err error) {
	names := fileNames()
	if where.folder != "" {
		if found, statErr := os.Stat(where.folder); statErr == nil && !found.IsDir() {
			names = []string{""} // the file itself
		}
	}
	for _, name := range names {
		if where.folder != "" {
			name = filepath.Join(where.folder, name)
			if _, statErr := os.Stat(name); statErr != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", where.what, statErr))
				continue
			}
		}
		opened, openErr := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if openErr == nil {
			return opened, nil
		}
		err = errors.Join(err, fmt.Errorf("%s: %w", where.what, openErr))
	}
	return 0, err
}

func load() error {
	if data != nil {
		library, err := openData(data)
		if err != nil {
			return fmt.Errorf("the embedded library cannot be loaded:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		}
		return bind(library)
	}
	var tried error
	for _, where := range places() {
		library, err := openIn(where)
		if err == nil {
			return bind(library)
		}
		tried = errors.Join(tried, err)
	}
	text := strings.ReplaceAll(tried.Error(), "\n", "\n  ")
	return fmt.Errorf("the library was not found; set its location with SetLibraryPath or DATALINE_LIB_DIR; tried\n  %s", text)
}

// bind finds every function, so that a library that lacks one fails here and not later.
func bind(library uintptr) error {
	for at, name := range symbolNames {
		address, err := purego.Dlsym(library, name)
		if err != nil {
			return fmt.Errorf("the library found does not have a required function: %w", err)
		}
		symbols[at] = address
	}
	if callbacks.release == 0 {
		callbacks.release = purego.NewCallback(func(context uintptr) { Release(context) })
		callbacks.read = purego.NewCallback(func(context uintptr, request *ReaderRequest) int32 {
			code := Read(context, request)
			if request.ReleaseContext != 0 {
				request.Release = callbacks.release
			}
			return code
		})
		callbacks.write = purego.NewCallback(func(context uintptr, level int32, message *byte, length uintptr) {
			Write(context, level, message, length)
		})
		callbacks.writeTrace = purego.NewCallback(func(context uintptr, text *byte, length uintptr) int32 {
			return WriteTrace(context, text, length)
		})
		makeExtensionCallbacks()
	}
	return checkVersion()
}
