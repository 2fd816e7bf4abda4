// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"runtime"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Writer writes rows as a set: a directory of shards and a manifest, which Open reads by the same FORMAT:PATH. Until Finish the
// set is PATH.partial, so that PATH is a whole set or is not there. After Close without Finish, or a crash, the finished shards
// stay in PATH.partial, and a writer of the same arguments goes on behind the last of them.
//
// Several goroutines may use it concurrently; an Append is one piece. It is part of what may still change in a minor release.
type Writer struct {
	handle   *handle
	position string
	cleanup  runtime.Cleanup
}

// WriterInfo is how far a Writer is.
type WriterInfo struct {
	Samples        int64 // appended, with those that were there when the writer was made
	ResumedSamples int64 // that were there when the writer was made
	Shards         int64 // finished
	Bytes          int64 // of the finished shards
}

// NewWriter begins a set, or goes on with one. The URI is "FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]"; WriterFormats are the
// formats. The fields are those of one sample, also of a dataset (Dataset.Fields). job says what the set is made of: a
// PATH.partial with finished shards of another job, other fields, another shard_bytes or codec is refused. Finish it, and Close it
// in any case.
//
// ErrBadURI (with Column), ErrUnsupported (a field that the format does not hold), ErrInvalidArgument, ErrWrongState (PATH
// exists, or another process writes it), ErrStateRefused, ErrCorrupt (the manifest), ErrNotFound (the directory around it),
// ErrPermission, ErrIO.
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

// Append appends the samples of all arrays, one array per field in their order, which are read during the call only.
// position is what the program needs to go on after these rows.
//
// ErrMismatch, ErrInvalidArgument, ErrOutOfRange, ErrTooLarge: none of the rows is written, and the writer stays usable.
// ErrWrongState after Finish. After a failure of the file system (ErrIO: a full disk) each call returns that error.
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

// Finish ends the last shard and gives the set its name; nothing can be appended afterwards. ErrEmpty: no row was appended.
func (w *Writer) Finish() error {
	return w.use(abi.WriterFinish)
}

// Info is how far it is.
func (w *Writer) Info() (WriterInfo, error) {
	raw := &abi.WriterInfo{StructSize: uint32(unsafe.Sizeof(abi.WriterInfo{}))}
	err := w.use(func(writer abi.Handle, e *abi.Error) int32 { return abi.WriterGetInfo(writer, raw, e) })
	if err != nil {
		return WriterInfo{}, err
	}
	return WriterInfo{raw.Samples, raw.ResumedSamples, raw.Shards, raw.Bytes}, nil
}

// Position is that of the last shard that was there when the writer was made; "" for none.
func (w *Writer) Position() string { return w.position }

// Close ends the writing, after the calls in progress. Without Finish the finished shards stay in PATH.partial, and rows of the
// open one are lost. Twice, or nil, is fine.
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
	Doc  string // what it holds
}

// WriterFormats is the library's table of formats that are written.
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
