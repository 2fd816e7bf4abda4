// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"math"
	"strconv"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// DType is the type of a field's items.
type DType int32

// The item types, with their Go types.
const (
	Bool DType = abi.DL_DTYPE_BOOL
	U8   DType = abi.DL_DTYPE_U8
	U16  DType = abi.DL_DTYPE_U16
	U32  DType = abi.DL_DTYPE_U32
	U64  DType = abi.DL_DTYPE_U64
	I8   DType = abi.DL_DTYPE_I8
	I16  DType = abi.DL_DTYPE_I16
	I32  DType = abi.DL_DTYPE_I32
	I64  DType = abi.DL_DTYPE_I64
	F16  DType = abi.DL_DTYPE_F16  // Half
	BF16 DType = abi.DL_DTYPE_BF16 // BFloat16
	F32  DType = abi.DL_DTYPE_F32
	F64  DType = abi.DL_DTYPE_F64
	C64  DType = abi.DL_DTYPE_C64  // complex64
	C128 DType = abi.DL_DTYPE_C128 // complex128
)

// String returns the library's name, "u8", once the library is loaded.
func (d DType) String() string {
	if abi.Loaded() {
		return abi.Text(abi.DtypeName(int32(d)))
	}
	return "dtype " + strconv.Itoa(int(d))
}

// Bytes returns the bytes of one item; 0 for an unknown type, and before the library is loaded.
func (d DType) Bytes() int {
	if !abi.Loaded() {
		return 0
	}
	return int(abi.DtypeBytes(int32(d)))
}

// Half is an IEEE 754 binary16, as stored in memory.
type Half uint16

// BFloat16 is the upper half of a float32, as stored in memory.
type BFloat16 uint16

// Element lists the Go types for the items of a field.
type Element interface {
	bool | uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | Half | BFloat16 |
		float32 | float64 | complex64 | complex128
}

// Float32 converts exactly.
func (h Half) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10)&0x1F, uint32(h)&0x3FF
	switch {
	case exponent == 0x1F: // infinite, or not a number
		return math.Float32frombits(sign | 0x7F800000 | fraction<<13)
	case exponent != 0:
		return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
}

// Float32 converts exactly.
func (b BFloat16) Float32() float32 {
	return math.Float32frombits(uint32(b) << 16)
}

func dtypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case uint8:
		return U8
	case uint16:
		return U16
	case uint32:
		return U32
	case uint64:
		return U64
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	case int64:
		return I64
	case Half:
		return F16
	case BFloat16:
		return BF16
	case float32:
		return F32
	case float64:
		return F64
	case complex64:
		return C64
	default:
		return C128
	}
}
