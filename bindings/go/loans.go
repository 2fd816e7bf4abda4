// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// loan is Go memory or code that the library uses until it calls abi.Release with the loan's number. The library
// never holds a Go pointer that is not pinned here.
type loan struct {
	id       uintptr
	pinner   runtime.Pinner
	released func()
	reader   *reader      // for a Source
	logger   *slog.Logger // for LogTo
	// an extension, the result of Prepare, or an object of a storage
	extension any
}

// Ids start here: smaller numbers in a void* would look like invalid pointers to the Go runtime.
const firstNumber = 1 << 20

var (
	loans    sync.Map // of *loan by id
	lastLoan atomic.Uintptr
)

func init() {
	lastLoan.Store(firstNumber)
	abi.Release = func(id uintptr) {
		if l := endLoan(id); l != nil && l.released != nil {
			go l.released() // not in a thread of the library: calls from there are not allowed
		}
	}
}

// lend makes a call that borrows. If it fails, nothing is borrowed: the loan ends and released is not called.
func lend(released func(), take func(l *loan) error) error {
	l := &loan{id: lastLoan.Add(1), released: released}
	loans.Store(l.id, l)
	err := take(l)
	if err != nil {
		endLoan(l.id)
	}
	return err
}

// newLoan starts a loan without a call: memory that a record lends.
func newLoan() *loan {
	l := &loan{id: lastLoan.Add(1)}
	loans.Store(l.id, l)
	return l
}

// extensionOf returns the extension for a number that the library received.
func extensionOf[T any](id uintptr) T {
	found, _ := loans.Load(id)
	return found.(*loan).extension.(T)
}

func endLoan(id uintptr) *loan {
	found, ok := loans.LoadAndDelete(id)
	if !ok {
		return nil
	}
	l := found.(*loan)
	l.pinner.Unpin()
	return l
}

// pin keeps a slice at its address until the loan ends.
func pin[T any](l *loan, items []T) *T {
	data := unsafe.SliceData(items)
	if data != nil {
		l.pinner.Pin(data)
	}
	return data
}
