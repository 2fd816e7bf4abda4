// What the generated calls by address need, and the calls of the hot path, which are made by hand.
//
// SPDX-License-Identifier: Apache-2.0

//go:build !(dataline_static && cgo)

package abi

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// pointer is a pointer into the library's memory that came out of a call as a number.
func pointer(result uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&result))
}

// releaseFor is the callback that ends a loan; none for arrays that are copied.
func releaseFor(loan uintptr) uintptr {
	if loan == 0 {
		return 0
	}
	return callbacks.release
}

// Bind fills in what the library calls.
func (l *Log) Bind() {
	l.Write, l.Destroy = callbacks.write, callbacks.release
}

// Bind fills in what the library calls.
func (s *TraceSink) Bind() {
	s.Write = callbacks.writeTrace
}

// Bind fills in what the library calls.
func (r *Reader) Bind() {
	r.Read, r.Destroy = callbacks.read, callbacks.release
}

// Next is dl_loader_next, then dl_batch_views if it returned a batch. The argument lists are in the frame, because others
// are allocated by each call. Their targets are in the frame too, so they stay alive at the same address.
func (f *Frame) Next(loader Handle, timeoutNs int64) int32 {
	f.arguments = [5]uintptr{uintptr(loader), uintptr(timeoutNs), uintptr(unsafe.Pointer(&f.Batch)),
		uintptr(unsafe.Pointer(&f.Error))}
	return f.take(symbols[atLoaderNext], 4)
}

// NextOf is Next for one epoch: dl_epoch_next.
func (f *Frame) NextOf(epoch Handle, timeoutNs int64) int32 {
	f.arguments = [5]uintptr{uintptr(epoch), uintptr(timeoutNs), uintptr(unsafe.Pointer(&f.Batch)),
		uintptr(unsafe.Pointer(&f.Error))}
	return f.take(symbols[atEpochNext], 4)
}

// Read reads one sample: its lease is in the frame when the status is 0.
func (f *Frame) Read(dataset Handle, index int64, options Handle) int32 {
	f.arguments = [5]uintptr{uintptr(dataset), uintptr(index), uintptr(options), uintptr(unsafe.Pointer(&f.Batch)),
		uintptr(unsafe.Pointer(&f.Error))}
	return f.take(symbols[atDatasetRead], 5)
}

// take makes a call with the first arguments of the frame, which returns a batch, and reads its views.
func (f *Frame) take(symbol uintptr, count int) int32 {
	status, _, _ := purego.SyscallN(symbol, f.arguments[:count]...)
	if int32(status) == DL_OK {
		f.arguments[0], f.arguments[1] = uintptr(f.Batch), uintptr(unsafe.Pointer(&f.Count))
		views, _, _ := purego.SyscallN(symbols[atBatchViews], f.arguments[:2]...)
		f.Views = (*View)(pointer(views))
	}
	runtime.KeepAlive(f)
	return int32(status)
}
