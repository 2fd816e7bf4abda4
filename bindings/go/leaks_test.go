// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

type usage struct {
	residentKiB, threads, files, goroutines int
}

func usageNow(t *testing.T) (now usage) {
	runtime.GC()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &now.residentKiB)
		_, _ = fmt.Sscanf(line, "Threads: %d", &now.threads)
	}
	files, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	now.files = len(files)
	now.goroutines = runtime.NumGoroutine()
	return now
}

// kilobytes is 64 records of a KiB, some of them bad.
type kilobytes struct{}

func (kilobytes) Fields() []dataline.Field {
	return []dataline.Field{{Name: "x", DType: dataline.U8, Shape: []int{1024}}}
}

func (kilobytes) Len() int { return 64 }

func (kilobytes) Read(index int, record *dataline.Record) error {
	if index%16 == 3 {
		return errors.New("bad on purpose")
	}
	return dataline.Put(record, "x", make([]byte, 1024)...)
}

// extended takes a batch through a format, an operator and a storage of the test's.
func extended(t *testing.T) {
	extensions := samples(t)
	defer extensions.Close()
	files := must[string](t)(filepath.Abs(filepath.Join(extensionsFolder, "files")))
	if _, err := os.Stat(files); err != nil {
		return // not in a checkout
	}
	_, err := dataline.Open("dlrec:xor://"+files+"/x.gone", extensions)
	wants(t, err, dataline.ErrNotFound)
	d := must[*dataline.Dataset](t)(dataline.Open("xor://"+files+"/x.dlrec", extensions))
	l := must[*dataline.Loader](t)(dataline.NewLoader(d, extensions, dataline.With{
		"transform": "offset(1,noise=2)", "num_workers": 1}))
	must[*dataline.Batch](t)(l.Next(background)).Release()
	check(t, l.Close())
	check(t, d.Close())
}

// life makes four loaders, on a file, on lent arrays, on a part of them and on a source; each is taken a little way,
// left in the middle, and closed while a batch is held.
func life(t *testing.T, uri string, pixels []byte) {
	extended(t)
	lent := must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{dataline.NewArray("x", pixels, 1000, 784)}, nil))
	datasets := []*dataline.Dataset{
		must[*dataline.Dataset](t)(dataline.Open(uri)),
		lent,
		must[*dataline.Dataset](t)(lent.Subset([]int64{1, 2, 3})),
		must[*dataline.Dataset](t)(dataline.FromSource(kilobytes{}, nil)),
	}
	for _, d := range datasets {
		l := must[*dataline.Loader](t)(dataline.NewLoader(d, dataline.With{
			"batch_size": 1, "num_workers": 1, "shuffle": "full", "on_error": "replace"}))
		for range l.Epoch(background) {
			break
		}
		b := must[*dataline.Batch](t)(l.Next(background))
		must[uintptr](t)(l.WaitHandle())
		must[string](t)(l.SaveState())
		if l.LoadState("nonsense") == nil {
			t.Error("nonsense is no state")
		}
		if _, err := dataline.NewLoader(d, dataline.With{"transform": "nonsense"}); err == nil {
			t.Error("nonsense is no transform")
		}
		check(t, l.Close())
		b.Release()
	}
	for _, d := range datasets {
		check(t, d.Close())
	}
}

func TestNothingGrows(t *testing.T) {
	pixels := make([]byte, 784_000)
	uri := "raw:" + file(t, "a.raw", pixels) + "?dtype=u8&shape=784"
	d := must[*dataline.Dataset](t)(dataline.Open(uri))
	defer d.Close()
	l := loaderOf(t, d, dataline.With{"batch_size": 10, "shuffle": "full", "num_workers": 1})
	epochs := func(n int) (batches int) {
		for range n {
			for _, err := range l.Epoch(background) {
				check(t, err)
				batches++
			}
		}
		return batches
	}
	epochs(10)
	for range 20 {
		life(t, uri, pixels)
	}
	before := usageNow(t)
	if batches := epochs(100); batches != 10_000 {
		t.Fatal(batches)
	}
	for range 50 { // 200 loaders
		life(t, uri, pixels)
	}
	after := usageNow(t)
	t.Logf("before %+v, after %+v", before, after)
	// The Go runtime may start a thread or two of its own at any time.
	if after.files != before.files || after.goroutines > before.goroutines || after.threads > before.threads+3 ||
		after.residentKiB > before.residentKiB+4096 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}
