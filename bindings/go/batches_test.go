// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dataline/dataline/bindings/go"
)

func TestAViewHasTheTypeShapeAndBytesOfItsField(t *testing.T) {
	pixels := make([]uint16, 3*2*4)
	bytes := []byte{}
	for at := range pixels {
		pixels[at] = uint16(at * 1000)
		bytes = binary.NativeEndian.AppendUint16(bytes, pixels[at])
	}
	b := first(t, arrays(t, dataline.NewArray("image", pixels, 3, 2, 4).Axes("HW")))
	image := must[dataline.Tensor](t)(b.Tensor("image"))
	if image.Name() != "image" || image.Kind() != dataline.Dense || image.DType() != dataline.U16 || image.Axes() != "NHW" {
		t.Fatal(image, image.Axes())
	}
	equal(t, image.Shape(), 3, 2, 4)
	equal(t, image.Strides(), 8, 4, 1)
	equal(t, must[[]uint16](t)(dataline.View[uint16](b, "image")), pixels...)
	equal(t, must[[]byte](t)(image.Bytes()), bytes...)
	rows := must[dataline.RowSet[uint16]](t)(dataline.Rows[uint16](b, "image"))
	equal(t, rows.At(2), pixels[16:]...)
	if kind, _ := image.Device(); kind != 1 || image.ReadOnly() || image.Overlapping() || image.Pinned() {
		t.Fatal("expected plain host memory")
	}
	if uintptr(image.Pointer())%256 != 0 {
		t.Fatal("expected 256-byte alignment")
	}
}

func elements[T dataline.Element](t *testing.T, dtype dataline.DType, values ...T) {
	t.Helper()
	b := first(t, arrays(t, dataline.NewArray("x", values)))
	if got := must[dataline.Tensor](t)(b.Tensor("x")).DType(); got != dtype {
		t.Fatalf("expected %v, got %v", dtype, got)
	}
	equal(t, must[[]T](t)(dataline.View[T](b, "x")), values...)
}

func TestEveryElementTypeComesThrough(t *testing.T) {
	elements(t, dataline.Bool, true, false)
	elements(t, dataline.U8, uint8(255), 1)
	elements(t, dataline.U16, uint16(65535), 1)
	elements(t, dataline.U32, uint32(1<<32-1), 1)
	elements(t, dataline.U64, uint64(1<<64-1), 1)
	elements(t, dataline.I8, int8(-128), 127)
	elements(t, dataline.I16, int16(-32768), 1)
	elements(t, dataline.I32, int32(-1<<31), 1)
	elements(t, dataline.I64, int64(-1<<63), 1)
	elements(t, dataline.F16, dataline.Half(0x3C00), 0xC000)
	elements(t, dataline.BF16, dataline.BFloat16(0x3F80), 0x4000)
	elements(t, dataline.F32, float32(0.5), -1)
	elements(t, dataline.F64, 0.5, -1)
	elements(t, dataline.C64, complex64(1+2i), -1i)
	elements(t, dataline.C128, 1+2i, -1i)
}

func TestHalvesAreNumbers(t *testing.T) {
	for half, number := range map[dataline.Half]float32{
		0x3C00: 1, 0xC000: -2, 0x0001: 1.0 / (1 << 24), 0x83FF: -1023.0 / (1 << 24), 0x0400: 1.0 / (1 << 14), 0x7BFF: 65504,
	} {
		if half.Float32() != number {
			t.Errorf("%#04x: expected %v, got %v", uint16(half), number, half.Float32())
		}
	}
	if infinite := dataline.Half(0x7C00).Float32(); infinite <= 65504 {
		t.Error(infinite)
	}
	if number := dataline.Half(0x7E00).Float32(); number == number {
		t.Error(number, "is not a number")
	}
	if number := dataline.BFloat16(0xC040).Float32(); number != -3 {
		t.Error(number)
	}
}

func TestAWrongTypeOrNameIsRefusedWithWhatThereIs(t *testing.T) {
	b := first(t, arrays(t, dataline.NewArray("x", []int64{1, 2})))
	_, err := dataline.View[float32](b, "x")
	if wants(t, err, dataline.ErrMismatch).Message != "field 'x': items are i64, expected f32" {
		t.Error(err)
	}
	_, err = dataline.View[int64](b, "y")
	if wants(t, err, dataline.ErrNoSuchField).Message != "no field 'y'; the fields are x" {
		t.Error(err)
	}
	rows := must[dataline.RowSet[int64]](t)(dataline.Rows[int64](b, "x"))
	defer func() { wants(t, recover().(error), dataline.ErrOutOfRange) }()
	rows.At(2)
}

