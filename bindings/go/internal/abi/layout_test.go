// The structs and calls against capi/api.json, the header's description, which a test of the library compares with what C
// says.
//
// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What this package could call and does not.
var leftOut = map[string]string{
	"dl_options_set_allocator":  "Go's memory cannot serve threads of C",
	"dl_version_number":         "dl_version_string is enough",
	"dl_loader_begin_epoch":     "a loop begins by dl_loader_epoch",
	"dl_error_init":             "a literal does it",
	"dl_options_copy":           "options are values, given to each call",
	"dl_options_set_i64":        "numbers are text too",
	"dl_dtype_from_name":        "nothing in Go is named by text",
	"dl_opening_wait_handle":    "Opening.Done is a channel",
	"dl_batch_retain":           "a *Batch is shared as it is",
	"dl_batch_dlpack":           "nothing in Go takes DLPack",
	"dl_batch_dlpack_versioned": "nothing in Go takes DLPack",
	"dl_extensions_set_threads": "Go has no threads to lend, and does not name or pin them",
	"dl_reader_cell_at":         "a method of the request, Cell",
}

type description struct {
	Structs []struct {
		Name    string
		Size    uintptr
		Members []struct {
			Name         string
			Offset, Size uintptr
		}
	}
	Functions []struct {
		Name   string
		Inline bool
	}
}

func described(t *testing.T) (header description) {
	t.Helper()
	text, err := os.ReadFile("../../../../capi/api.json")
	if err != nil {
		t.Skip("not in a checkout: ", err)
	}
	if err := json.Unmarshal(text, &header); err != nil {
		t.Fatal(err)
	}
	return header
}

func camel(name string) string {
	words := strings.Split(strings.TrimPrefix(name, "dl_"), "_")
	for at, word := range words {
		words[at] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

func TestEveryStructOfTheHeaderLiesInMemoryAsHere(t *testing.T) {
	header := described(t)
	if len(header.Structs) != len(structs) {
		t.Errorf("%d structs in the header, %d here", len(header.Structs), len(structs))
	}
	for _, one := range header.Structs {
		here, ok := structs[one.Name]
		if !ok {
			t.Errorf("%s is not compared", one.Name)
			continue
		}
		if here.Size() != one.Size || here.NumField() != len(one.Members) {
			t.Errorf("%s: %d bytes, %d members; here %d, %d", one.Name, one.Size, len(one.Members), here.Size(), here.NumField())
		}
		for _, member := range one.Members {
			field, ok := here.FieldByName(camel(member.Name))
			if !ok || field.Offset != member.Offset || field.Type.Size() != member.Size {
				t.Errorf("%s.%s: %d bytes at %d; here %+v", one.Name, member.Name, member.Size, member.Offset, field)
			}
		}
	}
}

// written is the code of this package that is neither generated nor a test, and of the one above with its generated methods.
func written(t *testing.T) string {
	t.Helper()
	code := ""
	for _, pattern := range []string{"*.go", "../../*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			declares := strings.HasPrefix(string(text), "// Code generated") && !strings.HasPrefix(path, "..")
			if !strings.HasSuffix(path, "_test.go") && !declares {
				code += string(text)
			}
		}
	}
	return code
}

func TestEveryFunctionOfTheHeaderIsCalledOrLeftOutForAReason(t *testing.T) {
	header, code := described(t), written(t)
	if len(header.Functions) < 70 {
		t.Fatal(len(header.Functions), "functions")
	}
	called := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?:(?::= )?\babi\.|\bat|:= |func )(\w+)`).FindAllStringSubmatch(code, -1) {
		called[found[1]] = true
	}
	for _, one := range header.Functions {
		if called[camel(one.Name)] == (leftOut[one.Name] != "") {
			t.Errorf("%s: called: %v, left out: %q", one.Name, called[camel(one.Name)], leftOut[one.Name])
		}
		delete(leftOut, one.Name)
	}
	for name := range leftOut {
		t.Errorf("%s is left out, and not in the header", name)
	}
}
