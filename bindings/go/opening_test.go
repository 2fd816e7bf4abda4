// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/dataline/dataline/bindings/go"
)

// logGate is a log whose first line holds the library's thread until it is opened.
type logGate struct {
	slog.Handler
	held, open chan struct{}
	once       sync.Once
}

func (g *logGate) Enabled(context.Context, slog.Level) bool { return true }

func (g *logGate) Handle(context.Context, slog.Record) error {
	g.once.Do(func() { close(g.held) })
	<-g.open
	return nil
}

const shardFiles = 300 // the log gets a line after 256

// heldOpening stands still in the middle until letGo is called.
func heldOpening(t *testing.T) (o *dataline.Opening, letGo func()) {
	t.Helper()
	folder := t.TempDir()
	for at := range shardFiles {
		check(t, os.WriteFile(filepath.Join(folder, strconv.Itoa(at)+".bin"), []byte("xyz"), 0o600))
	}
	uri := "raw:" + folder + "?dtype=u8&shape=1"
	g := &logGate{Handler: slog.DiscardHandler, held: make(chan struct{}), open: make(chan struct{})}
	o = must[*dataline.Opening](t)(dataline.OpenAsync(uri, dataline.LogTo(slog.New(g))))
	<-g.held
	letGo = sync.OnceFunc(func() { close(g.open) })
	t.Cleanup(func() {
		letGo()
		check(t, o.Close())
	})
	return o, letGo
}

func TestAnOpeningTellsHowFarItIsAndHandsTheDatasetOut(t *testing.T) {
	o, letGo := heldOpening(t)
	half := must[dataline.OpenProgress](t)(o.Progress())
	if half.Done || half.Files >= shardFiles || half.TotalFiles != shardFiles {
		t.Errorf("%+v", half)
	}
	ctx, stop := context.WithCancel(background)
	stop()
	_, err := o.Wait(ctx)
	wants(t, err, context.Canceled)
	letGo()
	d := must[*dataline.Dataset](t)(o.Wait(background))
	if d.Len() != 3*shardFiles || d != must[*dataline.Dataset](t)(o.Wait(ctx)) {
		t.Error(d.Len(), "samples, or another dataset")
	}
	whole := must[dataline.OpenProgress](t)(o.Progress())
	if !whole.Done || whole.Files != shardFiles {
		t.Errorf("%+v", whole)
	}
	<-o.Done()
	check(t, o.Close())
	if first(t, d).Len() == 0 {
		t.Error("the dataset needs the opening")
	}
	check(t, d.Close())
	_, err = o.Progress()
	wants(t, err, dataline.ErrClosed)
}

func TestAnOpeningThatIsCancelledOrClosedEnds(t *testing.T) {
	o, letGo := heldOpening(t)
	o.Cancel()
	letGo()
	_, err := o.Wait(background)
	wants(t, err, dataline.ErrCancelled)

	o, letGo = heldOpening(t)
	closed := make(chan error)
	go func() { closed <- o.Close() }()
	letGo()
	check(t, <-closed)
	check(t, o.Close())
}

func TestWhatIsWrongIsAnErrorOfTheWait(t *testing.T) {
	o := must[*dataline.Opening](t)(dataline.OpenAsync("npy:/nowhere/a.npy"))
	_, err := o.Wait(background)
	wants(t, err, dataline.ErrNotFound)
	check(t, o.Close())
	_, err = dataline.OpenAsync("npy:a\x00b")
	wants(t, err, dataline.ErrInvalidArgument)
}

func TestASampleIsReadThroughTheTransforms(t *testing.T) {
	d := numbers(t, 10)
	b := must[*dataline.Batch](t)(d.Read(7, dataline.With{"transform": "x: cast(f32)"}))
	defer b.Release()
	equal(t, must[[]float32](t)(dataline.View[float32](b, "x")), 7)
	equal(t, b.SampleIndices(), 7)
	_, err := d.Read(10)
	wants(t, err, dataline.ErrOutOfRange)
}

func TestWorkLoadsABatchInPieces(t *testing.T) {
	l := loaderOf(t, numbers(t, 3000), dataline.With{"batch_size": 1000, "num_workers": 0})
	pieces := 0
	for due := false; !due; pieces++ {
		due = must[bool](t)(l.Work(time.Nanosecond))
	}
	if pieces < 2 {
		t.Error("one piece held the batch")
	}
	b := must[*dataline.Batch](t)(l.Poll())
	defer b.Release()
	equal(t, must[[]int64](t)(dataline.View[int64](b, "x")), count(1000)...)
	l.Cancel()
	_, err := l.Work(time.Second)
	wants(t, err, dataline.ErrCancelled)
}
