// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Error is an error of the library. errors.Is matches its code (errors.Is(err, dataline.ErrCorrupt)) and the system's
// error (errors.Is(err, fs.ErrNotExist)); errors.As provides the details.
type Error struct {
	Code    Code
	Message string // one line with the file, offset, sample or option, the expected and the actual value
	// SampleIndex is the (first) sample concerned, or -1.
	SampleIndex int64
	// Column is the 1-based column in a URI or transform text, or 0.
	Column int
	// OSError is the system's error number, or 0.
	OSError syscall.Errno
}

func (e *Error) Error() string {
	return "dataline: " + e.Message
}

// Is matches the code of the error.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Unwrap returns the system's error, or nil.
func (e *Error) Unwrap() error {
	if e.OSError == 0 {
		return nil
	}
	return e.OSError
}

// Code is a status of the library. Its constants are themselves errors; compare with errors.Is. Results that are not
// errors of the data or the job are plain Code values, not wrapped.
type Code int32

// Error returns the code by name.
func (c Code) Error() string {
	return "dataline: " + c.String()
}

// String returns the library's name, "DL_ERR_CORRUPT", once the library is loaded.
func (c Code) String() string {
	if abi.Loaded() {
		return abi.Text(abi.StatusName(int32(c)))
	}
	return "status " + strconv.Itoa(int(c))
}

var (
	// ErrClosed is the error of a dataset, loader, writer or token after its Close.
	ErrClosed = errors.New("dataline: used after Close")
	// ErrReleased is the error of a batch after its Release; accessors without an error result panic with it.
	ErrReleased = errors.New("dataline: batch used after Release")
)

func localError(code Code, format string, values ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, values...), SampleIndex: -1}
}

// errNil is the error for a nil object. Often the caller did not check the error of the call that returns it.
func errNil(what string) error {
	return localError(ErrInvalidArgument, "%s is nil", what)
}

// frames are the output buffers of calls.
var frames = sync.Pool{New: func() any {
	return &abi.Frame{Error: abi.Error{StructSize: uint32(unsafe.Sizeof(abi.Error{}))}}
}}

// failure turns a status other than DL_OK into an error: negative ones with details, others as plain codes.
func failure(status int32, details *abi.Error) error {
	if status > 0 {
		return Code(status)
	}
	return &Error{
		Code:        Code(status),
		Message:     abi.TextOf(details.Message[:]),
		SampleIndex: details.SampleIndex,
		Column:      int(details.Column),
		OSError:     syscall.Errno(details.OsError),
	}
}

// call makes a call outside the hot path.
func call(function func(err *abi.Error) int32) error {
	f := frames.Get().(*abi.Frame)
	defer frames.Put(f)
	if status := function(&f.Error); status != 0 {
		return failure(status, &f.Error)
	}
	return nil
}
