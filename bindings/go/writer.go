// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"runtime"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Writer writes rows as a set: a directory of shards and a manifest. Open opens it as FORMAT:PATH. The set is
// PATH.partial until Finish, so PATH is always a complete set. After Close without Finish, or a crash, the finished
// shards stay in PATH.partial. A new writer with the same arguments resumes after the last finished shard.
//
// Several goroutines may use it concurrently; samples of one Append stay together. It may still change in a minor
// release.
type Writer struct {
	handle   *handle
	position string
	cleanup  runtime.Cleanup
}

// NewWriter starts a set, or resumes an unfinished one. The URI is "FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]";
// WriterFormats lists the formats. The fields are the fields of one sample, for example Dataset.Fields. job
// identifies the input of the set. A PATH.partial with finished shards of another job, other fields, another
// shard_bytes or codec is rejected. Call Finish at the end, and Close in any case.
//
// ErrBadURI (with Column), ErrUnsupported (a field that the format cannot store), ErrInvalidArgument, ErrWrongState
// (PATH exists, or another process writes it), ErrStateRefused. ErrCorrupt (the manifest), ErrNotFound (the parent
// directory), ErrPermission, ErrIO.
func NewWriter(uri string, fields []Field, job string) (*Writer, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	target, err := cText("URI", uri)
	if err != nil {
		return nil, err
	}
	work, err := cText("job", job)
	if err != nil {
		return nil, err
	}
	l := new(loan) // during this call
	defer l.pinner.Unpin()
	views, err := viewsOf(l, fields)
	if err != nil {
		return nil, err
	}
	out := new(abi.Handle)
	err = call(func(e *abi.Error) int32 {
		return abi.WriterCreate(target, unsafe.SliceData(views), int32(len(views)), work, out, e)
	})
	if err != nil {
		return nil, err
	}
	w := &Writer{handle: newHandle(*out, abi.WriterDestroy, nil), position: abi.Text(abi.WriterPosition(*out))}
	w.cleanup = runtime.AddCleanup(w, (*handle).close, w.handle)
	return w, nil
}

// Append appends the samples of all arrays, one array per field in field order. The arrays are read during the call
// only. position is what the program needs to resume after these rows.
//
// ErrMismatch, ErrInvalidArgument, ErrOutOfRange, ErrTooLarge: no row is written, and the writer stays usable.
// ErrWrongState after Finish. After a file-system error (ErrIO: a full disk) every call returns that error.
func (w *Writer) Append(arrays []Array, position string) error {
	text, err := cText("position", position)
	if err != nil {
		return err
	}
	l := new(loan) // during this call
	defer l.pinner.Unpin()
	raw, err := rawArrays(l, arrays)
	if err != nil {
		return err
	}
	return w.use(func(writer abi.Handle, e *abi.Error) int32 {
		return abi.WriterAppend(writer, unsafe.SliceData(raw), int32(len(raw)), text, e)
	})
}

// Position returns the position of the last shard that existed when the writer was created; "": none.
func (w *Writer) Position() string { return w.position }

// Close ends the writing, after the calls in progress. Without Finish, the finished shards stay in PATH.partial, and
// rows of the open shard are lost. Does nothing if called again, or on nil.
func (w *Writer) Close() error {
	if w != nil && w.handle != nil {
		w.cleanup.Stop()
		w.handle.close()
		runtime.KeepAlive(w)
	}
	return nil
}

// use makes a call on the writer.
func (w *Writer) use(function func(writer abi.Handle, e *abi.Error) int32) error {
	if w == nil {
		return errNil("writer")
	}
	if !w.handle.enter() {
		return ErrClosed
	}
	defer runtime.KeepAlive(w)
	defer w.handle.leave()
	return call(func(e *abi.Error) int32 { return function(w.handle.pointer, e) })
}

// WriterFormatInfo is a format that a Writer writes.
type WriterFormatInfo struct {
	Name string // the scheme of its URIs
	Doc  string // what it stores
}

// WriterFormats returns the library's table of formats that can be written.
func WriterFormats() ([]WriterFormatInfo, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	table := make([]WriterFormatInfo, abi.WriterFormatCount())
	for at := range table {
		table[at] = WriterFormatInfo{abi.Text(abi.WriterFormatName(int32(at))), abi.Text(abi.WriterFormatDoc(int32(at)))}
	}
	return table, nil
}