func TestRaggedRowsHaveTheirOwnLengths(t *testing.T) {
	points := []float32{0, 1, 2, 3, 4, 5, 6, 7}
	b := first(t, arrays(t,
		dataline.NewRagged("text", []byte("abcde"), []int64{0, 2, 2, 5}),
		dataline.NewRagged("points", points, []int64{0, 1, 4, 4}, 2)))
	text := must[dataline.RowSet[byte]](t)(dataline.Rows[byte](b, "text"))
	equal(t, text.Offsets(), 0, 2, 2, 5)
	words := []string{}
	for _, row := range text.All() {
		words = append(words, string(row))
	}
	equal(t, words, "ab", "", "cde")
	rows := must[dataline.RowSet[float32]](t)(dataline.Rows[float32](b, "points"))
	equal(t, rows.At(1), 2, 3, 4, 5, 6, 7)
	equal(t, rows.At(2))
	equal(t, must[[]float32](t)(dataline.View[float32](b, "points")), points...)
	equal(t, must[dataline.Tensor](t)(b.Tensor("points")).Shape(), 4, 2)
}

func TestOverlappingWindowsAreReadRowByRow(t *testing.T) {
	bytes := []byte{}
	for token := range 9 {
		bytes = binary.NativeEndian.AppendUint16(bytes, uint16(token))
	}
	uri := "tokens:" + file(t, "tokens.bin", bytes) + "?length=4&dtype=u16&views=true"
	d := must[*dataline.Dataset](t)(dataline.Open(uri))
	defer d.Close()
	b := first(t, d)
	x := must[dataline.Tensor](t)(b.Tensor("x"))
	if !x.Overlapping() || !x.ReadOnly() {
		t.Fatal("expected overlapping, read-only views")
	}
	_, err := dataline.View[uint16](b, "x")
	wants(t, err, dataline.ErrUnsupported)
	_, err = x.Bytes()
	wants(t, err, dataline.ErrUnsupported)
	y := must[dataline.RowSet[uint16]](t)(dataline.Rows[uint16](b, "y"))
	equal(t, y.At(0), 1, 2, 3, 4)
	equal(t, y.At(1), 5, 6, 7, 8)
}

func TestABatchKnowsItsSamplesAndWhichOfThemArePads(t *testing.T) {
	l := loaderOf(t, numbers(t, 6), dataline.With{"batch_size": 4, "last_batch": "pad", "epochs": 1})
	check(t, l.Seek(0, 1))
	b := must[*dataline.Batch](t)(l.Next(background))
	defer b.Release()
	if b.Info() != (dataline.BatchInfo{Epoch: 0, Step: 1, Samples: 4, Valid: 2}) {
		t.Fatal(b.Info())
	}
	equal(t, b.SampleIndices(), 4, 5, 0, 1)
	equal(t, b.SampleSources(), 0, 0, 0, 0)
}

func TestBatchesOutliveTheLoaderAndTheDataset(t *testing.T) {
	d := must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{dataline.NewArray("x", count(100))}, nil))
	l := must[*dataline.Loader](t)(dataline.NewLoader(d, dataline.With{"batch_size": 10, "epochs": 1}))
	var held []*dataline.Batch
	for b, err := range l.Epoch(background) {
		check(t, err)
		b.Keep()
		b.Keep() // again: nothing happens
		held = append(held, b)
	}
	// More than max_leases: the later ones are copies.
	if stats := must[dataline.Stats](t)(l.Stats()); stats.LeaseCopies != 6 || stats.LeasesHeld != 10 {
		t.Fatal(stats)
	}
	check(t, l.Close())
	check(t, d.Close())
	for step, b := range held {
		equal(t, must[[]int64](t)(dataline.View[int64](b, "x")), count(100)[step*10:step*10+10]...)
		b.Release()
	}
}

// messages is what a logger was told.
type messages struct {
	lock sync.Mutex
	text strings.Builder
}

func (m *messages) Write(line []byte) (int, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.text.Write(line)
}

func (m *messages) String() string {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.text.String()
}

