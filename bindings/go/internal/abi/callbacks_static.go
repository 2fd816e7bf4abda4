// SPDX-License-Identifier: Apache-2.0

//go:build dataline_static && cgo

package abi

/*
#include <stddef.h>
#include <stdint.h>
*/
import "C"

import "unsafe"

//export dataline_go_release
func dataline_go_release(context unsafe.Pointer) {
	Release(uintptr(context))
}

//export dataline_go_read
func dataline_go_read(context, request unsafe.Pointer) C.int32_t {
	return C.int32_t(Read(uintptr(context), (*ReaderRequest)(request)))
}

//export dataline_go_log
func dataline_go_log(context unsafe.Pointer, level C.int32_t, message *C.char, length C.size_t) {
	Write(uintptr(context), int32(level), (*byte)(unsafe.Pointer(message)), uintptr(length))
}

//export dataline_go_trace
func dataline_go_trace(context unsafe.Pointer, text *C.char, length C.size_t) C.int32_t {
	return C.int32_t(WriteTrace(uintptr(context), (*byte)(unsafe.Pointer(text)), uintptr(length)))
}

//export dataline_go_sniff
func dataline_go_sniff(context, path, bytes unsafe.Pointer, count, fileBytes C.int64_t) C.int32_t {
	return C.int32_t(Sniff(uintptr(context), (*byte)(path), (*byte)(bytes), int64(count), int64(fileBytes)))
}

//export dataline_go_open_format
func dataline_go_open_format(context, request, out, err unsafe.Pointer) C.int32_t {
	return C.int32_t(OpenFormat(uintptr(context), (*FormatRequest)(request), (*Handle)(out), (*Error)(err)))
}

//export dataline_go_prepare
func dataline_go_prepare(context, use, err unsafe.Pointer) C.int32_t {
	return C.int32_t(Prepare(uintptr(context), (*OperatorUse)(use), (*Error)(err)))
}

//export dataline_go_apply
func dataline_go_apply(_, row, err unsafe.Pointer) C.int32_t {
	return C.int32_t(Apply((*OperatorRow)(row), (*Error)(err)))
}

//export dataline_go_forget
func dataline_go_forget(_, state unsafe.Pointer) {
	Forget(uintptr(state))
}

//export dataline_go_open_object
func dataline_go_open_object(context, object, err unsafe.Pointer) C.int32_t {
	return C.int32_t(OpenObject(uintptr(context), (*StorageObject)(object), (*Error)(err)))
}

//export dataline_go_read_object
func dataline_go_read_object(_, request, err unsafe.Pointer) C.int32_t {
	return C.int32_t(ReadObject((*StorageRead)(request), (*Error)(err)))
}

//export dataline_go_close_object
func dataline_go_close_object(_, object unsafe.Pointer) {
	CloseObject(uintptr(object))
}
