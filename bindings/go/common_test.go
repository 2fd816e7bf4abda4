// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

var background = context.Background()

// must is the value, or the end of the test.
func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants ends the test unless the error is the one.
func wants(t testing.TB, err, target error) *dataline.Error {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("expected %v, got %v", target, err)
	}
	var details *dataline.Error
	errors.As(err, &details)
	return details
}

// equal compares slices.
func equal[T comparable](t testing.TB, got []T, expected ...T) {
	t.Helper()
	if len(got) != len(expected) {
		t.Fatalf("got %v, expected %v", got, expected)
	}
	for at := range got {
		if got[at] != expected[at] {
			t.Fatalf("got %v, expected %v", got, expected)
		}
	}
}

func count(n int) []int64 {
	numbers := make([]int64, n)
	for at := range numbers {
		numbers[at] = int64(at)
	}
	return numbers
}

func arrays(t testing.TB, arrays ...dataline.Array) *dataline.Dataset {
	t.Helper()
	d := must[*dataline.Dataset](t)(dataline.FromArrays(arrays, nil))
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

// numbers is a dataset of n samples with field x, the index of each.
func numbers(t testing.TB, n int) *dataline.Dataset {
	t.Helper()
	return arrays(t, dataline.NewArray("x", count(n)))
}

func loaderOf(t testing.TB, d *dataline.Dataset, options ...dataline.Option) *dataline.Loader {
	t.Helper()
	l := must[*dataline.Loader](t)(dataline.NewLoader(d, options...))
	t.Cleanup(func() { check(t, l.Close()) })
	return l
}

// first is the first batch of a loader over a dataset.
func first(t testing.TB, d *dataline.Dataset, options ...dataline.Option) *dataline.Batch {
	t.Helper()
	b := must[*dataline.Batch](t)(loaderOf(t, d, options...).Next(background))
	t.Cleanup(b.Release)
	return b
}

// epoch is all x of an epoch, batch by batch.
func epoch(t testing.TB, l *dataline.Loader) (batches [][]int64) {
	t.Helper()
	for b, err := range l.Epoch(background) {
		check(t, err)
		batches = append(batches, append([]int64(nil), must[[]int64](t)(dataline.View[int64](b, "x"))...))
	}
	return batches
}

func joined(batches [][]int64) (all []int64) {
	for _, batch := range batches {
		all = append(all, batch...)
	}
	return all
}

// shell is what the program dataline prints. Tests that need it are skipped where there is none.
func shell(t testing.TB, arguments ...string) []byte {
	t.Helper()
	program := os.Getenv("DATALINE_BIN")
	if program == "" {
		found, err := exec.LookPath("dataline")
		if err != nil {
			t.Skip("there is no program dataline (DATALINE_BIN)")
		}
		program = found
	}
	command := exec.Command(program, arguments...)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", arguments, err)
	}
	return output
}

// built is the path of a file that is built with the library, beside the one that the tests use or in this checkout's
// release build; "" where there is none.
func built(t testing.TB, name string) string {
	t.Helper()
	for _, folder := range []string{os.Getenv("DATALINE_LIB_DIR"), "../../build/release/lib"} {
		path := must[string](t)(filepath.Abs(filepath.Join(folder, name)))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// file writes a file for the test.
func file(t testing.TB, name string, bytes []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, bytes, 0o600))
	return path
}
