// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestAMissingFileIsNamedWithWhatTheSystemSaid(t *testing.T) {
	_, err := dataline.Open("npy:/nowhere/a.npy")
	details := wants(t, err, dataline.ErrNotFound)
	if !strings.Contains(err.Error(), "/nowhere/a.npy") || details.SampleIndex != -1 {
		t.Error(err, details.SampleIndex)
	}
	wants(t, err, fs.ErrNotExist)
	var number syscall.Errno
	if !errors.As(err, &number) || number != syscall.ENOENT {
		t.Error(number)
	}
	if errors.Is(err, dataline.ErrCorrupt) || details.Code.String() != "DL_ERR_NOT_FOUND" {
		t.Error(details.Code)
	}
}

func TestErrorsOfEachKindAreToldApart(t *testing.T) {
	_, err := dataline.Open("nosuch:file")
	if details := wants(t, err, dataline.ErrBadURI); details.Column == 0 {
		t.Error("a URI error has a column")
	}
	_, err = dataline.NewLoader(numbers(t, 1000), dataline.With{"memory_budget": 1, "batch_size": 1000})
	wants(t, err, dataline.ErrOverBudget)
	wants(t, loaderOf(t, numbers(t, 4)).LoadState("no state"), dataline.ErrBadState)
	_, err = dataline.NewLoader(numbers(t, 4), dataline.With{"transform": "cast(f32), nosuch"})
	if details := wants(t, err, dataline.ErrBadTransform); details.Column != 12 {
		t.Error(details.Column)
	}
	_, err = dataline.Open("npy:" + file(t, "a.npy", []byte("\x93NUMPY\x01\x00\x10\x00not a header     ")))
	if err == nil {
		t.Error("a damaged file was opened")
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	_, err := dataline.NewLoader(numbers(t, 4), dataline.With{"batchsize": 4})
	if details := wants(t, err, dataline.ErrUnknownOption); !strings.Contains(details.Message, "batch_size") {
		t.Error("expected the nearest key:", err)
	}
	for _, value := range []any{[]string{"image"}, nil, func() {}, 1} { // the name before the type
		_, err = dataline.NewLoader(numbers(t, 4), dataline.With{"fields": value})
		if details := wants(t, err, dataline.ErrUnknownOption); !strings.Contains(details.Message, "it is a key of URIs") {
			t.Error(err)
		}
	}
	_, err = dataline.NewLoader(numbers(t, 4), dataline.With{"seed": -1})
	if details := wants(t, err, dataline.ErrBadOption); !strings.Contains(details.Message, "seed") {
		t.Error(err)
	}
	_, err = dataline.NewLoader(numbers(t, 4), dataline.With{"seed": []int{1}})
	wants(t, err, dataline.ErrBadOption)
	_, err = dataline.NewLoader(numbers(t, 4), dataline.With{"seed": nil})
	wants(t, err, dataline.ErrBadOption)
	_, err = dataline.Open("npy:a\x00b")
	wants(t, err, dataline.ErrInvalidArgument)
}

func TestABoolIsNoNumberAndNoText(t *testing.T) {
	table, err := dataline.Options()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range table {
		takesBools := info.Type == dataline.OptionBool || info.Key == "shuffle"
		for _, value := range []bool{false, true} {
			_, err := dataline.Resolve(dataline.With{info.Key: value})
			if takesBools && err != nil {
				t.Error(info.Key, err)
			}
			if !takesBools {
				details := wants(t, err, dataline.ErrBadOption)
				if !strings.Contains(details.Message, info.Key) || !strings.Contains(details.Message, "expected") {
					t.Error(info.Key, err)
				}
			}
		}
		if info.Type == dataline.OptionText {
			_, err := dataline.Resolve(dataline.With{info.Key: 5})
			wants(t, err, dataline.ErrBadOption)
		}
	}
}

func TestATransformThatIsNoTextSaysWhereGoCodeGoes(t *testing.T) {
	for words, value := range map[string]any{
		"Extensions.AddOperator":                 func(row []float32) {},
		"flatten cast(f32); write one text":      []string{"flatten", "cast(f32)"},
		"expected text, got []int of 1 2; write": []int{1, 2},
	} {
		_, err := dataline.NewLoader(numbers(t, 4), dataline.With{"transform": value})
		if details := wants(t, err, dataline.ErrBadOption); !strings.Contains(details.Message, words) {
			t.Error(details.Message)
		}
	}
}

func TestPartsThatDoNotFitAreAMismatch(t *testing.T) {
	four, five := numbers(t, 4), numbers(t, 5)
	_, err := dataline.Zip(dataline.Named{Name: "a", Dataset: four}, dataline.Named{Name: "b", Dataset: five})
	if wants(t, err, dataline.ErrMismatch); !strings.Contains(err.Error(), "4") || !strings.Contains(err.Error(), "5") {
		t.Error(err)
	}
	_, err = four.Subset([]int64{0, 4})
	wants(t, err, dataline.ErrOutOfRange)
	if _, err = dataline.Concat(); err == nil {
		t.Error("a dataset of nothing was made")
	}
}

func TestTooManyHeldBatchesNameTheOption(t *testing.T) {
	l := loaderOf(t, numbers(t, 10), dataline.With{"max_leases": 2, "lease_overflow": "error", "batch_size": 1})
	var held []*dataline.Batch
	failures := 0
	for b, err := range l.Epoch(background) {
		if err != nil {
			wants(t, err, dataline.ErrLeasesHeld)
			failures++
			continue // the loop is over all the same
		}
		b.Keep()
		held = append(held, b)
	}
	if len(held) != 2 || failures != 1 {
		t.Fatal(len(held), failures)
	}
	for _, b := range held {
		b.Release()
	}
	must[*dataline.Batch](t)(l.Next(background)).Release() // the loader stays usable
}

// numbered is a constant of the header.
type numbered struct {
	Name  string
	Value int64
}

// constants of the header, by name: what capi/api.json says.
func constants(t *testing.T) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "capi", "api.json"))
	if err != nil {
		t.Skip("not in a checkout: ", err)
	}
	var header struct {
		Codes     []numbered `json:"status_codes"`
		Constants []struct{ Values []numbered }
	}
	check(t, json.Unmarshal(text, &header))
	all := header.Codes
	for _, group := range header.Constants {
		all = append(all, group.Values...)
	}
	numbers := map[string]int64{}
	for _, one := range all {
		numbers[one.Name] = one.Value
	}
	if len(numbers) < 80 {
		t.Fatal(len(numbers), "constants")
	}
	return numbers
}

