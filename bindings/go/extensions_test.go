// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// probe is an operator probe(first=1, other=none) of functions. It tells when it is closed.
type probe struct {
	prepare func(use *dataline.OperatorUse) error
	apply   func(row *dataline.OperatorRow) error
	closed  chan struct{}
	states  atomic.Int32 // uses that are not over
}

func (p *probe) About() dataline.TransformInfo {
	return dataline.TransformInfo{Name: "probe", Arguments: []dataline.ArgumentInfo{
		{Name: "first", Type: "list", Default: "1"}, {Name: "other", Type: "word", Default: "none"}}}
}

func (p *probe) Prepare(use *dataline.OperatorUse) (func(*dataline.OperatorRow) error, error) {
	if p.prepare != nil {
		if err := p.prepare(use); err != nil {
			return nil, err
		}
	}
	p.states.Add(1)
	use.Released = func() { p.states.Add(-1) }
	return p.apply, nil
}

// Close panics when it is called twice, which would end the test.
func (p *probe) Close() error {
	close(p.closed)
	return nil
}

func same(row *dataline.OperatorRow) error {
	items, err := dataline.Items[uint8](row)
	if err != nil {
		return err
	}
	return dataline.Fill(row, items)
}

// probed is a probe, and extensions that have it.
func probed(t *testing.T, prepare func(*dataline.OperatorUse) error, apply func(*dataline.OperatorRow) error) (
	*probe, *dataline.Extensions) {
	t.Helper()
	p := &probe{prepare: prepare, apply: apply, closed: make(chan struct{})}
	extensions := noExtensions(t)
	check(t, extensions.AddOperator(p))
	return p, extensions
}

func bytesTo(n int) dataline.Array {
	values := make([]uint8, n)
	for at := range values {
		values[at] = uint8(at)
	}
	return dataline.NewArray("x", values)
}

// firstError is the error of making a loader through the probe, or of its first batch.
func firstError(t *testing.T, extensions *dataline.Extensions, transform string) *dataline.Error {
	t.Helper()
	loader, err := dataline.NewLoader(arrays(t, bytesTo(10)), extensions, dataline.With{"transform": transform})
	if err == nil {
		defer loader.Close()
		_, err = loader.Next(background)
	}
	var details *dataline.Error
	if !errors.As(err, &details) {
		t.Fatalf("expected an error, got %v", err)
	}
	return details
}

func TestAnOperatorIsClosedOnceAndItsUsesEndWhenNothingNeedsThem(t *testing.T) {
	p, extensions := probed(t, nil, same)
	dataset := arrays(t, bytesTo(10))
	var loaders []*dataline.Loader
	for range 3 {
		loaders = append(loaders, must[*dataline.Loader](t)(
			dataline.NewLoader(dataset, extensions, dataline.With{"transform": "x: probe", "num_workers": 2})))
	}
	check(t, extensions.Close())
	check(t, extensions.Close())
	for at, loader := range loaders {
		for _, err := range loader.Epoch(background) {
			check(t, err)
		}
		if states := p.states.Load(); int(states) != 3-at {
			t.Errorf("%d loaders, %d uses", 3-at, states)
		}
		select {
		case <-p.closed:
			t.Fatal("closed too early")
		default:
		}
		check(t, loader.Close())
	}
	<-p.closed
	if states := p.states.Load(); states != 0 {
		t.Error(states, "uses")
	}
	wants(t, extensions.AddOperator(p), dataline.ErrClosed)
	if _, err := extensions.Formats(); err != dataline.ErrClosed {
		t.Error(err)
	}
}

func TestWhatIsRefusedStaysTheCallers(t *testing.T) {
	p, extensions := probed(t, nil, same)
	twin := &probe{apply: same, closed: make(chan struct{})}
	if details := wants(t, extensions.AddOperator(twin), dataline.ErrInvalidArgument); !strings.Contains(details.Message, "probe") {
		t.Error(details)
	}
	check(t, twin.Close()) // by the library too, it would be twice
	check(t, extensions.Close())
	<-p.closed
	all := samples(t)
	wants(t, all.AddFormat(dlrec{}), dataline.ErrInvalidArgument)
	wants(t, all.AddOperator(offset{}), dataline.ErrInvalidArgument)
	wants(t, all.AddStorage(xor{}), dataline.ErrInvalidArgument)
	wants(t, all.AddFormat(nil), dataline.ErrInvalidArgument)
	wants(t, all.AddOperator(nil), dataline.ErrInvalidArgument)
	wants(t, all.AddStorage(nil), dataline.ErrInvalidArgument)
	wants(t, (*dataline.Extensions)(nil).AddFormat(dlrec{}), dataline.ErrInvalidArgument)
	wants(t, (*dataline.Extensions)(nil).LoadPlugin("none"), dataline.ErrInvalidArgument)
}

