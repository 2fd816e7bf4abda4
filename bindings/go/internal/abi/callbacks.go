// SPDX-License-Identifier: Apache-2.0

package abi

// What the library calls, from any of its threads. Set once by the package above, before the first call; none of them
// may panic. A context is the number that was given with the table or the loan.
var (
	// Release ends a loan or a reader.
	Release func(context uintptr)
	// Read fills the cells of a request; not 0: all records are bad. What it lends goes back to Release with the request's
	// ReleaseContext, if that is not 0.
	Read func(context uintptr, request *ReaderRequest) int32
	// Write takes a remark of the library.
	Write func(context uintptr, level int32, message *byte, length uintptr)
	// WriteTrace takes a piece of a trace; not 0: an error number, which ends it.
	WriteTrace func(context uintptr, text *byte, length uintptr) int32

	// The callbacks of dl_format, dl_operator and dl_storage. Results are statuses, described in err; what Forget and
	// CloseObject get is the number that Prepare and OpenObject have left.
	Sniff       func(context uintptr, path, bytes *byte, count, fileBytes int64) int32
	OpenFormat  func(context uintptr, request *FormatRequest, out *Handle, err *Error) int32
	Prepare     func(context uintptr, use *OperatorUse, err *Error) int32
	Apply       func(row *OperatorRow, err *Error) int32
	Forget      func(state uintptr)
	OpenObject  func(context uintptr, object *StorageObject, err *Error) int32
	ReadObject  func(request *StorageRead, err *Error) int32
	CloseObject func(object uintptr)
)
