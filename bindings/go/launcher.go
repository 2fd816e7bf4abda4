// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"os"
	"runtime"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Launcher holds the values of rank=auto and world_size=auto, and the local rank on this machine, for choosing a
// device.
type Launcher struct {
	Family         string // "torchrun", "jax", "openmpi", "pmi", "slurm", "pmix", "kubernetes", or "none": process 0 of 1
	Rank           int
	WorldSize      int // -1: the launcher reports only the rank
	LocalRank      int // among the processes of this machine; -1: the launcher does not report it
	LocalWorldSize int // -1: the launcher does not report it
}

// DetectLauncher reads the environment now. ErrInvalidArgument names variables that are not ranks, are incomplete, or
// contradict each other.
func DetectLauncher() (Launcher, error) {
	if err := Load(); err != nil {
		return Launcher{}, err
	}
	raw := &abi.Launcher{StructSize: uint32(unsafe.Sizeof(abi.Launcher{}))}
	err := withEnvironment(func(environment **byte) error {
		return call(func(e *abi.Error) int32 { return abi.LauncherDetect(environment, raw, e) })
	})
	if err != nil {
		return Launcher{}, err
	}
	return Launcher{
		Family:         abi.Text(raw.Family),
		Rank:           int(raw.Rank),
		WorldSize:      int(raw.WorldSize),
		LocalRank:      int(raw.LocalRank),
		LocalWorldSize: int(raw.LocalWorldSize),
	}, nil
}

// withEnvironment calls function with the environment in C's form. The library does not read the environment, and C's
// environment does not include os.Setenv.
func withEnvironment(function func(environment **byte) error) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	entries := os.Environ()
	pointers := make([]*byte, 0, len(entries)+1)
	for _, entry := range entries {
		text, err := cText("environment", entry)
		if err != nil {
			return err
		}
		pinner.Pin(text)
		pointers = append(pointers, text)
	}
	pointers = append(pointers, nil)
	return function(&pointers[0])
}

// giveEnvironment is for loaders. The library does not read the environment: it uses this copy when rank or
// world_size is auto.
func (s *optionSet) giveEnvironment() error {
	if s.handle == nil {
		return nil
	}
	return withEnvironment(func(environment **byte) error {
		return call(func(e *abi.Error) int32 { return abi.OptionsSetEnvironment(s.handle, environment, e) })
	})
}
