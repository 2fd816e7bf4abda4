// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// idx writes an IDX file of u8.
func idx(t *testing.T, path string, shape ...int) {
	header := []byte{0, 0, 8, byte(len(shape))}
	items := 1
	for _, dim := range shape {
		header = binary.BigEndian.AppendUint32(header, uint32(dim))
		items *= dim
	}
	check(t, os.WriteFile(path, append(header, make([]byte, items)...), 0o600))
}

// programOfReadme builds and runs the n-th program of the README as its readers do, and gives what it prints.
func programOfReadme(t *testing.T, n int, arguments ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles a program")
	}
	text, err := os.ReadFile("README.md")
	check(t, err)
	parts := strings.Split(string(text), "```go\n")
	if len(parts) != 4 {
		t.Fatal(len(parts)-1, "programs are in the README, expected 3")
	}
	program, _, _ := strings.Cut(parts[n], "```")
	here, err := os.Getwd()
	check(t, err)
	folder := t.TempDir()
	sums, err := os.ReadFile("go.sum")
	check(t, err)
	check(t, os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o600))
	check(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o600))
	check(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module readme\n\ngo 1.25.0\n\n"+
		"require github.com/dataline/dataline/bindings/go v0.0.0\n\n"+
		"replace github.com/dataline/dataline/bindings/go => "+here+"\n"), 0o600))
	command := exec.Command("go", append([]string{"run", "-mod=mod", "."}, arguments...)...)
	command.Dir = folder
	var complaints bytes.Buffer
	command.Stderr = &complaints
	printed, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.Bytes())
	}
	return string(printed)
}

func TestTheFirstProgramOfTheReadmeRuns(t *testing.T) {
	expected := strings.Repeat("768 values, 256 labels\n", 3) + "696 values, 232 labels\n"
	if got := programOfReadme(t, 1); got != expected {
		t.Errorf("expected %q, got %q", expected, got)
	}
}

// On a small set in the form of MNIST.
func TestTheProgramOfTheReadmeThatOpensFilesRuns(t *testing.T) {
	data := t.TempDir()
	idx(t, filepath.Join(data, "train-images-idx3-ubyte"), 100, 28, 28)
	idx(t, filepath.Join(data, "train-labels-idx1-ubyte"), 100)
	if got, expected := programOfReadme(t, 2, data), "50176 values, 64 labels\n28224 values, 36 labels\n"; got != expected {
		t.Errorf("expected %q, got %q", expected, got)
	}
}

func TestTheOperatorOfTheReadmeRuns(t *testing.T) {
	if got, expected := programOfReadme(t, 3), "true 3\n"; got != expected {
		t.Errorf("expected %q, got %q", expected, got)
	}
}

// The command runs with no trace of the library but what is in it.
func TestAProgramThatEmbedsTheLibraryNeedsNoOther(t *testing.T) {
	library := os.Getenv("DATALINE_LIB_DIR")
	if testing.Short() || library == "" {
		t.Skip("it compiles a program; DATALINE_LIB_DIR names the library")
	}
	folder := t.TempDir()
	source := must[[]byte](t)(os.ReadFile("cmd/dataline-batches/main.go"))
	check(t, os.WriteFile(filepath.Join(folder, "main.go"), source, 0o600))
	check(t, os.WriteFile(filepath.Join(folder, "a.raw"), make([]byte, 160), 0o600))
	check(t, os.WriteFile(filepath.Join(folder, "go.sum"), must[[]byte](t)(os.ReadFile("go.sum")), 0o600))
	here := must[string](t)(os.Getwd())
	check(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module one\n\ngo 1.25.0\n\n"+
		"require github.com/dataline/dataline/bindings/go v0.0.0\n\n"+
		"replace github.com/dataline/dataline/bindings/go => "+here+"\n"), 0o600))
	run := func(environment []string, name string, arguments ...string) string {
		command := exec.Command(name, arguments...)
		command.Dir, command.Env = folder, environment
		printed, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, printed)
		}
		return string(printed)
	}
	run(nil, "go", "run", "-mod=mod", "github.com/dataline/dataline/bindings/go/cmd/dataline-embed", library)
	run(nil, "go", "build", "-mod=mod", "-trimpath", "-tags", "dataline_embed", "-o", "one", ".")
	printed := run([]string{"DATALINE_LIB_DIR=/nowhere"}, filepath.Join(folder, "one"), "raw:a.raw?dtype=u8&shape=16", "batch_size=8")
	if expected := "raw 10 samples, 2 batches\n0 data u8 [8 16]\n1 data u8 [2 16]\n"; printed != expected {
		t.Errorf("expected %q, got %q", expected, printed)
	}
}
