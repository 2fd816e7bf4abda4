// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

const extensionsFolder = "../../tests/extensions"

// digestOf is the digest of a stream, as tests/extensions/README.md says.
func digestOf(uri string, options ...dataline.Option) (string, error) {
	dataset, err := dataline.Open(uri, options...)
	if err != nil {
		return "", err
	}
	defer dataset.Close()
	loader, err := dataline.NewLoader(dataset, options...)
	if err != nil {
		return "", err
	}
	defer loader.Close()
	digest := fnv.New64a()
	for {
		batch, err := loader.Next(background)
		switch {
		case errors.Is(err, dataline.EndOfEpoch):
			continue
		case errors.Is(err, dataline.End):
			return fmt.Sprintf("%016x", digest.Sum64()), nil
		case err != nil:
			return "", err
		}
		_ = binary.Write(digest, binary.NativeEndian, batch.SampleIndices())
		for tensor := range batch.Tensors() {
			bytes, err := tensor.Bytes()
			if err != nil {
				return "", err
			}
			_, _ = digest.Write(bytes)
		}
		batch.Release()
	}
}

// checkCases expects of the extensions what cases.txt says.
func checkCases(t *testing.T, extensions *dataline.Extensions) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(extensionsFolder, "cases.txt"))
	if err != nil {
		t.Skip("not in a checkout: ", err)
	}
	files := must[string](t)(filepath.Abs(filepath.Join(extensionsFolder, "files")))
	cases := 0
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		cases++
		parts := strings.Split(line, "|")
		name, expected := strings.TrimSpace(parts[0]), strings.TrimSpace(parts[3])
		uri := strings.ReplaceAll(strings.TrimSpace(parts[1]), "@", files)
		options := dataline.With{}
		for _, setting := range strings.Fields(parts[2]) {
			key, value, _ := strings.Cut(setting, "=")
			options[key] = value
		}
		t.Run(name, func(t *testing.T) {
			got, err := digestOf(uri, extensions, options)
			fits := got == expected
			var details *dataline.Error
			if errors.As(err, &details) {
				code, part, _ := strings.Cut(expected, " ")
				fits = details.Code.String() == code && strings.Contains(details.Message, part)
				got = details.Code.String() + " " + details.Message
			}
			if !fits {
				t.Errorf("expected %s, got %s", expected, got)
			}
		})
	}
	if cases < 25 {
		t.Error(cases, "cases")
	}
}

func TestTheExtensionsInGoGiveWhatIsExpected(t *testing.T) {
	checkCases(t, samples(t))
}
