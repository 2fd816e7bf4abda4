// Formats and storages in Go that fail, files, and who closes what.
//
// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// failing is a format and a storage that fail as the path says.
type failing struct {
	closed  chan struct{}
	objects atomic.Int32
	kept    dataline.Option
}

func (f *failing) Close() error {
	close(f.closed)
	return nil
}

func (f *failing) fail(path string) error {
	switch path[strings.LastIndexAny(path, "/:")+1:] {
	case "panic":
		panic("on purpose")
	case "text":
		return errors.New("said so")
	case "system":
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	case "code":
		return dataline.ErrCorrupt
	case "cancelled":
		return dataline.ErrCancelled
	}
	return nil
}

type failingFormat struct{ *failing }

func (failingFormat) About() dataline.FormatInfo { return dataline.FormatInfo{Name: "failing"} }

func (failingFormat) Sniff(file dataline.FirstBytes) dataline.Sniff {
	if strings.HasPrefix(string(file.Bytes), "sniff") {
		panic("sniffing broke")
	}
	return dataline.SniffNo
}

func (f failingFormat) Open(request *dataline.FormatRequest) (*dataline.Dataset, error) {
	if err := f.fail(request.Path); err != nil {
		return nil, err
	}
	f.kept = request.Options
	dataset, err := dataline.FromArrays([]dataline.Array{bytesTo(3)}, nil, request.Options)
	if request.Path == "closed" {
		_ = dataset.Close()
	}
	if request.Path == "none" {
		_ = dataset.Close()
		return nil, nil
	}
	return dataset, err
}

type failingStorage struct{ *failing }

func (failingStorage) About() dataline.StorageInfo { return dataline.StorageInfo{Scheme: "failing"} }

func (f failingStorage) Open(request *dataline.StorageRequest) (dataline.StoredObject, error) {
	if err := f.fail(request.Path); err != nil || request.Cancelled() {
		return nil, err
	}
	if request.Path == "failing://nil" {
		return nil, nil
	}
	f.objects.Add(1)
	return &halfDark{f.failing, atomic.Bool{}}, nil
}

// halfDark is an object of 64 bytes, of which half can be read.
type halfDark struct {
	from   *failing
	closed atomic.Bool
}

func (*halfDark) Size() int64 { return 64 }

func (*halfDark) ReadAt([]byte, int64) (int, error) { panic("ReadAtUnless is called instead") }

func (h *halfDark) ReadAtUnless(cancelled func() bool, to []byte, offset int64) (int, error) {
	switch {
	case h.closed.Load() || cancelled():
		return 0, errors.New("closed, or cancelled")
	case offset >= 48:
		return 0, io.EOF
	case offset >= 32:
		return 0, errors.New("the far end is dark")
	}
	clear(to)
	return len(to), nil
}

func (h *halfDark) Close() error {
	if !h.closed.Swap(true) {
		h.from.objects.Add(-1)
	}
	return nil
}

func failingBoth(t *testing.T) (format, storage *failing, extensions *dataline.Extensions) {
	t.Helper()
	format, storage = &failing{closed: make(chan struct{})}, &failing{closed: make(chan struct{})}
	extensions = noExtensions(t)
	check(t, extensions.AddFormat(failingFormat{format}))
	check(t, extensions.AddStorage(failingStorage{storage}))
	return format, storage, extensions
}

