// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Every constant of the header but those that other tests compare (codes, dtypes) and those this package has no use for.
func TestTheNumbersOfTheHeaderAreTheNumbersHere(t *testing.T) {
	text, err := os.ReadFile("../../capi/dataline.h")
	if err != nil {
		t.Skip("not in a checkout: ", err)
	}
	here := map[string]int64{
		"DL_ABI_VERSION": abi.Version, "DL_OK": statusOK, "DL_DEVICE_CPU": deviceCPU,
		"DL_END_OF_EPOCH": int64(EndOfEpoch), "DL_END": int64(End), "DL_TIMEOUT": int64(ErrTimeout),
		"DL_CANCELLED": int64(ErrCancelled), "DL_INTERRUPTED": int64(statusInterrupted),
		"DL_OPTION_BOOL": int64(OptionBool), "DL_OPTION_INT": int64(OptionInt), "DL_OPTION_SIZE": int64(OptionSize),
		"DL_OPTION_WORD": int64(OptionWord), "DL_OPTION_TEXT": int64(OptionText),
		"DL_OPTION_INDICES": int64(OptionIndices), "DL_OPTION_WEIGHTS": int64(OptionWeights),
		"DL_SCOPE_DATASET": scopeDataset, "DL_SCOPE_LOADER": scopeLoader,
		"DL_KIND_DENSE": int64(Dense), "DL_KIND_RAGGED": int64(Ragged),
		"DL_VIEW_READ_ONLY": viewReadOnly, "DL_VIEW_OVERLAPPING": viewOverlapping, "DL_VIEW_PINNED": viewPinned,
		"DL_IMAGE_JPEG": int64(JPEG), "DL_IMAGE_PNG": int64(PNG), "DL_IMAGE_WEBP": int64(WebP),
		"DL_LOG_PROGRESS": logProgress, "DL_LOG_INFO": logInfo,
	}
	elsewhere := regexp.MustCompile(`^DL_(ERR|DTYPE|MEMORY|VERSION)_|^DL_(STRUCT_MAX_BYTES|DEVICE_CUDA|KIND_STRIDED|MAX_RANK|LOG_WARNING)$`)
	for _, found := range regexp.MustCompile(`(?m)^#define (DL_\w+) \(?(-?\d+)u?\)?`).FindAllStringSubmatch(string(text), -1) {
		name := found[1]
		if elsewhere.MatchString(name) {
			continue
		}
		number, known := here[name]
		if expected, _ := strconv.ParseInt(found[2], 10, 64); !known || number != expected {
			t.Errorf("%s is %d in the header, %d here (known: %v)", name, expected, number, known)
		}
		delete(here, name)
	}
	for name := range here {
		t.Errorf("%s is not in the header", name)
	}
}

// Whatever the library's table says can be set; no key is written in this package's code.
func TestEveryOptionOfTheTableCanBeSetByWith(t *testing.T) {
	table, err := Options()
	if err != nil {
		t.Fatal(err)
	}
	if len(table) < 20 {
		t.Fatal(len(table), "options")
	}
	for _, info := range table {
		value := info.Default
		switch {
		case info.Type.IsArray():
			continue
		case len(info.Choices) > 0:
			value = info.Choices[len(info.Choices)-1]
		case info.Type == OptionBool:
			value = "true"
		case info.HasRange:
			value = strconv.FormatInt(info.Maximum, 10)
		}
		if info.Doc == "" || info.Since == "" || !info.OfDataset && !info.OfLoader {
			t.Errorf("%+v", info)
		}
		if value == "" {
			continue
		}
		set, err := newOptionSet([]Option{With{info.Key: value}})
		if err != nil {
			t.Errorf("%s=%s: %v", info.Key, value, err)
			continue
		}
		if got, err := set.get(info.Key); err != nil || got == "" {
			t.Errorf("%s=%s: got %q, %v", info.Key, value, got, err)
		}
		set.destroy()
	}
}

// So a new option of the library needs no edit here: the code names none, but for the words of comments and Go.
func TestNoOptionKeyIsWrittenInTheCode(t *testing.T) {
	table, err := Options()
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		code, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range table {
			for _, quoted := range []string{`"` + info.Key + `"`, "`" + info.Key + "`"} {
				for _, line := range strings.Split(string(code), "\n") {
					if statement, _, _ := strings.Cut(line, "//"); strings.Contains(statement, quoted) {
						t.Errorf("%s: %s", file.Name(), line)
					}
				}
			}
		}
	}
}
