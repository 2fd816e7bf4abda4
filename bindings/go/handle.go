// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"sync/atomic"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// handle owns an object of the library that may be closed while other goroutines use it: it is destroyed when it was
// closed and the last call on it came back.
//
// state = calls in progress (close itself is one while it runs), plus closedBit once it was closed; nobody enters after
// that, so closedBit alone is reached once, by the last who leaves: that one destroys.
type handle struct {
	pointer abi.Handle
	destroy func(abi.Handle)
	// wake ends the calls that wait, when it is closed; may be nil.
	wake  func(abi.Handle)
	state atomic.Int64
	gone  chan struct{}
}

const closedBit = 1 << 62

func newHandle(pointer abi.Handle, destroy, wake func(abi.Handle)) *handle {
	return &handle{pointer: pointer, destroy: destroy, wake: wake, gone: make(chan struct{})}
}

// enter begins a call; false when it is closed. None at all is as closed: the zero value of what has handles.
func (h *handle) enter() bool {
	for h != nil {
		state := h.state.Load()
		if state&closedBit != 0 {
			return false
		}
		if h.state.CompareAndSwap(state, state+1) {
			return true
		}
	}
	return false
}

func (h *handle) leave() {
	if h.state.Add(-1) == closedBit {
		h.destroy(h.pointer)
		close(h.gone)
	}
}

func (h *handle) closed() bool {
	return h.state.Load()&closedBit != 0
}

// close returns when the object is destroyed, also when another goroutine closed it.
func (h *handle) close() {
	if h == nil {
		return
	}
	if h.enter() {
		if h.state.Or(closedBit)&closedBit == 0 && h.wake != nil {
			h.wake(h.pointer)
		}
		h.leave()
	}
	<-h.gone
}