func TestTheTablesListWhatWasAdded(t *testing.T) {
	extensions := samples(t)
	formats := must[[]dataline.FormatInfo](t)(extensions.Formats())
	last := formats[len(formats)-1]
	if last.Name != "dlrec" || last.Doc == "" || last.Keys[0] != (dlrec{}).About().Keys[0] {
		t.Error(last)
	}
	if own := must[[]dataline.FormatInfo](t)(dataline.Formats()); len(own)+1 != len(formats) || own[0].Name == "" {
		t.Error(len(own), len(formats))
	}
	operators := must[[]dataline.TransformInfo](t)(extensions.Transforms())
	operator := operators[len(operators)-1]
	if expected := (offset{}).About(); operator.Name != expected.Name || operator.Doc != expected.Doc {
		t.Error(operator)
	}
	equal(t, operator.Arguments, (offset{}).About().Arguments...)
	if own := must[[]dataline.TransformInfo](t)(dataline.Transforms()); len(own)+1 != len(operators) {
		t.Error(len(own), len(operators))
	}
	equal(t, must[[]dataline.StorageInfo](t)(extensions.Storages()), (xor{}).About())
}

func TestPanicsOfAnOperatorBecomeErrors(t *testing.T) {
	_, extensions := probed(t, func(*dataline.OperatorUse) error { panic("prepare broke") }, same)
	if err := firstError(t, extensions, "x: probe"); !strings.Contains(err.Message, "panicked: prepare broke") {
		t.Error(err)
	}
	_, extensions = probed(t, nil, func(*dataline.OperatorRow) error { panic("apply broke") })
	err := firstError(t, extensions, "x: probe")
	if wants(t, err, dataline.ErrBadSample); !strings.Contains(err.Message, "panicked: apply broke") {
		t.Error(err)
	}
	_, extensions = probed(t, nil, nil)
	err = firstError(t, extensions, "x: probe")
	if wants(t, err, dataline.ErrBadTransform); !strings.Contains(err.Message, "the function that Prepare returned is nil") {
		t.Error(err)
	}
}

func TestAnOperatorKnowsItsArgumentsAndItsInput(t *testing.T) {
	_, extensions := probed(t, func(use *dataline.OperatorUse) error {
		first, _ := use.Argument("first")
		other, known := use.Argument("other")
		if _, ok := use.Argument("third"); ok || !known || !first.Given || other.Given || !other.Absent {
			return fmt.Errorf("%+v %+v", first, other)
		}
		if len(first.Numbers) != 2 || first.Numbers[1] != 3 {
			return fmt.Errorf("%v", first.Numbers)
		}
		if use.Input.Name != "x" || use.Input.DType != dataline.U8 || len(use.Output.Shape) != 0 {
			return fmt.Errorf("%+v", use)
		}
		_, err := use.Number("first")
		return err
	}, same)
	if err := firstError(t, extensions, "x: probe([2,3])"); !strings.Contains(err.Message, "first: expected a number") {
		t.Error(err)
	}
}

func TestAnOutputThatDoesNotFitIsABadSample(t *testing.T) {
	for says, apply := range map[string]func(*dataline.OperatorRow) error{
		"expected 1 bytes of output, got 2": func(row *dataline.OperatorRow) error { return dataline.Fill(row, []uint8{1, 2}) },
		"output: expected u8, got f32":      func(row *dataline.OperatorRow) error { return dataline.Fill(row, []float32{1}) },
		"input: expected u8, got i64": func(row *dataline.OperatorRow) error {
			_, err := dataline.Items[int64](row)
			return err
		},
		"the output was not filled": func(*dataline.OperatorRow) error { return nil },
	} {
		_, extensions := probed(t, nil, apply)
		err := firstError(t, extensions, "x: probe")
		if wants(t, err, dataline.ErrBadSample); !strings.Contains(err.Message, says) {
			t.Errorf("expected %s, got %v", says, err)
		}
	}
}

