// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"syscall"
	"unsafe"
)

// terminalColumns is the width of the terminal that standard error is; 80 if that has none, 0 if it is no terminal.
func terminalColumns() int {
	var size struct{ rows, columns, x, y uint16 }
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, os.Stderr.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	if failed != 0 {
		return 0
	}
	if size.columns <= 1 {
		return 80
	}
	return int(size.columns)
}
