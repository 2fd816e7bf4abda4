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
func dataline_go_read(context unsafe.Pointer, indices *C.int64_t, count C.int64_t, cells unsafe.Pointer, message *C.char,
	messageBytes C.size_t) C.int32_t {
	return C.int32_t(Read(uintptr(context), (*int64)(unsafe.Pointer(indices)), int64(count), (*ReaderCell)(cells),
		(*byte)(unsafe.Pointer(message)), uintptr(messageBytes)))
}

//export dataline_go_log
func dataline_go_log(context unsafe.Pointer, level C.int32_t, message *C.char, length C.size_t) {
	Write(uintptr(context), int32(level), (*byte)(unsafe.Pointer(message)), uintptr(length))
}
