// SPDX-License-Identifier: Apache-2.0

// Package abi is dataline.h in Go: the structs in their memory layout, the numbers, and a thin layer of calls. The layer
// has two forms with the same functions. One loads the shared library at run time and needs no C compiler. The other
// (build tag dataline_static, with cgo) is linked with the static library. Everything that follows from the header is
// generated (capi/api/update.sh); tests compare it with the header's description and with a C compiler.
package abi

import "unsafe"

// Handle is an object of the library: options, dataset, loader, batch, opening, token, extensions or file.
type Handle = unsafe.Pointer

// ViewAt is dl_view_at: the library's views may be longer than View.
func ViewAt(first *View, index int) *View {
	return (*View)(unsafe.Add(unsafe.Pointer(first), uintptr(index)*uintptr(first.StructSize)))
}

// Cell is field number `field` of record number `record`. Those of a later library may be longer than ReaderCell.
func (r *ReaderRequest) Cell(record, field int) *ReaderCell {
	return (*ReaderCell)(unsafe.Add(unsafe.Pointer(r.Cells), (record*int(r.FieldCount)+field)*int(r.CellBytes)))
}

// Message is the room for the reason why record number `record` is bad.
func (r *ReaderRequest) Message(record int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(r.Messages), record*int(r.MessageBytes))), r.MessageBytes)
}

// Argument is argument number `index`. Those of a later library may be longer than ArgumentValue.
func (u *OperatorUse) Argument(index int) *ArgumentValue {
	return (*ArgumentValue)(unsafe.Add(unsafe.Pointer(u.Arguments), index*int(u.Arguments.StructSize)))
}

// Frame is what the calls of the hot path write to: on the heap always, and used again.
type Frame struct {
	Batch Handle
	Views *View
	Error Error
	Count int32
	// Room for the layer without cgo.
	arguments [5]uintptr
}