func TestAForgottenReleaseIsReportedAndSlicesStayAsTheyAre(t *testing.T) {
	told := &messages{}
	l := loaderOf(t, numbers(t, 1000), dataline.LogTo(slog.New(slog.NewTextHandler(told, nil))),
		dataline.With{"batch_size": 10, "prefetch_depth": 1, "max_leases": 2})
	check(t, l.Seek(0, 3))
	x := func() []int64 { // of a batch that nobody can release any more
		return must[[]int64](t)(dataline.View[int64](must[*dataline.Batch](t)(l.Next(background)), "x"))
	}()
	for end := time.Now().Add(time.Minute); must[dataline.Stats](t)(l.Stats()).Forgotten == 0; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("the collector never found it")
		}
		epoch(t, l) // its memory would be written again
	}
	for range 3 {
		epoch(t, l)
	}
	equal(t, x, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39)
	if text := told.String(); !strings.Contains(text, "without Release") || !strings.Contains(text, "epoch=0 step=3") {
		t.Error(text)
	}
	if stats := must[dataline.Stats](t)(l.Stats()); stats.Forgotten != 1 || stats.LeasesHeld != 1 {
		t.Errorf("%+v", stats)
	}
}

func TestALoopReleasesWhatIsNotKept(t *testing.T) {
	l := loaderOf(t, numbers(t, 10), dataline.With{"batch_size": 1, "max_leases": 1, "lease_overflow": "error"})
	var last *dataline.Batch
	for b, err := range l.Epoch(background) {
		check(t, err)
		last = b
	}
	_, err := dataline.View[int64](last, "x")
	wants(t, err, dataline.ErrReleased)
	for range l.Epoch(background) {
		break
	}
	func() {
		defer func() { _ = recover() }()
		for range l.Epoch(background) {
			panic("in the body")
		}
	}()
	if stats := must[dataline.Stats](t)(l.Stats()); stats.LeasesHeld != 0 {
		t.Fatal(stats.LeasesHeld, "batches are held after a break and a panic")
	}
}

func TestAReleasedBatchSaysSo(t *testing.T) {
	b := first(t, numbers(t, 4))
	x := must[dataline.Tensor](t)(b.Tensor("x"))
	b.Release()
	b.Release() // again: nothing happens
	check(t, b.ReleaseOn(0))
	_, err := dataline.View[int64](b, "x")
	wants(t, err, dataline.ErrReleased)
	_, err = dataline.Rows[int64](b, "x")
	wants(t, err, dataline.ErrReleased)
	_, err = b.Tensor("x")
	wants(t, err, dataline.ErrReleased)
	_, err = x.Bytes()
	wants(t, err, dataline.ErrReleased)
	wants(t, b.Wait(0), dataline.ErrReleased)
	for name, accessor := range map[string]func(){
		"Len": func() { b.Len() }, "Info": func() { b.Info() }, "SampleIndices": func() { b.SampleIndices() },
		"Shape": func() { x.Shape() }, "Name": func() { x.Name() },
		"Tensors": func() {
			for range b.Tensors() {
			}
		},
	} {
		func() {
			defer func() {
				if thrown, _ := recover().(error); !errors.Is(thrown, dataline.ErrReleased) {
					t.Errorf("%s: expected a panic with ErrReleased, got %v", name, thrown)
				}
			}()
			accessor()
		}()
	}
}

func TestStreamsOfTheCPUDeviceHaveNothingToWaitFor(t *testing.T) {
	l := loaderOf(t, numbers(t, 4))
	b := must[*dataline.Batch](t)(l.Next(background))
	check(t, b.Wait(0))
	check(t, b.ReleaseOn(0))
	if stats := must[dataline.Stats](t)(l.Stats()); stats.LeasesHeld != 0 {
		t.Fatal(stats.LeasesHeld)
	}
}

func TestABatchThatWasForgottenIsReleasedByTheCollector(t *testing.T) {
	l := loaderOf(t, numbers(t, 40), dataline.With{"batch_size": 1})
	for range 10 {
		must[*dataline.Batch](t)(l.Next(background))
	}
	for deadline := time.Now().Add(time.Minute); ; runtime.GC() {
		if must[dataline.Stats](t)(l.Stats()).LeasesHeld == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("batches are still held")
		}
	}
}

func TestABatchOfALoopCostsOneAllocationBeyondTheForeignCalls(t *testing.T) {
	l := loaderOf(t, numbers(t, 4096), dataline.With{"batch_size": 1, "num_workers": 0})
	batches := 0
	each := testing.AllocsPerRun(3, func() {
		for b, err := range l.Epoch(background) {
			check(t, err)
			if _, err := dataline.View[int64](b, "x"); err != nil {
				t.Fatal(err)
			}
			batches++
		}
	}) / 4096
	// One in this package, and one for the argument list of the release without cgo; the race detector empties pools now
	// and then.
	if each > 3 {
		t.Fatal(each, "allocations a batch")
	}
}
