// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"os"
	"runtime"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Launcher says which process of a job this one is: what rank=auto and world_size=auto stand for, and the place on this machine,
// to choose a device by.
type Launcher struct {
	Family         string // "torchrun", "jax", "openmpi", "pmi", "slurm", "pmix", "kubernetes", or "none": process 0 of 1
	Rank           int
	WorldSize      int // -1: this launcher tells the rank only
	LocalRank      int // among those of this machine; -1: it does not say
	LocalWorldSize int // -1: it does not say
}

// DetectLauncher looks at the environment as it is now. ErrInvalidArgument names variables that are no ranks, half a set, or
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

// withEnvironment calls function with the environment as C has it: the library reads none by itself, and that of C does not see
// os.Setenv.
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

// giveEnvironment is for loaders: the library reads no environment, and asks this one when a rank or a world size is auto.
func (s *optionSet) giveEnvironment() error {
	if s.handle == nil {
		return nil
	}
	return withEnvironment(func(environment **byte) error {
		return call(func(e *abi.Error) int32 { return abi.OptionsSetEnvironment(s.handle, environment, e) })
	})
}
