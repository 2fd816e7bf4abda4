// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"syscall"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// answer runs a callback of the library. It returns the status of its error and describes the error in `to`.
// `otherwise` is the code of errors that have none.
func answer(to *abi.Error, otherwise Code, run func() error) int32 {
	err := guarded(run)
	if err == nil {
		return 0
	}
	code, text, number := told(err, otherwise)
	message, refused := cText("error", text)
	if refused != nil { // a NUL byte
		message, _ = cText("error", fmt.Sprintf("%q", text))
	}
	status := abi.ErrorSet(to, int32(code), message)
	if to != nil {
		to.OsError = int32(number)
	}
	return status
}

// guarded turns a panic into an error.
func guarded(run func() error) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("panicked: %v", thrown)
		}
	}()
	return run()
}

// The error in the form that the library receives.
func told(err error, otherwise Code) (code Code, text string, number syscall.Errno) {
	text = err.Error()
	errors.As(err, &number)
	var known *Error
	switch {
	case errors.As(err, &known):
		if err == error(known) {
			text = known.Message // without the name of this package, which the whole error has
		}
		return known.Code, text, known.OSError
	case errors.As(err, &code):
		return code, text, number
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound, text, number
	case errors.Is(err, fs.ErrPermission):
		return ErrPermission, text, number
	case number != 0:
		return ErrIO, text, number
	}
	return otherwise, text, 0
}

func closeQuietly(what any) {
	if closer, ok := what.(io.Closer); ok {
		_ = guarded(closer.Close)
	}
}

// callerOptions are options of the library, lent for a call.
type callerOptions struct {
	handle abi.Handle
	over   atomic.Bool
}

// apply rejects a mixture with other options: alone they are used directly, by newOptionSet.
func (o *callerOptions) apply(*optionSet) error {
	return localError(ErrInvalidArgument, "the options of a request cannot be combined with others")
}

func (o *callerOptions) set() (*optionSet, error) {
	if o.over.Load() {
		return nil, localError(ErrWrongState, "the options of a request were used after its call")
	}
	return &optionSet{handle: o.handle, borrowed: true}, nil
}
