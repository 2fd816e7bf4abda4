// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// ten records of field x (i64) and field text (ragged u8, at most 8 bytes), each read by a function.
type ten func(index int, record *dataline.Record) error

func (ten) Fields() []dataline.Field {
	return []dataline.Field{
		{Name: "x", DType: dataline.I64},
		{Name: "text", Kind: dataline.Ragged, DType: dataline.U8, Shape: []int{-1}, Bytes: 8},
	}
}

func (ten) Len() int { return 10 }

func (read ten) Read(index int, record *dataline.Record) error { return read(index, record) }

func good(index int, record *dataline.Record) error {
	if err := dataline.Put(record, "x", int64(index)); err != nil {
		return err
	}
	return dataline.Put(record, "text", []byte("abcdefgh")[:index%3]...)
}

func sourceOf(t testing.TB, s dataline.Source) *dataline.Dataset {
	t.Helper()
	d := must[*dataline.Dataset](t)(dataline.FromSource(s, nil))
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func TestASourceDeliversDenseAndRaggedFields(t *testing.T) {
	for _, workers := range []int{0, 2} {
		d := sourceOf(t, ten(good))
		if d.Len() != 10 || d.Format() != "reader" {
			t.Fatal(d.Len(), d.Format())
		}
		b := first(t, d, dataline.With{"batch_size": 10, "num_workers": workers})
		equal(t, must[[]int64](t)(dataline.View[int64](b, "x")), count(10)...)
		rows := must[dataline.RowSet[byte]](t)(dataline.Rows[byte](b, "text"))
		for index, row := range rows.All() {
			if string(row) != "abcdefgh"[:index%3] {
				t.Error(index, string(row))
			}
		}
	}
}

// onlySixIsBad: record 6 is bad for the reason that `says`; the others are delivered.
func onlySixIsBad(t *testing.T, says string, six ten) {
	t.Helper()
	read := ten(func(index int, record *dataline.Record) error {
		if index == 6 {
			return six(index, record)
		}
		return good(index, record)
	})
	for _, workers := range []int{0, 1} {
		l := loaderOf(t, sourceOf(t, read), dataline.With{"batch_size": 1, "epochs": 1, "num_workers": workers})
		var values []int64
		failures := 0
		for b, err := range l.Epoch(background) {
			if err != nil {
				if details := wants(t, err, dataline.ErrBadSample); details.SampleIndex != 6 ||
					!strings.Contains(details.Message, says) {
					t.Errorf("expected sample 6 and %q, got %d: %v", says, details.SampleIndex, err)
				}
				failures++
				continue
			}
			values = append(values, must[[]int64](t)(dataline.View[int64](b, "x"))...)
		}
		equal(t, values, 0, 1, 2, 3, 4, 5, 7, 8, 9)
		if failures != 1 {
			t.Error(failures, "errors")
		}
	}
}

func TestAnErrorOfTheSourceIsToldWithItsSample(t *testing.T) {
	onlySixIsBad(t, "the tape tore", func(int, *dataline.Record) error { return errors.New("the tape tore") })
}

func TestAPanicInTheSourceIsABadSample(t *testing.T) {
	onlySixIsBad(t, "panicked: on purpose", func(int, *dataline.Record) error { panic("on purpose") })
}

func TestWhatASourcePutsIsChecked(t *testing.T) {
	onlySixIsBad(t, "field 'x': expected i64, got i32", func(_ int, record *dataline.Record) error {
		return dataline.Put(record, "x", int32(1), int32(2))
	})
	onlySixIsBad(t, "field 'x': expected 8 bytes, got 16", func(_ int, record *dataline.Record) error {
		return dataline.Put(record, "x", int64(1), int64(2))
	})
	onlySixIsBad(t, "field 'x' was not filled", func(_ int, record *dataline.Record) error {
		return dataline.Put(record, "text", []byte("no x")...)
	})
	onlySixIsBad(t, "no field 'y'", func(_ int, record *dataline.Record) error {
		return dataline.Put(record, "y", uint8(1))
	})
	onlySixIsBad(t, "9 bytes, at most 8", func(index int, record *dataline.Record) error {
		return errors.Join(dataline.Put(record, "x", int64(index)), dataline.Put(record, "text", []byte("123456789")...))
	})
	onlySixIsBad(t, "fill a ragged field with Put", func(_ int, record *dataline.Record) error {
		_, err := record.Bytes("text")
		return err
	})
}

func TestBytesWrittenInPlaceAreDelivered(t *testing.T) {
	read := ten(func(index int, record *dataline.Record) error {
		room, err := record.Bytes("x")
		if err != nil {
			return err
		}
		clear(room)
		room[0], room[7] = byte(index*3), byte(index*3) // the same number in any byte order, but for the sign
		return dataline.Put[byte](record, "text")
	})
	b := first(t, sourceOf(t, read), dataline.With{"batch_size": 10})
	for index, value := range must[[]int64](t)(dataline.View[int64](b, "x")) {
		if expected := int64(index*3) | int64(index*3)<<56; value != expected {
			t.Error(index, value, expected)
		}
	}
}

func TestEachBadRecordHasItsOwnText(t *testing.T) {
	read := ten(func(index int, record *dataline.Record) error {
		if index%4 == 3 {
			return fmt.Errorf("page %d is torn", index)
		}
		return good(index, record)
	})
	l := loaderOf(t, sourceOf(t, read), dataline.With{"batch_size": 10, "num_workers": 0, "epochs": 1})
	_, err := l.Next(background)
	wants(t, err, dataline.ErrBadSample)
	bad := must[[]dataline.BadSample](t)(l.BadSamples())
	if len(bad) != 2 {
		t.Fatalf("%+v", bad)
	}
	for _, sample := range bad {
		if !strings.HasSuffix(sample.Message, fmt.Sprintf(": page %d is torn", sample.Index)) {
			t.Error(sample.Index, sample.Message)
		}
	}
}

// What is lent is read after Read has returned, by the same thread: another record of the call may still change it.
func TestRowsAreMadeFromWhatARecordLends(t *testing.T) {
	for _, workers := range []int{0, 2} {
		var shared [10]int64
		read := ten(func(index int, record *dataline.Record) error {
			text := []byte("abcdefgh")[:index%3]
			if err := dataline.Lend(record, "x", shared[index:index+1]); err != nil {
				return err
			}
			shared[index] = int64(100 + index) // not copied: this arrives
			runtime.GC()
			return dataline.Lend(record, "text", append([]byte(nil), text...))
		})
		l := loaderOf(t, sourceOf(t, read), dataline.With{"batch_size": 10, "num_workers": workers, "epochs": 1})
		b := must[*dataline.Batch](t)(l.Next(background))
		for index, x := range must[[]int64](t)(dataline.View[int64](b, "x")) {
			if x != int64(100+index) {
				t.Error(index, x)
			}
		}
		for index, row := range must[dataline.RowSet[byte]](t)(dataline.Rows[byte](b, "text")).All() {
			if string(row) != "abcdefgh"[:index%3] {
				t.Error(index, string(row))
			}
		}
		b.Release()
	}
}

func TestWhatARecordLendsIsLetGoWhenItsRowIsMade(t *testing.T) {
	gone := make(chan int, 40)
	read := ten(func(index int, record *dataline.Record) error {
		text := new([64]byte) // not tiny: those share a finalizer
		runtime.SetFinalizer(text, func(*[64]byte) { gone <- index })
		if err := dataline.Lend(record, "text", text[:8]); err != nil {
			return err
		}
		if index == 6 {
			return errors.New("bad after it was lent")
		}
		return dataline.Put(record, "x", int64(index))
	})
	l := loaderOf(t, sourceOf(t, read), dataline.With{"batch_size": 5, "on_error": "replace", "num_workers": 1, "epochs": 1})
	epoch(t, l)
	for range 10 {
		for waiting := true; waiting; {
			runtime.GC()
			select {
			case <-gone:
				waiting = false
			default:
			}
		}
	}
}

func TestARecordKnowsItsPlaceInTheEpoch(t *testing.T) {
	read := ten(func(_ int, record *dataline.Record) error {
		if record.Seed() != 42 {
			return fmt.Errorf("seed %d", record.Seed())
		}
		return errors.Join(dataline.Put(record, "x", record.Epoch()*100+record.Slot()), dataline.Put[byte](record, "text"))
	})
	l := loaderOf(t, sourceOf(t, read), dataline.With{"batch_size": 5, "shuffle": "full", "seed": 42, "epochs": 2})
	equal(t, joined(epoch(t, l)), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	equal(t, joined(epoch(t, l)), 100, 101, 102, 103, 104, 105, 106, 107, 108, 109)
}

func TestASlowSourceSeesThatItsLoaderIsClosed(t *testing.T) {
	inside := make(chan struct{}, 100)
	released := make(chan struct{})
	read := ten(func(_ int, record *dataline.Record) error {
		inside <- struct{}{}
		for block := make([]byte, 4096); !record.Cancelled(); {
			block[0] = byte(crc32.ChecksumIEEE(block)) // a long read
		}
		return errors.New("nobody waits")
	})
	d := must[*dataline.Dataset](t)(dataline.FromSource(read, func() { close(released) }))
	l := must[*dataline.Loader](t)(dataline.NewLoader(d, dataline.With{"num_workers": 2}))
	<-inside
	check(t, d.Close())
	check(t, l.Close())
	<-released // no worker was left behind in it
}

func TestASourceThatWouldWaitForABatchOfItsOwnLoaderIsRefused(t *testing.T) {
	for _, workers := range []int{0, 1} {
		var l *dataline.Loader
		made := make(chan struct{})
		refused := make(chan error, 10)
		read := ten(func(index int, record *dataline.Record) error {
			if index == 0 {
				<-made
				_, err := l.Next(background)
				refused <- err
			}
			return good(index, record)
		})
		l = loaderOf(t, sourceOf(t, read), dataline.With{"num_workers": workers, "batch_size": 5, "epochs": 1})
		close(made)
		b := must[*dataline.Batch](t)(l.Next(background))
		equal(t, b.SampleIndices(), 0, 1, 2, 3, 4)
		b.Release()
		wants(t, <-refused, dataline.ErrWrongState)
	}
}

func TestAReadThatIsInterruptedMakesNoSampleBad(t *testing.T) {
	for _, workers := range []int{0, 2} {
		var interrupted atomic.Bool
		read := ten(func(index int, record *dataline.Record) error {
			if index == 6 && !interrupted.Swap(true) {
				return fmt.Errorf("stopped: %w", dataline.ErrInterrupted)
			}
			return good(index, record)
		})
		l := loaderOf(t, sourceOf(t, read), dataline.With{"num_workers": workers, "batch_size": 5, "epochs": 1})
		must[*dataline.Batch](t)(l.Next(background)).Release()
		_, err := l.Next(background)
		wants(t, err, dataline.ErrInterrupted)
		at(t, l, 0, 1)
		b := must[*dataline.Batch](t)(l.Next(background))
		equal(t, b.SampleIndices(), 5, 6, 7, 8, 9)
		b.Release()
		if bad := must[[]dataline.BadSample](t)(l.BadSamples()); len(bad) != 0 {
			t.Error(bad)
		}
	}
}

func TestBadSamplesAreReplacedAndListed(t *testing.T) {
	read := ten(func(index int, record *dataline.Record) error {
		if index == 6 {
			return errors.New("torn")
		}
		return good(index, record)
	})
	l := loaderOf(t, sourceOf(t, read), dataline.With{"on_error": "quarantine", "epochs": 1})
	b := must[*dataline.Batch](t)(l.Next(background))
	defer b.Release()
	bad := must[[]dataline.BadSample](t)(l.BadSamples())
	if len(bad) != 1 || bad[0].Index != 6 || bad[0].Code != dataline.ErrReader || bad[0].Slot != 6 ||
		!strings.Contains(bad[0].Message, "torn") || bad[0].Replacement != b.SampleIndices()[6] {
		t.Fatalf("%+v", bad)
	}
	stats := must[dataline.Stats](t)(l.Stats())
	if stats.Bad != 1 || stats.Replaced != 1 || stats.Samples != 10 || stats.Batches != 1 {
		t.Errorf("%+v", stats)
	}
}

// named is ten records with a fingerprint.
type named struct {
	ten
	text string
}

func (n named) Fingerprint() string { return n.text }

func TestAFingerprintRefusesAStateOfOtherData(t *testing.T) {
	of := func(text string) *dataline.Loader { return loaderOf(t, sourceOf(t, named{good, text})) }
	state := must[string](t)(of("a").SaveState())
	check(t, of("a").LoadState(state))
	wants(t, of("b").LoadState(state), dataline.ErrStateRefused)
}

func TestASourceIsGivenBackOnce(t *testing.T) {
	var times atomic.Int32
	released := make(chan struct{}, 8)
	give := func() {
		times.Add(1)
		released <- struct{}{}
	}
	d := must[*dataline.Dataset](t)(dataline.FromSource(ten(good), give))
	l := must[*dataline.Loader](t)(dataline.NewLoader(d))
	check(t, d.Close())
	if times.Load() != 0 {
		t.Fatal("the loader needs it")
	}
	check(t, l.Close())
	<-released
	_, err := dataline.FromSource(empty{}, give)
	wants(t, err, dataline.ErrInvalidArgument)
	lendMore(t)
	if times.Load() != 1 {
		t.Fatal("a source that was refused is not given back")
	}
}

type empty struct{ ten }

func (empty) Fields() []dataline.Field { return nil }

// The callbacks come from threads that Go did not start: they may allocate, collect, and use channels there.
func TestReadingInGoMayDoAllThatGoDoes(t *testing.T) {
	values := make(chan int64, 1)
	read := ten(func(index int, record *dataline.Record) error {
		garbage := make([][]byte, 10)
		for at := range garbage {
			garbage[at] = make([]byte, 10_000)
		}
		if index == 3 {
			runtime.GC()
		}
		go func() { values <- int64(len(garbage)) }()
		<-values
		return good(index, record)
	})
	l := loaderOf(t, sourceOf(t, read), dataline.With{"batch_size": 3, "num_workers": 3, "shuffle": "full", "epochs": 5})
	for range 5 {
		if got := joined(epoch(t, l)); len(got) != 10 {
			t.Fatal(got)
		}
	}
}

// blocks is four hundred numbers in blocks.
type blocks []int

func (blocks) Fields() []dataline.Field {
	return []dataline.Field{{Name: "x", DType: dataline.I64}}
}
func (blocks) Len() int { return 400 }
func (blocks) Read(index int, record *dataline.Record) error {
	return dataline.Put(record, "x", int64(index))
}
func (ends blocks) BlockEnds() []int { return ends }
func (blocks) HeldBlocks() int       { return 4 }

func TestAWindowHasNoMoreBlocksOpenThanTheSourceCanKeep(t *testing.T) {
	var tens blocks
	for end := 10; end <= 400; end += 10 {
		tens = append(tens, end)
	}
	l := loaderOf(t, sourceOf(t, tens), dataline.With{"shuffle": "window", "batch_size": 8, "epochs": 1})
	all := joined(epoch(t, l))
	read, most := map[int64]int{}, 0 // of the blocks that are open
	for _, x := range all {
		read[x/10]++
		most = max(most, len(read))
		if read[x/10] == 10 {
			delete(read, x/10)
		}
	}
	if len(all) != 400 || most > 4 {
		t.Error(most, "blocks are open at a time", all)
	}
	for _, ends := range []blocks{{10, 10, 400}, {10, 20}, {401}} {
		_, err := dataline.FromSource(ends, nil)
		if details := wants(t, err, dataline.ErrInvalidArgument); !strings.Contains(details.Message, "block_ends") {
			t.Error(details.Message)
		}
	}
	if all := joined(epoch(t, loaderOf(t, sourceOf(t, blocks{}), dataline.With{"epochs": 1}))); len(all) != 400 {
		t.Error("without blocks", all)
	}
}
