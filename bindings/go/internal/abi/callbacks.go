// SPDX-License-Identifier: Apache-2.0

package abi

// What the library calls, from any of its threads. Set once by the package above, before the first call; none of them
// may panic. A context is the number that was given with the table or the loan.
var (
	// Release gives a loan back, or ends a reader.
	Release func(context uintptr)
	// Read fills count * (fields of the reader) cells; not 0: all records are bad.
	Read func(context uintptr, indices *int64, count int64, cells *ReaderCell, message *byte, messageBytes uintptr) int32
	// Write takes a remark of the library.
	Write func(context uintptr, level int32, message *byte, length uintptr)
)
