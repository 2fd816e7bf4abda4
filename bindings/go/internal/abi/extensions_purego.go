// The callbacks of extensions, in the form without cgo.
//
// SPDX-License-Identifier: Apache-2.0

//go:build !(dataline_static && cgo)

package abi

import "github.com/ebitengine/purego"

func makeExtensionCallbacks() {
	callbacks.sniff = purego.NewCallback(func(context uintptr, path, bytes *byte, count, fileBytes int64) int32 {
		return Sniff(context, path, bytes, count, fileBytes)
	})
	callbacks.openFormat = purego.NewCallback(func(context uintptr, request *FormatRequest, out *Handle, err *Error) int32 {
		return OpenFormat(context, request, out, err)
	})
	callbacks.prepare = purego.NewCallback(func(context uintptr, use *OperatorUse, err *Error) int32 {
		return Prepare(context, use, err)
	})
	callbacks.apply = purego.NewCallback(func(_ uintptr, row *OperatorRow, err *Error) int32 {
		return Apply(row, err)
	})
	callbacks.forget = purego.NewCallback(func(_, state uintptr) { Forget(state) })
	callbacks.openObject = purego.NewCallback(func(context uintptr, object *StorageObject, err *Error) int32 {
		return OpenObject(context, object, err)
	})
	callbacks.readObject = purego.NewCallback(func(_ uintptr, request *StorageRead, err *Error) int32 {
		return ReadObject(request, err)
	})
	callbacks.closeObject = purego.NewCallback(func(_, object uintptr) { CloseObject(object) })
}

// Bind fills in what the library calls.
func (f *Format) Bind() {
	f.Sniff, f.Open, f.Destroy = callbacks.sniff, callbacks.openFormat, callbacks.release
}

// Bind fills in what the library calls.
func (o *Operator) Bind() {
	o.Prepare, o.Apply, o.Forget = callbacks.prepare, callbacks.apply, callbacks.forget
	o.Destroy = callbacks.release
}

// Bind fills in what the library calls.
func (s *Storage) Bind() {
	s.Open, s.Read, s.Close = callbacks.openObject, callbacks.readObject, callbacks.closeObject
	s.Destroy = callbacks.release
}
