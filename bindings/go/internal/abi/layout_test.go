// The structs and calls against capi/api.json, the header's description, which a test of the library compares with what C
// says.
//
// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var structs = map[string]reflect.Type{
	"dl_allocator":      reflect.TypeFor[Allocator](),
	"dl_error":          reflect.TypeFor[Error](),
	"dl_view":           reflect.TypeFor[View](),
	"dl_array":          reflect.TypeFor[Array](),
	"dl_reader_cell":    reflect.TypeFor[ReaderCell](),
	"dl_reader":         reflect.TypeFor[Reader](),
	"dl_reader_request": reflect.TypeFor[ReaderRequest](),
	"dl_log":            reflect.TypeFor[Log](),
	"dl_metric":         reflect.TypeFor[Metric](),
	"dl_stall":          reflect.TypeFor[Stall](),
	"dl_trace_sink":     reflect.TypeFor[TraceSink](),
	"dl_tuned":          reflect.TypeFor[Tuned](),
	"dl_launcher":       reflect.TypeFor[Launcher](),
	"dl_option_info":    reflect.TypeFor[OptionInfo](),
	"dl_transform_info": reflect.TypeFor[TransformInfo](),
	"dl_argument_info":  reflect.TypeFor[ArgumentInfo](),
	"dl_batch_info":     reflect.TypeFor[BatchInfo](),
	"dl_stats":          reflect.TypeFor[Stats](),
	"dl_progress":       reflect.TypeFor[Progress](),
	"dl_image_info":     reflect.TypeFor[ImageInfo](),
	"dl_plan_stage":     reflect.TypeFor[PlanStage](),
	"dl_mix_part":       reflect.TypeFor[MixPart](),
	"dl_mix_stage":      reflect.TypeFor[MixStage](),
	"dl_part":           reflect.TypeFor[Part](),
	"dl_bad_sample":     reflect.TypeFor[BadSample](),
	"dl_writer_info":    reflect.TypeFor[WriterInfo](),
	"dl_format_key":     reflect.TypeFor[FormatKey](),
	"dl_format_request": reflect.TypeFor[FormatRequest](),
	"dl_format":         reflect.TypeFor[Format](),
	"dl_format_info":    reflect.TypeFor[FormatInfo](),
	"dl_argument_value": reflect.TypeFor[ArgumentValue](),
	"dl_operator_use":   reflect.TypeFor[OperatorUse](),
	"dl_operator_row":   reflect.TypeFor[OperatorRow](),
	"dl_operator":       reflect.TypeFor[Operator](),
	"dl_storage_object": reflect.TypeFor[StorageObject](),
	"dl_storage_read":   reflect.TypeFor[StorageRead](),
	"dl_storage":        reflect.TypeFor[Storage](),
	"dl_threads":        reflect.TypeFor[Threads](),
	"dl_plugin":         reflect.TypeFor[Plugin](),
}

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

// written is the code of this package and of the one above that is neither generated nor a test.
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
			if !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(string(text), "// Code generated") {
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
