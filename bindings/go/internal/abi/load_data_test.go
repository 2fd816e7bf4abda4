// SPDX-License-Identifier: Apache-2.0

//go:build !(dataline_static && cgo)

package abi

import (
	"os"
	"testing"
)

func TestTheCachedLibraryIsWrittenOnceAndComparedByDigest(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	library := []byte("bytes of a library")
	name, err := inCache(library)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := os.Stat(name)
	if again, err := inCache(library); err != nil || again != name {
		t.Fatal(again, err)
	}
	if second, _ := os.Stat(name); !os.SameFile(first, second) {
		t.Error("it was written again")
	}
	if err := os.WriteFile(name, []byte("other bytes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := inCache(library); err != nil {
		t.Fatal(err)
	}
	if there, _ := os.ReadFile(name); string(there) != string(library) {
		t.Errorf("a file that was changed was taken: %q", there)
	}
}

func TestWhatIsNoLibraryIsRefusedFromMemoryAndFromTheCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, err := openData([]byte("no library")); err == nil {
		t.Error("it was opened")
	}
}