func TestEveryCodeOfTheHeaderIsAnErrorOfThisPackage(t *testing.T) {
	source, err := os.ReadFile("codes.go")
	check(t, err)
	here := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^\t(\w+) +Code = abi\.(DL_\w+)`).FindAllStringSubmatch(string(source), -1) {
		here[found[2]] = found[1]
	}
	check(t, dataline.Load())
	codes := 0
	for name, number := range constants(t) {
		bare, failed := strings.CutPrefix(name, "DL_ERR_")
		if !failed {
			continue
		}
		codes++
		if !strings.EqualFold(here[name], "Err"+strings.ReplaceAll(bare, "_", "")) {
			t.Errorf("%s %d: here it is %q", name, number, here[name])
		}
		if got := dataline.Code(number).String(); got != name {
			t.Errorf("%d: the library says %s, the header %s", number, got, name)
		}
	}
	if codes != len(here)-5 { // five soft results
		t.Errorf("%d codes in the header, %d here", codes, len(here))
	}
}

func TestEveryDTypeOfTheHeaderIsOfThisPackage(t *testing.T) {
	here := []dataline.DType{
		dataline.Bool, dataline.U8, dataline.U16, dataline.U32, dataline.U64, dataline.I8, dataline.I16, dataline.I32,
		dataline.I64, dataline.F16, dataline.BF16, dataline.F32, dataline.F64, dataline.C64, dataline.C128,
	}
	check(t, dataline.Load())
	known := map[string]int64{}
	for name, number := range constants(t) {
		if bare, ok := strings.CutPrefix(name, "DL_DTYPE_"); ok {
			known[strings.ToLower(bare)] = number
		}
	}
	for _, dtype := range here {
		if known[dtype.String()] != int64(dtype) || dtype.Bytes() == 0 {
			t.Errorf("%d %v: the header says %d", dtype, dtype, known[dtype.String()])
		}
	}
	if len(known) != len(here) || dataline.DType(99).Bytes() != 0 {
		t.Error(len(known), "in the header,", len(here), "here")
	}
}
