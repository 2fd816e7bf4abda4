// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"debug/elf"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// The library is loaded once in a process, so what is told of it is seen in others: this program again.
func TestMain(m *testing.M) {
	if path, told := os.LookupEnv("DATALINE_TEST_LOAD"); told {
		if name, embedded := strings.CutPrefix(path, "data of "); embedded {
			library, err := os.ReadFile(name)
			fmt.Println("read:", err, "set:", dataline.SetLibraryData(library))
		} else if path != "" {
			fmt.Println("set:", dataline.SetLibraryPath(path))
		}
		_, err := dataline.Open("raw:/nowhere?dtype=u8&shape=1")
		fmt.Println("open:", err)
		return
	}
	os.Exit(m.Run())
}

// told is what such a process prints.
func told(t *testing.T, path, libDir string) string {
	t.Helper()
	command := exec.Command(os.Args[0])
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "DATALINE_LIB_DIR=") && !strings.HasPrefix(variable, "LD_LIBRARY_PATH=") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "DATALINE_TEST_LOAD="+path, "DATALINE_LIB_DIR="+libDir)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output)
}

// abiOf is the number in the SONAME of the library.
func abiOf(library string) (int, error) {
	file, err := elf.Open(library)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	names, err := file.DynString(elf.DT_SONAME)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimPrefix(names[0], "libdataline.so."))
}

func TestWhereTheLibraryIsCanBeTold(t *testing.T) {
	check(t, dataline.Load())
	if text := dataline.SetLibraryPath("/nowhere").Error(); strings.Contains(text, "linked into") {
		maps, err := os.ReadFile("/proc/self/maps")
		if check(t, err); strings.Contains(string(maps), "libdataline") {
			t.Error("the shared library is loaded all the same")
		}
		return
	}
	folder := os.Getenv("DATALINE_LIB_DIR")
	if folder == "" {
		t.Skip("DATALINE_LIB_DIR is not set")
	}
	loaded := func(what, output string) {
		t.Helper()
		if !strings.Contains(output, "open: dataline: /nowhere: no such file or directory\n") {
			t.Errorf("%s: expected the library to look for the file, got %q", what, output)
		}
	}
	loaded("a folder by variable", told(t, "", folder))
	loaded("a folder by call", told(t, folder, "/other"))
	loaded("a file by call", told(t, filepath.Join(folder, "libdataline.so"), "/other"))
	loaded("its bytes", told(t, "data of "+filepath.Join(folder, "libdataline.so"), "/other"))
	runtimeOnly := t.TempDir() // as the package of the library alone installs it
	abiVersion := must[int](t)(abiOf(filepath.Join(folder, "libdataline.so")))
	check(t, os.Symlink(filepath.Join(folder, "libdataline.so"), filepath.Join(runtimeOnly, fmt.Sprint("libdataline.so.", abiVersion))))
	loaded("a folder without the linker's name", told(t, runtimeOnly, "/other"))
	empty := t.TempDir()
	for what, output := range map[string]string{
		"SetLibraryPath": told(t, empty, folder), "DATALINE_LIB_DIR": told(t, "", empty),
	} {
		if !strings.Contains(output, "was not found") || !strings.Contains(output, what+": stat "+empty) {
			t.Errorf("%s: %q", what, output)
		}
	}
	other := file(t, "libdataline.so", []byte("no library"))
	if output := told(t, other, ""); !strings.Contains(output, "was not found") || !strings.Contains(output, other) {
		t.Errorf("a file that is no library: %q", output)
	}
}

func TestAPathIsSetBeforeTheLibraryIsInUse(t *testing.T) {
	check(t, dataline.Load())
	if err := dataline.SetLibraryPath("/nowhere"); err == nil {
		t.Error("a path was taken too late")
	}
}

func TestEveryExportedNameHasADoc(t *testing.T) {
	files, err := filepath.Glob("*.go")
	check(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		check(t, err)
		for _, declaration := range tree.Decls {
			switch one := declaration.(type) {
			case *ast.FuncDecl:
				// Error, String and the like say what they are by their name.
				usual := one.Recv != nil && (one.Name.Name == "Error" || one.Name.Name == "String")
				if one.Name.IsExported() && one.Doc == nil && !usual {
					t.Errorf("%s: %s has no doc", name, one.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range one.Specs {
					if made, ok := spec.(*ast.TypeSpec); ok && made.Name.IsExported() && one.Doc == nil && made.Doc == nil {
						t.Errorf("%s: %s has no doc", name, made.Name.Name)
					}
				}
			}
		}
	}
}
