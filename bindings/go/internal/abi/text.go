// SPDX-License-Identifier: Apache-2.0

package abi

import "unsafe"

// Text copies a NUL-terminated text of the library; nil is "".
func Text(text *byte) string {
	if text == nil {
		return ""
	}
	length := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), length)) != 0 {
		length++
	}
	return string(unsafe.Slice(text, length))
}

// TextOf is the text in a struct's own room, up to its NUL.
func TextOf(room []byte) string {
	for at, letter := range room {
		if letter == 0 {
			return string(room[:at])
		}
	}
	return string(room)
}

// Equal compares a NUL-terminated text of the library with one of Go, without a copy.
func Equal(text *byte, with string) bool {
	at := unsafe.Pointer(text)
	for i := 0; i < len(with); i++ {
		letter := *(*byte)(unsafe.Add(at, i))
		if letter == 0 || letter != with[i] {
			return false
		}
	}
	return *(*byte)(unsafe.Add(at, len(with))) == 0
}
