// The structs against dataline.h: C that names every member of every struct of the header is compiled and run; what it
// prints has to equal what Go says.
//
// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var structs = map[string]reflect.Type{
	"dl_error":          reflect.TypeFor[Error](),
	"dl_view":           reflect.TypeFor[View](),
	"dl_array":          reflect.TypeFor[Array](),
	"dl_reader_cell":    reflect.TypeFor[ReaderCell](),
	"dl_reader":         reflect.TypeFor[Reader](),
	"dl_log":            reflect.TypeFor[Log](),
	"dl_option_info":    reflect.TypeFor[OptionInfo](),
	"dl_transform_info": reflect.TypeFor[TransformInfo](),
	"dl_argument_info":  reflect.TypeFor[ArgumentInfo](),
	"dl_batch_info":     reflect.TypeFor[BatchInfo](),
	"dl_stats":          reflect.TypeFor[Stats](),
	"dl_image_info":     reflect.TypeFor[ImageInfo](),
	"dl_plan_stage":     reflect.TypeFor[PlanStage](),
	"dl_bad_sample":     reflect.TypeFor[BadSample](),
}

// What the header has and this package does not.
var leftOut = map[string]string{
	"dl_allocator":              "Go's memory cannot serve threads of C",
	"dl_options_set_allocator":  "as dl_allocator",
	"dl_version_number":         "dl_version_string is enough",
	"dl_error_init":             "a literal does it",
	"dl_options_set_i64":        "numbers are text too",
	"dl_dtype_from_name":        "nothing in Go is named by text",
	"dl_dataset_read":           "a loader with SampleIndices gives a sample too",
	"dl_loader_work":            "for frame loops; Go has goroutines",
	"dl_batch_retain":           "a *Batch is shared as it is",
	"dl_batch_dlpack":           "nothing in Go speaks DLPack",
	"dl_batch_dlpack_versioned": "nothing in Go speaks DLPack",
}

const folder = "../../../../capi"

// header is dataline.h without its comments.
func header(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "dataline.h"))
	if err != nil {
		t.Skip("not in a checkout: ", err)
	}
	return regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
}

// memberName is the name that a declaration declares: "const int64_t* shape", "char message[512]", "void (*f)(int)".
var memberName = regexp.MustCompile(`\(\*(\w+)\)|(\w+)(?:\[\d+\])?$`)

func camel(name string) string {
	words := strings.Split(name, "_")
	for at, word := range words {
		words[at] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

func TestEveryStructOfTheHeaderLiesInMemoryAsHere(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	program := "#include <dataline.h>\n#include <stdio.h>\nint main(void) {\n"
	expected := ""
	for _, found := range regexp.MustCompile(`(?s)typedef struct (dl_\w+) \{(.*?)\}`).FindAllStringSubmatch(header(t), -1) {
		name := found[1]
		if leftOut[name] != "" {
			continue
		}
		here, ok := structs[name]
		if !ok {
			t.Errorf("%s is not here", name)
			continue
		}
		program += fmt.Sprintf("  printf(\"%s %%zu\\n\", sizeof(%s));\n", name, name)
		expected += fmt.Sprintf("%s %d\n", name, here.Size())
		members := 0
		for _, declaration := range strings.Split(found[2], ";") {
			if declaration = strings.TrimSpace(declaration); declaration == "" {
				continue
			}
			names := memberName.FindStringSubmatch(declaration)
			member := names[1] + names[2]
			field, ok := here.FieldByName(camel(member))
			if !ok {
				t.Errorf("%s.%s is not here", name, member)
				continue
			}
			members++
			program += fmt.Sprintf("  printf(\"%s.%s %%zu %%zu\\n\", offsetof(%s, %s), sizeof(((%s*)0)->%s));\n",
				name, member, name, member, name, member)
			expected += fmt.Sprintf("%s.%s %d %d\n", name, member, field.Offset, field.Type.Size())
		}
		if members != here.NumField() {
			t.Errorf("%s: %d members in the header, %d here", name, members, here.NumField())
		}
	}
	source := filepath.Join(t.TempDir(), "layout.c")
	if err := os.WriteFile(source, []byte(program+"  return 0;\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := strings.TrimSuffix(source, ".c")
	if text, err := exec.Command(compiler, "-I", folder, "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	printed, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(printed, []byte("\n")); lines < 90 || string(printed) != expected {
		t.Errorf("%d lines; C says\n%s\nhere\n%s", lines, printed, expected)
	}
}

func TestEveryFunctionOfTheHeaderIsCalledOrLeftOutForAReason(t *testing.T) {
	calls := ""
	for _, name := range []string{"symbols_purego.go", "calls_static.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		calls = string(text)
		functions := regexp.MustCompile(`DL_API[^;]*?\b(dl_\w+)\(`).FindAllStringSubmatch(header(t), -1)
		if len(functions) < 60 {
			t.Fatal(len(functions), "functions were found")
		}
		for _, found := range functions {
			called := regexp.MustCompile(`\b` + found[1] + `\b["(]`).MatchString(calls)
			if called == (leftOut[found[1]] != "") {
				t.Errorf("%s: %s: called: %v, left out: %q", name, found[1], called, leftOut[found[1]])
			}
		}
	}
}
