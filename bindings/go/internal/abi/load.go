// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

var (
	loaded  atomic.Bool
	loading sync.Mutex
)

var (
	errLinkedIn = errors.New("the library is linked into this program; its path cannot be set")
	errTooLate  = errors.New("the library is already in use; its path is set before the first call")
)

// Load makes the library ready, once; after a failure the next call tries again. Every other call needs it.
func Load() error {
	if loaded.Load() {
		return nil
	}
	loading.Lock()
	defer loading.Unlock()
	if loaded.Load() {
		return nil
	}
	if err := load(); err != nil {
		return err
	}
	loaded.Store(true)
	return nil
}

// Loaded reports whether the library is ready.
func Loaded() bool {
	return loaded.Load()
}

func checkVersion() error {
	if abi := AbiVersion(); abi != DL_ABI_VERSION {
		return fmt.Errorf("the library is %s with ABI %d; this package needs ABI %d", Text(VersionString()), abi, DL_ABI_VERSION)
	}
	return nil
}
