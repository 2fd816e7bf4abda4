// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

var fieldX = []dataline.Field{{Name: "x", DType: dataline.I64}}

func writerOf(t testing.TB, uri string, fields []dataline.Field, job string) *dataline.Writer {
	t.Helper()
	w := must[*dataline.Writer](t)(dataline.NewWriter(uri, fields, job))
	t.Cleanup(func() { check(t, w.Close()) })
	return w
}

func rowsOfX(values ...int64) []dataline.Array {
	return []dataline.Array{dataline.NewArray("x", values)}
}

// delivered is all x of a set.
func delivered(t testing.TB, uri string) []int64 {
	t.Helper()
	set := must[*dataline.Dataset](t)(dataline.Open(uri))
	defer set.Close()
	return joined(epoch(t, loaderOf(t, set, dataline.With{"batch_size": 3, "num_workers": 0})))
}

func exists(paths ...string) bool {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

func TestDenseRaggedAndTextsComeBackFromASet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set")
	w := writerOf(t, "arrow:"+path, []dataline.Field{
		{Name: "image", DType: dataline.U8, Shape: []int{2, 2}, Axes: "HW"},
		{Name: "score", DType: dataline.F32},
		{Name: "tokens", Kind: dataline.Ragged, DType: dataline.I32, Shape: []int{-1}},
		{Name: "text", Kind: dataline.Ragged, DType: dataline.U8, Shape: []int{-1}},
	}, "")
	images := []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	check(t, w.Append([]dataline.Array{
		dataline.NewArray("image", images, 3, 2, 2),
		dataline.NewArray("score", []float32{0.5, 1.5, -2}),
		dataline.NewRagged("tokens", []int32{7, 8, 9}, []int64{0, 2, 2, 3}),
		dataline.NewRagged("text", []byte("onefour"), []int64{0, 0, 3, 7}),
	}, ""))
	if info := must[dataline.WriterInfo](t)(w.Info()); info.Samples != 3 || exists(path) {
		t.Error(info, exists(path))
	}
	check(t, w.Finish())
	if info := must[dataline.WriterInfo](t)(w.Info()); info.Shards != 1 || !exists(path) || exists(path+".partial") {
		t.Error(info)
	}

	set := must[*dataline.Dataset](t)(dataline.Open("arrow:" + path))
	defer set.Close()
	if axes := set.Fields()[0].Axes; axes != "HW" {
		t.Error(axes)
	}
	b := first(t, set, dataline.With{"batch_size": 3})
	equal(t, must[[]uint8](t)(dataline.View[uint8](b, "image")), images...)
	equal(t, must[[]float32](t)(dataline.View[float32](b, "score")), 0.5, 1.5, -2)
	tokens, err := dataline.Rows[int32](b, "tokens")
	check(t, err)
	texts, err := dataline.Rows[byte](b, "text")
	check(t, err)
	expected := [][]int32{{7, 8}, {}, {9}}
	for at, row := range tokens.All() {
		equal(t, row, expected[at]...)
	}
	for at, text := range texts.All() {
		if string(text) != []string{"", "one", "four"}[at] {
			t.Error(at, string(text))
		}
	}
}

func TestFieldsOfADatasetAndItsBatchesAreWritten(t *testing.T) {
	uri := "arrow:" + filepath.Join(t.TempDir(), "set")
	source := numbers(t, 20)
	w := writerOf(t, uri, source.Fields(), "")
	var order []int64
	for b, err := range loaderOf(t, source, dataline.With{"batch_size": 6, "shuffle": "full", "seed": 3}).Epoch(background) {
		check(t, err)
		values := must[[]int64](t)(dataline.View[int64](b, "x")) // memory of the library
		check(t, w.Append(rowsOfX(values...), ""))
		order = append(order, values...)
	}
	check(t, w.Finish())
	equal(t, delivered(t, uri), order...)
}

func TestAWriterGoesOnWhereOneWasClosedWithoutFinish(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set")
	uri := "arrow:" + path + "?shard_bytes=1"
	w := writerOf(t, uri, fieldX, "numbers")
	if position := w.Position(); position != "" {
		t.Error(position)
	}
	check(t, w.Append(rowsOfX(0, 1, 2), "3"))
	check(t, w.Close())
	check(t, w.Close())
	wants(t, w.Append(rowsOfX(3), ""), dataline.ErrClosed)
	wants(t, w.Finish(), dataline.ErrClosed)
	_, err := w.Info()
	wants(t, err, dataline.ErrClosed)
	if !exists(path+".partial") || exists(path) {
		t.Error("expected the set to be there in part")
	}
	_, err = dataline.NewWriter(uri, fieldX, "others")
	if refused := wants(t, err, dataline.ErrStateRefused); !strings.Contains(refused.Message, "'numbers', now it is 'others'") {
		t.Error(refused)
	}
	w = writerOf(t, uri, fieldX, "numbers")
	info := must[dataline.WriterInfo](t)(w.Info())
	if w.Position() != "3" || info.ResumedSamples != 3 || info.Samples != 3 || info.Shards != 1 || info.Bytes < 1 {
		t.Error(w.Position(), info)
	}
	check(t, w.Append(rowsOfX(3, 4), "5"))
	check(t, w.Finish())
	equal(t, delivered(t, "arrow:"+path), 0, 1, 2, 3, 4)
}

func TestTargetsThatAreNoneAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set")
	_, err := dataline.NewWriter("idx:"+path, fieldX, "")
	unknown := wants(t, err, dataline.ErrBadURI)
	if unknown.Column != 1 || !strings.Contains(unknown.Message, "'idx' cannot be written, expected one of arrow, parquet, tar, tfrecord, npy, tokens") {
		t.Error(unknown.Column, unknown)
	}
	for _, one := range []struct {
		uri      string
		fields   []dataline.Field
		job      string
		expected error
	}{
		{"tfrecord:" + path, []dataline.Field{{Name: "x", DType: dataline.F64}}, "", dataline.ErrUnsupported},
		{"arrow:" + path, nil, "", dataline.ErrInvalidArgument},
		{"arrow:" + path, []dataline.Field{{Name: "x\x00", DType: dataline.U8}}, "", dataline.ErrInvalidArgument},
		{"arrow:\x00", fieldX, "", dataline.ErrInvalidArgument},
		{"arrow:" + path, fieldX, "\x00", dataline.ErrInvalidArgument},
		{"arrow:" + path + "/none/set", fieldX, "", dataline.ErrNotFound},
	} {
		_, err := dataline.NewWriter(one.uri, one.fields, one.job)
		wants(t, err, one.expected)
	}
	if exists(path) || exists(path+".partial") {
		t.Error("nothing should be there")
	}
	first := writerOf(t, "arrow:"+path, fieldX, "")
	_, err = dataline.NewWriter("arrow:"+path, fieldX, "") // two would write it
	wants(t, err, dataline.ErrWrongState)
	check(t, first.Close())
	check(t, os.Mkdir(path, 0o700))
	_, err = dataline.NewWriter("arrow:"+path, fieldX, "")
	if there := wants(t, err, dataline.ErrWrongState); !strings.Contains(there.Message, "set: exists") {
		t.Error(there)
	}
	var none *dataline.Writer
	wants(t, none.Finish(), dataline.ErrInvalidArgument)
	check(t, none.Close())
	wants(t, new(dataline.Writer).Finish(), dataline.ErrClosed)
}

func TestRowsThatDoNotFitAreRefusedAndTheWriterGoesOn(t *testing.T) {
	uri := "arrow:" + filepath.Join(t.TempDir(), "set")
	w := writerOf(t, uri, fieldX, "")
	small := wants(t, w.Append([]dataline.Array{dataline.NewArray("x", []int32{1, 2})}, ""), dataline.ErrMismatch)
	if !strings.Contains(small.Message, "expected field 'x' (i64), got 'x' (i32)") {
		t.Error(small)
	}
	wants(t, w.Append([]dataline.Array{dataline.NewArray("y", []int64{1})}, ""), dataline.ErrMismatch)
	wants(t, w.Append([]dataline.Array{dataline.NewArray("x", []int64{1, 2}, 1, 2)}, ""), dataline.ErrMismatch)
	wants(t, w.Append([]dataline.Array{dataline.NewArray("x", []int64{1, 2}, 3)}, ""), dataline.ErrInvalidArgument)
	wants(t, w.Append(nil, ""), dataline.ErrInvalidArgument)
	wants(t, w.Append(rowsOfX(1), "\x00"), dataline.ErrInvalidArgument)
	wants(t, w.Finish(), dataline.ErrEmpty)
	check(t, w.Append(rowsOfX(), ""))
	check(t, w.Append(rowsOfX(1, 2), ""))
	check(t, w.Finish())
	wants(t, w.Finish(), dataline.ErrWrongState)
	wants(t, w.Append(rowsOfX(3), ""), dataline.ErrWrongState)
	equal(t, delivered(t, uri), 1, 2)
}

func TestGoroutinesAppendWholePieces(t *testing.T) {
	uri := "arrow:" + filepath.Join(t.TempDir(), "set")
	w := writerOf(t, uri+"?shard_bytes=512", fieldX, "")
	var appending sync.WaitGroup
	for thread := range int64(4) {
		appending.Go(func() {
			for first := 100 * thread; first < 100*(thread+1); first += 4 {
				if err := w.Append(rowsOfX(first, first+1, first+2, first+3), ""); err != nil {
					t.Error(err)
				}
				if info, err := w.Info(); err != nil || info.Samples < 4 {
					t.Error(info, err)
				}
			}
		})
	}
	appending.Wait()
	check(t, w.Finish())
	values := delivered(t, uri)
	for piece := range slices.Chunk(values, 4) {
		if piece[3] != piece[0]+3 {
			t.Error(piece)
		}
	}
	slices.Sort(values)
	equal(t, values, count(400)...)
}

func TestAWriterIsClosedWhileGoroutinesAppend(t *testing.T) {
	w := writerOf(t, "arrow:"+filepath.Join(t.TempDir(), "set")+"?shard_bytes=1KiB", fieldX, "")
	var appending sync.WaitGroup
	for range 3 {
		appending.Go(func() {
			err := w.Append(rowsOfX(1, 2, 3), "")
			for err == nil {
				err = w.Append(rowsOfX(1, 2, 3), "")
			}
			if !errors.Is(err, dataline.ErrClosed) {
				t.Error(err)
			}
		})
	}
	for must[dataline.WriterInfo](t)(w.Info()).Shards < 5 {
	}
	check(t, w.Close())
	appending.Wait()
}

func TestFormatsThatAreWrittenAreTheLibrarys(t *testing.T) {
	var names []string
	for _, format := range must[[]dataline.WriterFormatInfo](t)(dataline.WriterFormats()) {
		names = append(names, format.Name)
		if format.Doc == "" {
			t.Error(format.Name)
		}
	}
	equal(t, names, "arrow", "parquet", "tar", "tfrecord", "npy", "tokens")
}
