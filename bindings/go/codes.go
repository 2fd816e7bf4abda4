// Code generated from capi/api.json by capi/api/generate.py; DO NOT EDIT.
//
// The codes of the library: results that are not errors, and errors.
//
// SPDX-License-Identifier: Apache-2.0

package dataline

import "github.com/dataline/dataline/bindings/go/internal/abi"

// Results that are not errors of the data or the job.
const (
	// EndOfEpoch: once at the end of each epoch, including the last.
	EndOfEpoch Code = abi.DL_END_OF_EPOCH
	// End: on every call after the last of epochs epochs.
	End Code = abi.DL_END
	// ErrTimeout: nothing is lost: a later call returns the batch.
	ErrTimeout Code = abi.DL_TIMEOUT
	// ErrCancelled: the loader was cancelled, until a seek or load; or its token, permanently.
	ErrCancelled Code = abi.DL_CANCELLED
	// ErrInterrupted: an interrupt of the loader or its loop ended this call.
	ErrInterrupted Code = abi.DL_INTERRUPTED
)

// Errors of the call.
const (
	// ErrInvalidArgument: an invalid value; in C also NULL or a wrong struct_size.
	ErrInvalidArgument Code = abi.DL_ERR_INVALID_ARGUMENT
	// ErrUnknownOption: no such option; the message names the most similar key.
	ErrUnknownOption Code = abi.DL_ERR_UNKNOWN_OPTION
	// ErrBadOption: wrong type, out of range, or conflicting options.
	ErrBadOption Code = abi.DL_ERR_BAD_OPTION
	// ErrBadURI: syntax error, unknown scheme or unknown key; see Error.Column.
	ErrBadURI Code = abi.DL_ERR_BAD_URI
	// ErrBadTransform: syntax error, or does not fit the fields; see Error.Column.
	ErrBadTransform Code = abi.DL_ERR_BAD_TRANSFORM
	// ErrNoSuchField: the message names the fields that exist.
	ErrNoSuchField Code = abi.DL_ERR_NO_SUCH_FIELD
	// ErrUnsupported: known, but not supported by this build, release or kind of dataset.
	ErrUnsupported Code = abi.DL_ERR_UNSUPPORTED
	// ErrWrongState: not possible now; the message states why.
	ErrWrongState Code = abi.DL_ERR_WRONG_STATE
	// ErrForked: the object belongs to the parent process.
	ErrForked Code = abi.DL_ERR_FORKED
)

// Errors of the machine.
const (
	// ErrNoMemory: the system has no memory left.
	ErrNoMemory Code = abi.DL_ERR_NO_MEMORY
	// ErrOverBudget: the option memory_budget is too small; the message names the bytes.
	ErrOverBudget Code = abi.DL_ERR_OVER_BUDGET
	// ErrLeasesHeld: too many held batches; the message names max_leases and their number.
	ErrLeasesHeld Code = abi.DL_ERR_LEASES_HELD
	// ErrThread: a thread could not be started.
	ErrThread Code = abi.DL_ERR_THREAD
	// ErrTooManyFiles: the process has too many open files.
	ErrTooManyFiles Code = abi.DL_ERR_TOO_MANY_FILES
)

// Errors of the data.
const (
	// ErrNotFound: no such file or directory.
	ErrNotFound Code = abi.DL_ERR_NOT_FOUND
	// ErrPermission: the process may not access the file.
	ErrPermission Code = abi.DL_ERR_PERMISSION
	// ErrNotAFile: a directory, FIFO, socket or device where a file is needed.
	ErrNotAFile Code = abi.DL_ERR_NOT_A_FILE
	// ErrIO: reading or writing failed.
	ErrIO Code = abi.DL_ERR_IO
	// ErrTruncated: a file is shorter than it declares, or became shorter while in use.
	ErrTruncated Code = abi.DL_ERR_TRUNCATED
	// ErrCorrupt: the content of a file is invalid.
	ErrCorrupt Code = abi.DL_ERR_CORRUPT
	// ErrUnsafeType: object arrays and pickles.
	ErrUnsafeType Code = abi.DL_ERR_UNSAFE_TYPE
	// ErrMismatch: parts of a dataset do not fit each other.
	ErrMismatch Code = abi.DL_ERR_MISMATCH
	// ErrChanged: a file was modified while in use.
	ErrChanged Code = abi.DL_ERR_CHANGED
	// ErrBadSample: a bad sample with on_error=raise; the message names it.
	ErrBadSample Code = abi.DL_ERR_BAD_SAMPLE
	// ErrTooManyBad: more than max_bad distinct bad samples.
	ErrTooManyBad Code = abi.DL_ERR_TOO_MANY_BAD
	// ErrOutOfRange: an index, label, weight, epoch or step.
	ErrOutOfRange Code = abi.DL_ERR_OUT_OF_RANGE
	// ErrReader: a callback of the host failed: a reader or an extension.
	ErrReader Code = abi.DL_ERR_READER
	// ErrTooLarge: larger than max_bytes_per_sample or another limit.
	ErrTooLarge Code = abi.DL_ERR_TOO_LARGE
	// ErrEmpty: nothing to deliver, now or later.
	ErrEmpty Code = abi.DL_ERR_EMPTY
)

// Errors of saved state.
const (
	// ErrBadState: not a state, damaged, or of a different version.
	ErrBadState Code = abi.DL_ERR_BAD_STATE
	// ErrStateRefused: the state is from a different dataset or configuration.
	ErrStateRefused Code = abi.DL_ERR_STATE_REFUSED
)

// Errors of the accelerator.
const (
	// ErrNoDevice: no driver, a driver that is too old, or no such device; see the message.
	ErrNoDevice Code = abi.DL_ERR_NO_DEVICE
	// ErrDeviceLost: the device failed, permanently: the loader can only be destroyed.
	ErrDeviceLost Code = abi.DL_ERR_DEVICE_LOST
)

// Errors of the library.
const (
	// ErrInternal: a bug in the library; please report it.
	ErrInternal Code = abi.DL_ERR_INTERNAL
)
