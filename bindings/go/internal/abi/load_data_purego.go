// SPDX-License-Identifier: Apache-2.0

//go:build !(dataline_static && cgo)

package abi

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// openData opens a library in the program's memory. The dynamic linker accepts only a file: one in memory without a name
// on disk (Linux), or else one in the user's cache folder.
func openData(library []byte) (uintptr, error) {
	opened, memoryErr := openInMemory(library)
	if memoryErr == nil {
		return opened, nil
	}
	name, cacheErr := inCache(library)
	if cacheErr == nil {
		if opened, cacheErr = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL); cacheErr == nil {
			return opened, nil
		}
	}
	return 0, errors.Join(memoryErr, cacheErr)
}

// The number of memfd_create, which package syscall does not know.
var memfdCreate = map[string]uintptr{"amd64": 319, "arm64": 279, "riscv64": 279, "loong64": 279, "ppc64le": 360, "s390x": 350}

func openInMemory(library []byte) (uintptr, error) {
	number, known := memfdCreate[runtime.GOARCH]
	if runtime.GOOS != "linux" || !known {
		return 0, errors.New("memfd_create: not on " + runtime.GOOS + "/" + runtime.GOARCH)
	}
	name := []byte("libdataline.so\x00")
	const closeOnExec = 1
	fd, _, errno := syscall.Syscall(number, uintptr(unsafe.Pointer(&name[0])), closeOnExec, 0)
	if errno != 0 {
		return 0, fmt.Errorf("memfd_create: %w", errno)
	}
	file := os.NewFile(fd, "libdataline.so")
	defer file.Close() // what is mapped stays
	if _, err := file.Write(library); err != nil {
		return 0, err
	}
	return purego.Dlopen(fmt.Sprintf("/proc/self/fd/%d", fd), purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// inCache is a file that the user owns with these bytes; a file from an earlier run is compared with them by digest.
func inCache(library []byte) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(library)
	folder := filepath.Join(cache, "dataline")
	name := filepath.Join(folder, fmt.Sprintf("libdataline-%x.so", digest))
	if there, err := os.ReadFile(name); err == nil && sha256.Sum256(there) == digest {
		return name, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(folder, "writing-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(library)
	if err = errors.Join(err, file.Chmod(0o700), file.Close()); err != nil {
		return "", err
	}
	return name, os.Rename(file.Name(), name) // atomic, for programs that start together
}
