// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// waits are the calls of Next that wait in Go's poller: the library does not see them, so Interrupt ends them here.
type waits struct {
	lock sync.Mutex
	open map[*pollerWait]struct{}
}

// pollerWait is one wait for the loader's wait handle, by a descriptor of its own: each has its own deadline.
type pollerWait struct {
	file        *os.File
	interrupted bool // under waits.lock
}

func (w *pollerWait) end() { _ = w.file.SetReadDeadline(time.Unix(1, 0)) }

// wait waits for a batch in Go's poller; the result is Frame.Next's.
//
// The poller is edge-triggered. The library raises the handle anew after each change that leaves something for Next, so
// a call that finds nothing hears of the next change.
func (l *Loader) wait(ctx context.Context, f *abi.Frame) (status int32, err error) {
	var event uintptr
	if status := abi.LoaderWaitHandle(l.handle.pointer, &event, &f.Error); status != statusOK {
		return status, nil
	}
	own, _, number := syscall.Syscall(syscall.SYS_FCNTL, event, syscall.F_DUPFD_CLOEXEC, 0)
	if number != 0 {
		return 0, &Error{Code: ErrTooManyFiles, Message: "the wait handle cannot be duplicated", SampleIndex: -1, OSError: number}
	}
	w := &pollerWait{file: os.NewFile(own, "dataline wait handle")}
	defer w.file.Close()
	conn, err := w.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	l.waits.begin(w)
	defer l.waits.remove(w)
	defer context.AfterFunc(ctx, w.end)()
	ready := func(uintptr) bool {
		status = f.Next(l.handle.pointer, 0)
		return status != statusTimeout
	}
	if conn.Read(ready) == nil {
		return status, nil
	}
	// The deadline has passed: the context is done, or Interrupt was called. Another call may have seen the interrupt already.
	if l.waits.interrupted(w) {
		if !ready(own) {
			status = statusInterrupted
		}
		return status, nil
	}
	return 0, ctx.Err()
}

func (s *waits) begin(w *pollerWait) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.open == nil {
		s.open = make(map[*pollerWait]struct{})
	}
	s.open[w] = struct{}{}
}

func (s *waits) remove(w *pollerWait) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.open, w)
}

func (s *waits) interrupted(w *pollerWait) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return w.interrupted
}

// interrupt ends all waits in the poller, after an interrupt of the library: the first call that sees it is one of them.
func (s *waits) interrupt() {
	s.lock.Lock()
	defer s.lock.Unlock()
	for w := range s.open {
		w.interrupted = true
		w.end()
	}
}