func TestAnOperatorMakesRaggedRowsAndTooLargeOnesAreBad(t *testing.T) {
	_, extensions := probed(t, func(use *dataline.OperatorUse) error {
		use.Output.Kind, use.Output.Shape, use.Output.Bytes = dataline.Ragged, []int{-1}, 4
		return nil
	}, func(row *dataline.OperatorRow) error { return dataline.Fill(row, make([]uint8, row.Input()[0])) })
	loader := loaderOf(t, arrays(t, bytesTo(6)), extensions,
		dataline.With{"transform": "x: probe", "on_error": "quarantine"})
	batch := must[*dataline.Batch](t)(loader.Next(background))
	defer batch.Release()
	var lengths []int
	rows := must[dataline.RowSet[uint8]](t)(dataline.Rows[uint8](batch, "x"))
	for at := range rows.Len() {
		lengths = append(lengths, len(rows.At(at)))
	}
	equal(t, lengths, 0, 1, 2, 3, 4, 0) // the first stands in for the last
	bad := must[[]dataline.BadSample](t)(loader.BadSamples())
	if len(bad) != 1 || bad[0].Code != dataline.ErrTooLarge {
		t.Error(bad)
	}
}

func TestDrawsAreTheSameForEveryNumberOfWorkers(t *testing.T) {
	_, extensions := probed(t, func(use *dataline.OperatorUse) error {
		use.Draws = true
		return nil
	}, func(row *dataline.OperatorRow) error {
		drawn := row.Random(0) ^ row.Random(1) ^ row.Seed() ^ uint64(row.Slot()) ^ uint64(row.Epoch())
		row.Output()[0] = uint8(drawn)
		return nil
	})
	dataset := arrays(t, bytesTo(64))
	stream := func(workers int) (epochs [2][]uint8) {
		loader := loaderOf(t, dataset, extensions, dataline.With{"transform": "x: probe", "shuffle": "full",
			"seed": 5, "num_workers": workers, "batch_size": 4})
		for at := range epochs {
			for batch, err := range loader.Epoch(background) {
				check(t, err)
				epochs[at] = append(epochs[at], must[[]uint8](t)(dataline.View[uint8](batch, "x"))...)
			}
		}
		return epochs
	}
	alone := stream(0)
	if string(alone[0]) == string(alone[1]) {
		t.Error("both epochs drew the same")
	}
	for _, workers := range []int{1, 4} {
		got := stream(workers)
		equal(t, got[0], alone[0]...)
		equal(t, got[1], alone[1]...)
	}
}

func TestSeveralWorkersAreInAnOperatorAtOnce(t *testing.T) {
	var mutex sync.Mutex
	arrived := sync.NewCond(&mutex)
	here := 0
	_, extensions := probed(t, func(use *dataline.OperatorUse) error {
		use.Heavy = true
		return nil
	}, func(row *dataline.OperatorRow) error {
		mutex.Lock()
		defer mutex.Unlock()
		here++
		arrived.Broadcast()
		for here < 3 {
			arrived.Wait()
		}
		return same(row)
	})
	loader := loaderOf(t, arrays(t, bytesTo(64)), extensions,
		dataline.With{"transform": "x: probe", "num_workers": 3, "batch_size": 16})
	batches := 0
	for _, err := range loader.Epoch(background) {
		check(t, err)
		batches++
	}
	mutex.Lock()
	defer mutex.Unlock()
	if batches != 4 || here < 64 { // and rows of the next epoch
		t.Error(batches, here)
	}
}

func TestForgottenExtensionsAreClosed(t *testing.T) {
	p := &probe{apply: same, closed: make(chan struct{})}
	func() {
		extensions := must[*dataline.Extensions](t)(dataline.NewExtensions())
		check(t, extensions.AddOperator(p))
	}()
	for {
		runtime.GC()
		select {
		case <-p.closed:
			return
		default:
		}
	}
}
