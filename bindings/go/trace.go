// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"errors"
	"io"
	"sync"
	"syscall"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// tracing is the writer of a loader's last trace. It is dropped when another replaces it, or after the loader.
type tracing struct {
	lock   sync.Mutex
	writer *loan
}

// TraceStart starts a trace: it writes what each thread does, and the life of each batch. The text is JSON in
// Chrome's trace event format, which Perfetto and speedscope open. path is a new or empty file, or an older trace,
// which is overwritten. At 256 MiB, or when the disk is full, the trace ends and the job continues. ErrWrongState: a
// trace is being written, or the file holds other data; ErrNotFound, ErrPermission, ErrIO.
func (l *Loader) TraceStart(path string) error {
	text, err := cText("path", path)
	if err != nil {
		return err
	}
	return l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderTraceStart(raw, text, nil, e) })
}

// TraceTo is TraceStart with a writer. Threads of the library call it, one at a time; it must not call Dataline. Its
// errors end the trace, and TraceStop returns them as ErrIO.
func (l *Loader) TraceTo(writer io.Writer) error {
	if writer == nil {
		return errNil("writer")
	}
	made := newLoan()
	made.extension = writer
	sink := &abi.TraceSink{StructSize: uint32(unsafe.Sizeof(abi.TraceSink{})), Context: made.id}
	err := l.use(func(raw abi.Handle, e *abi.Error) int32 {
		sink.Bind()
		return abi.LoaderTraceStart(raw, nil, sink, e)
	})
	if err != nil {
		endLoan(made.id)
		return err
	}
	l.tracing.replace(made)
	return nil
}

// TraceStop ends the trace. Close does the same. Does nothing without a trace. ErrIO: the trace is incomplete.
func (l *Loader) TraceStop() error {
	return l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderTraceStop(raw, e) })
}

func (t *tracing) replace(with *loan) {
	t.lock.Lock()
	before := t.writer
	t.writer = with
	t.lock.Unlock()
	if before != nil {
		endLoan(before.id)
	}
}

func init() {
	abi.WriteTrace = func(id uintptr, text *byte, length uintptr) int32 {
		err := guarded(func() error {
			_, err := extensionOf[io.Writer](id).Write(unsafe.Slice(text, length))
			return err
		})
		var number syscall.Errno
		switch {
		case err == nil:
			return 0
		case errors.As(err, &number) && number != 0:
			return int32(number)
		}
		return int32(syscall.EIO)
	}
}