func TestErrorsOfFormatsAndStoragesKeepTheirCodeAndText(t *testing.T) {
	_, _, extensions := failingBoth(t)
	for _, uri := range []string{"failing:%s", "raw:failing://%s?dtype=u8&shape=4"} {
		opened := func(what string) error {
			dataset, err := dataline.Open(fmt.Sprintf(uri, what), extensions)
			if err == nil {
				t.Errorf("%s: %s was opened", uri, what)
				check(t, dataset.Close())
			}
			return err
		}
		if err := wants(t, opened("panic"), dataline.ErrReader); !strings.Contains(err.Message, "panicked: on purpose") {
			t.Error(err)
		}
		if err := wants(t, opened("text"), dataline.ErrReader); !strings.Contains(err.Message, "said so") {
			t.Error(err)
		}
		err := opened("system")
		if wants(t, err, dataline.ErrPermission); !errors.Is(err, syscall.EACCES) {
			t.Error(err)
		}
		wants(t, opened("code"), dataline.ErrCorrupt)
		if err := wants(t, opened("cancelled"), dataline.ErrReader); !strings.Contains(err.Message, "nothing was cancelled") {
			t.Error(err)
		}
	}
	for _, uri := range []string{"failing:none", "raw:failing://nil?dtype=u8&shape=4"} {
		_, err := dataline.Open(uri, extensions)
		wants(t, err, dataline.ErrInvalidArgument)
	}
	if _, err := dataline.Open("failing:closed", extensions); err == nil || !strings.Contains(err.Error(), "after Close") {
		t.Error(err)
	}
	_, err := dataline.Open(file(t, "sniffed.unknown", []byte("sniff me")), extensions)
	wants(t, err, dataline.ErrBadURI)
}

func TestTheOptionsOfARequestAreUsedAloneAndDuringItsCall(t *testing.T) {
	format, _, extensions := failingBoth(t)
	dataset := must[*dataline.Dataset](t)(dataline.Open("failing:good", extensions))
	defer dataset.Close()
	if dataset.Len() != 3 {
		t.Error(dataset.Len())
	}
	_, err := dataline.FromArrays([]dataline.Array{bytesTo(3)}, nil, format.kept)
	wants(t, err, dataline.ErrWrongState)
	_, err = dataline.FromArrays([]dataline.Array{bytesTo(3)}, nil, format.kept, dataline.With{})
	wants(t, err, dataline.ErrInvalidArgument)
}

func TestAnObjectIsClosedOnceWithItsDatasetAndAFailedReadIsABadSample(t *testing.T) {
	format, storage, extensions := failingBoth(t)
	dataset := must[*dataline.Dataset](t)(dataline.Open("raw:failing://good?dtype=u8&shape=4", extensions))
	check(t, extensions.Close())
	<-format.closed
	loader := must[*dataline.Loader](t)(dataline.NewLoader(dataset, dataline.With{"batch_size": 1}))
	dark, cut := 0, 0
	for _, err := range loader.Epoch(background) {
		switch {
		case err == nil:
		case strings.Contains(err.Error(), "the far end is dark"):
			dark++
		case strings.Contains(err.Error(), "expected 4 bytes, got 0"):
			cut++
		default:
			t.Error(err)
		}
	}
	if dark != 4 || cut != 4 || storage.objects.Load() != 1 {
		t.Error(dark, cut, storage.objects.Load())
	}
	check(t, loader.Close())
	check(t, dataset.Close())
	<-storage.closed
	if storage.objects.Load() != 0 {
		t.Error(storage.objects.Load(), "objects are open")
	}
}

func TestAFileIsReadWhereItIs(t *testing.T) {
	path := file(t, "ten", []byte("0123456789"))
	opened := must[*dataline.File](t)(dataline.OpenFile(path))
	read := func(offset int64, count int) (string, error) {
		to := make([]byte, count)
		got, err := opened.ReadAt(to, offset)
		return string(to[:got]), err
	}
	for _, one := range []struct {
		offset   int64
		count    int
		expected string
		err      error
	}{{3, 4, "3456", nil}, {8, 4, "89", io.EOF}, {10, 1, "", io.EOF}, {12, 1, "", io.EOF}, {6, 4, "6789", nil}, {0, 0, "", nil}} {
		if got, err := read(one.offset, one.count); got != one.expected || err != one.err {
			t.Errorf("%d %d: %q %v", one.offset, one.count, got, err)
		}
	}
	if _, err := read(-1, 1); err == nil {
		t.Error("there is nothing before a file")
	}
	if opened.Size() != 10 {
		t.Error(opened.Size())
	}
	check(t, opened.Close())
	check(t, opened.Close())
	check(t, (*dataline.File)(nil).Close())
	_, err := read(0, 1)
	wants(t, err, dataline.ErrClosed)
	_, err = dataline.OpenFile(path + ".gone")
	if wants(t, err, dataline.ErrNotFound); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
