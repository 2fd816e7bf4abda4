// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dataline/dataline/bindings/go"
)

// gate is a source of one record, 7, which cannot be read before the gate is open.
type gate struct {
	entered, open, released chan struct{}
	once                    sync.Once
}

func newGate(*testing.T) *gate {
	return &gate{entered: make(chan struct{}), open: make(chan struct{}), released: make(chan struct{})}
}

func (g *gate) Fields() []dataline.Field {
	return []dataline.Field{{Name: "x", DType: dataline.I64}}
}

func (g *gate) Len() int { return 1 }

func (g *gate) Read(_ int, record *dataline.Record) error {
	g.once.Do(func() { close(g.entered) })
	<-g.open
	return dataline.Put(record, "x", int64(7))
}

func (g *gate) dataset(t *testing.T) *dataline.Dataset {
	d := must[*dataline.Dataset](t)(dataline.FromSource(g, func() { close(g.released) }))
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

// gated is a loader that waits until the gate is opened, at the latest by the end of the test.
func gated(t *testing.T) (*gate, *dataline.Loader) {
	g := newGate(t)
	d := g.dataset(t)
	l := must[*dataline.Loader](t)(dataline.NewLoader(d, dataline.With{"num_workers": 1}))
	t.Cleanup(func() {
		select {
		case <-g.open:
		default:
			close(g.open)
		}
		check(t, l.Close())
		check(t, d.Close())
		<-g.released
	})
	<-g.entered
	return g, l
}

// leased is a loader of 8 samples in batches of 2, one of which is held: Next waits until it is released.
func leased(t *testing.T, workers int) (*dataline.Loader, *dataline.Batch) {
	t.Helper()
	l := loaderOf(t, numbers(t, 8),
		dataline.With{"batch_size": 2, "num_workers": workers, "max_leases": 1, "lease_overflow": "wait"})
	return l, must[*dataline.Batch](t)(l.Next(background))
}

// waiting starts a Next. Whether it waits already is not known: what ends waits has to hold at every moment.
func waiting(l *dataline.Loader, ctx context.Context) chan error {
	ended := make(chan error, 1)
	go func() {
		b, err := l.Next(ctx)
		if b != nil {
			b.Release()
		}
		ended <- err
	}()
	return ended
}

func TestAContextEndsAWaitInProgress(t *testing.T) {
	g, l := gated(t)
	ctx, cancel := context.WithCancel(background)
	ended := waiting(l, ctx)
	began := time.Now()
	cancel()
	wants(t, <-ended, context.Canceled)
	t.Log("after", time.Since(began))
	ctx, cancel = context.WithTimeout(background, time.Millisecond)
	defer cancel()
	_, err := l.Next(ctx)
	wants(t, err, context.DeadlineExceeded)
	_, err = l.Next(ctx) // done before it began
	wants(t, err, context.DeadlineExceeded)
	close(g.open)
	b := must[*dataline.Batch](t)(l.Next(background)) // nothing was lost
	defer b.Release()
	equal(t, must[[]int64](t)(dataline.View[int64](b, "x")), 7)
}

func TestAContextEndsALoop(t *testing.T) {
	_, l := gated(t)
	ctx, cancel := context.WithTimeout(background, time.Millisecond)
	defer cancel()
	var errors []error
	for _, err := range l.Epoch(ctx) {
		errors = append(errors, err)
	}
	if len(errors) != 1 {
		t.Fatal(errors)
	}
	wants(t, errors[0], context.DeadlineExceeded)
	for _, err := range l.Epoch(ctx) {
		wants(t, err, context.DeadlineExceeded)
	}
}

func TestATokenEndsOpeningAndWaitingForGood(t *testing.T) {
	token := must[*dataline.CancelToken](t)(dataline.NewCancelToken())
	l := loaderOf(t, numbers(t, 10), dataline.CancelWith(token))
	must[*dataline.Batch](t)(l.Next(background)).Release()
	token.Cancel()
	_, err := l.Next(background)
	wants(t, err, dataline.ErrCancelled)
	check(t, l.Seek(0, 0))
	_, err = l.Next(background)
	wants(t, err, dataline.ErrCancelled)
	uri := "raw:" + file(t, "a.raw", make([]byte, 16)) + "?dtype=u8&shape=4"
	_, err = dataline.Open(uri, dataline.CancelWith(token))
	wants(t, err, dataline.ErrCancelled)
	_, err = dataline.OpenContext(background, uri, dataline.CancelWith(token))
	wants(t, err, dataline.ErrInvalidArgument)
	check(t, token.Close())
	check(t, token.Close())
	token.Cancel() // nothing happens
	_, err = dataline.Open(uri, dataline.CancelWith(token))
	wants(t, err, dataline.ErrClosed)
}

func TestAContextThatIsDoneOpensNothing(t *testing.T) {
	uri := "raw:" + file(t, "a.raw", make([]byte, 16)) + "?dtype=u8&shape=4"
	check(t, must[*dataline.Dataset](t)(dataline.OpenContext(background, uri)).Close())
	ctx, cancel := context.WithCancel(background)
	cancel()
	_, err := dataline.OpenContext(ctx, uri)
	wants(t, err, context.Canceled)
}

// The only processor of Go runs the goroutine that opens the gate after Next has begun to wait.
func TestAWaitDoesNotHoldAProcessorOfGo(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g, l := gated(t)
	go close(g.open)
	must[*dataline.Batch](t)(l.Next(background)).Release()
}

func TestChildProgramsInheritNothing(t *testing.T) {
	l := loaderOf(t, numbers(t, 10), dataline.With{"num_workers": 1})
	must[uintptr](t)(l.WaitHandle())
	path := file(t, "inherited.raw", make([]byte, 16))
	d := must[*dataline.Dataset](t)(dataline.Open("raw:" + path + "?dtype=u8&shape=4"))
	defer d.Close()
	listed, err := exec.Command("ls", "-l", "/proc/self/fd").Output()
	if err != nil {
		t.Skip(err)
	}
	if text := string(listed); strings.Contains(text, "inherited.raw") || strings.Contains(text, "eventfd") {
		t.Error(text)
	}
	equal(t, joined(epoch(t, l)), count(10)...)
}

func TestTheWaitHandleIsADescriptor(t *testing.T) {
	l := loaderOf(t, numbers(t, 4), dataline.With{"num_workers": 0})
	if handle := must[uintptr](t)(l.WaitHandle()); handle == 0 || handle > 1<<20 {
		t.Error(handle)
	}
}
