// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"sync/atomic"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// handle owns an object of the library that may be closed while other goroutines use it. It is destroyed after close,
// when the last call on it has returned.
//
// state = calls in progress (including a running close), plus closedBit after close. No call enters after that. So
// state equals closedBit exactly once, and the call that leaves last destroys the object.
type handle struct {
	pointer abi.Handle
	destroy func(abi.Handle)
	// wake ends waiting calls on close; may be nil.
	wake  func(abi.Handle)
	state atomic.Int64
	gone  chan struct{}
}

const closedBit = 1 << 62

func newHandle(pointer abi.Handle, destroy, wake func(abi.Handle)) *handle {
	return &handle{pointer: pointer, destroy: destroy, wake: wake, gone: make(chan struct{})}
}

// enter starts a call; false if closed, or for nil, the zero value of an owner.
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

// do makes a call, unless h is closed.
func (h *handle) do(function func(abi.Handle)) {
	if h.enter() {
		defer h.leave()
		function(h.pointer)
	}
}

func (h *handle) closed() bool {
	return h.state.Load()&closedBit != 0
}

// close returns when the object is destroyed, even if another goroutine closed it.
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
