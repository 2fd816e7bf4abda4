// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestTheTablesAreThoseOfTheShell(t *testing.T) {
	shown := string(shell(t, "options", "--json"))
	options := must[[]dataline.OptionInfo](t)(dataline.Options())
	for _, info := range options {
		if !strings.Contains(shown, `"`+info.Key+`"`) {
			t.Error(info.Key)
		}
	}
	if listed := strings.Count(shown, `"key"`); listed != len(options) {
		t.Error(listed, "options in the shell,", len(options), "here")
	}
	shown = string(shell(t, "transforms", "--json"))
	for _, info := range must[[]dataline.TransformInfo](t)(dataline.Transforms()) {
		if !strings.Contains(shown, `"`+info.Name+`"`) || info.Doc == "" || info.Since == "" {
			t.Errorf("%+v", info)
		}
	}
}

func TestOperatorsHaveTheirArguments(t *testing.T) {
	for _, info := range must[[]dataline.TransformInfo](t)(dataline.Transforms()) {
		switch {
		case info.Name == "cast" && (len(info.Arguments) != 1 || info.Arguments[0].Default != ""):
			t.Errorf("cast needs a dtype: %+v", info.Arguments)
		case info.Name == "normalize" && len(info.Arguments) == 0:
			t.Error("normalize has arguments")
		}
	}
}

type width int

func (w width) String() string { return "7" }

func TestValuesOfEachGoTypeAreTaken(t *testing.T) {
	type word string
	values := must[map[string]string](t)(dataline.Resolve(
		dataline.With{"batch_size": 8, "seed": uint64(9), "replacement": false, "shuffle": word("full")},
		dataline.With{"memory_budget": "1GiB", "batch_size": 16, "epochs": width(3)}))
	for key, expected := range map[string]string{
		"batch_size": "16", "seed": "9", "replacement": "false", "shuffle": "full", "epochs": "7", "last_batch": "keep",
	} {
		if values[key] != expected {
			t.Errorf("%s: expected %q, got %q", key, expected, values[key])
		}
	}
	if _, ok := values["weights"]; ok {
		t.Error("an array is no text")
	}
}

func TestTheLibrarySaysWhatItIs(t *testing.T) {
	if version := must[string](t)(dataline.Version()); !strings.HasPrefix(version, "0.2.") {
		t.Error(version)
	}
	if info := must[string](t)(dataline.BuildInfo()); info == "" {
		t.Error("nothing is said of the build")
	}
}

func TestDatasetsAreZippedJoinedAndDescribed(t *testing.T) {
	whole := must[*dataline.Dataset](t)(dataline.Concat(numbers(t, 4), numbers(t, 6)))
	defer whole.Close()
	zipped := must[*dataline.Dataset](t)(dataline.Zip(
		dataline.Named{Name: "a", Dataset: whole}, dataline.Named{Name: "b", Dataset: numbers(t, 10)}))
	defer zipped.Close()
	part := must[*dataline.Dataset](t)(zipped.Subset([]int64{9, 4}))
	defer part.Close()
	if zipped.Len() != 10 || zipped.Format() != "zip" || zipped.URI() != "" || part.Len() != 2 {
		t.Error(zipped.Len(), zipped.Format(), zipped.URI(), part.Len())
	}
	fields := zipped.Fields()
	if len(fields) != 2 || fields[0].Name != "a" || fields[1].Name != "b" || fields[0].DType != dataline.I64 ||
		fields[0].Bytes != 8 {
		t.Errorf("%+v", fields)
	}
	b := first(t, part)
	equal(t, must[[]int64](t)(dataline.View[int64](b, "a")), 5, 0)
	equal(t, must[[]int64](t)(dataline.View[int64](b, "b")), 9, 4)
	path := file(t, "a.raw", make([]byte, 12))
	raw := must[*dataline.Dataset](t)(dataline.Open("raw:" + path + "?dtype=u8&shape=3"))
	defer raw.Close()
	if raw.Len() != 4 || raw.Format() != "raw" || !strings.Contains(raw.URI(), path) {
		t.Error(raw.Len(), raw.Format(), raw.URI())
	}
	for _, note := range raw.Notes() {
		if note == "" {
			t.Error("an empty note")
		}
	}
	if len(raw.Classes()) != 0 {
		t.Error(raw.Classes())
	}
	folder := t.TempDir()
	for _, name := range []string{"owl", "ant"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "1.jpg"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pets := must[*dataline.Dataset](t)(dataline.Open("folder:" + folder))
	defer pets.Close()
	equal(t, pets.Classes(), "ant", "owl")
	batch := loaderOf(t, raw, dataline.With{"transform": "cast(f32)"}).Fields()[0]
	equal(t, batch.Shape, -1, 3) // batches may differ in size
	if batch.DType != dataline.F32 {
		t.Error(batch.DType)
	}
}

func TestRemarksGoToTheLogger(t *testing.T) {
	var text bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	gate := newGate(t)
	d := gate.dataset(t)
	l := must[*dataline.Loader](t)(dataline.NewLoader(d, dataline.With{"num_workers": 1}, dataline.LogTo(logger)))
	<-gate.entered
	check(t, d.Close())
	check(t, l.Close()) // waits a second for Read, then leaves the thread behind, and says so
	if !strings.Contains(text.String(), "level=WARN") {
		t.Error(text.String())
	}
	close(gate.open)
	<-gate.released
}
