// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"runtime"
	"sync"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Extensions are formats, operators and storages of your own, and plug-ins. Extensions are an Option: datasets opened
// with it support the formats and storages that it contains at that time, and loaders use the operators. Nothing is
// global: other calls are not affected. Several goroutines may use it.
//
// The library calls extensions from several of its threads concurrently. An error that is or wraps an *Error or a
// Code keeps its code, and a system error keeps its number. Other errors become ErrBadTransform in Operator.Prepare
// and ErrReader elsewhere. A panic becomes an error. An extension that implements io.Closer is closed once, in its
// own goroutine, when no extensions, dataset or loader needs it. It is not closed if adding it fails.
type Extensions struct {
	handle  *handle
	adding  sync.RWMutex // the library's lists are not locked
	cleanup runtime.Cleanup
}

// NewExtensions returns an empty set of extensions.
func NewExtensions() (*Extensions, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	out := new(abi.Handle)
	if err := call(func(e *abi.Error) int32 { return abi.ExtensionsCreate(out, e) }); err != nil {
		return nil, err
	}
	e := &Extensions{handle: newHandle(*out, abi.ExtensionsDestroy, nil)}
	e.cleanup = runtime.AddCleanup(e, (*handle).close, e.handle)
	return e, nil
}

// Close releases the extensions; datasets and loaders keep what they need. Does nothing if called again, or on nil.
func (e *Extensions) Close() error {
	if e != nil && e.handle != nil {
		e.cleanup.Stop()
		e.handle.close()
	}
	return nil
}

// change calls a function that adds an extension.
func (e *Extensions) change(function func(handle abi.Handle, err *abi.Error) int32) error {
	if e == nil {
		return errNil("extensions")
	}
	e.adding.Lock()
	defer e.adding.Unlock()
	if !e.handle.enter() {
		return ErrClosed
	}
	defer e.handle.leave()
	return call(func(err *abi.Error) int32 { return function(e.handle.pointer, err) })
}

// look calls a function that adds nothing.
func (e *Extensions) look(function func(handle abi.Handle) error) error {
	if e == nil {
		return errNil("extensions")
	}
	e.adding.RLock()
	defer e.adding.RUnlock()
	if !e.handle.enter() {
		return ErrClosed
	}
	defer e.handle.leave()
	return function(e.handle.pointer)
}

func (e *Extensions) apply(set *optionSet) error {
	return e.look(func(handle abi.Handle) error {
		return call(func(err *abi.Error) int32 { return abi.OptionsSetExtensions(set.handle, handle, err) })
	})
}

// AddFormat adds a format. ErrInvalidArgument: its name is invalid or already in use.
func (e *Extensions) AddFormat(format Format) error {
	if format == nil {
		return errNil("format")
	}
	return e.lend(format, func(l *loan) error {
		table, err := formatTable(l, format)
		if err != nil {
			return err
		}
		table.Bind()
		return e.change(func(handle abi.Handle, err *abi.Error) int32 { return abi.ExtensionsAddFormat(handle, table, err) })
	})
}

// AddOperator adds an operator of transforms. Errors are those of AddFormat.
func (e *Extensions) AddOperator(operator Operator) error {
	if operator == nil {
		return errNil("operator")
	}
	return e.lend(operator, func(l *loan) error {
		table, err := operatorTable(l, operator)
		if err != nil {
			return err
		}
		table.Bind()
		return e.change(func(handle abi.Handle, err *abi.Error) int32 {
			return abi.ExtensionsAddOperator(handle, table, err)
		})
	})
}

// AddStorage adds a storage. Errors are those of AddFormat.
func (e *Extensions) AddStorage(storage Storage) error {
	if storage == nil {
		return errNil("storage")
	}
	return e.lend(storage, func(l *loan) error {
		table, err := storageTable(l, storage)
		if err != nil {
			return err
		}
		table.Bind()
		return e.change(func(handle abi.Handle, err *abi.Error) int32 { return abi.ExtensionsAddStorage(handle, table, err) })
	})
}

// lend lends an extension, which is closed when the loan ends.
func (e *Extensions) lend(added any, take func(l *loan) error) error {
	if e == nil {
		return errNil("extensions")
	}
	return lend(func() { closeQuietly(added) }, take)
}

// LoadPlugin loads a plug-in: a path, or a NAME without "/". For a NAME, the dynamic linker searches for
// libdataline-NAME.so. Its code runs in this process and stays loaded until the process ends. Either everything that
// it adds is added, or nothing.
//
// Errors: ErrNotFound (with the linker's message), ErrUnsupported (not a plug-in, or built for another ABI), and those
// that the plug-in returns.
func (e *Extensions) LoadPlugin(path string) error {
	text, err := cText("plug-in", path)
	if err != nil {
		return err
	}
	return e.change(func(handle abi.Handle, err *abi.Error) int32 { return abi.ExtensionsLoad(handle, text, err) })
}

// Transforms returns the library's table of operators, then those of the extensions.
func (e *Extensions) Transforms() (table []TransformInfo, err error) {
	err = e.look(func(handle abi.Handle) error {
		table, err = transformsOf(handle)
		return err
	})
	return table, err
}

// Formats returns the library's table of formats, then those of the extensions.
func (e *Extensions) Formats() (table []FormatInfo, err error) {
	err = e.look(func(handle abi.Handle) error {
		table, err = formatsOf(handle)
		return err
	})
	return table, err
}

// Storages returns the storages of the extensions.
func (e *Extensions) Storages() (table []StorageInfo, err error) {
	err = e.look(func(handle abi.Handle) error {
		table, err = storagesOf(handle)
		return err
	})
	return table, err
}
