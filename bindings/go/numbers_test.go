// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Numbers that no code of this package needs.
var numbersLeftOut = regexp.MustCompile(`^DL_(VERSION|MEMORY)_|^DL_(STRUCT_MAX_BYTES|KIND_STRIDED|MAX_RANK|LOG_WARNING)$`)

// A number of the header is written by its name, abi.DL_NAME, or not at all.
func TestEveryNumberOfTheHeaderIsUsedHere(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	loader, err := os.ReadFile("internal/abi/load.go") // which compares the version
	if err != nil {
		t.Fatal(err)
	}
	code := strings.ReplaceAll(string(loader), "DL_ABI_VERSION", "abi.DL_ABI_VERSION")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			code += string(text)
		}
	}
	names, err := os.ReadFile("internal/abi/numbers.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\t(DL_\w+) +=`).FindAllStringSubmatch(string(names), -1)
	if len(found) < 80 {
		t.Fatal(len(found), "numbers")
	}
	for _, one := range found {
		used := regexp.MustCompile(`\babi\.` + one[1] + `\b`).MatchString(code)
		if used == numbersLeftOut.MatchString(one[1]) {
			t.Errorf("%s: used: %v", one[1], used)
		}
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
					statement, _, _ := strings.Cut(line, "//")
					// Not the package that an import names.
					if strings.Contains(statement, quoted) && statement != "\t\"io\"" {
						t.Errorf("%s: %s", file.Name(), line)
					}
				}
			}
		}
	}
}
