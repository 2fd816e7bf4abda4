// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// OperatorRow is a row for an operator: its input, and space for its output. A dense output must be filled
// completely. It is valid during the call.
type OperatorRow struct {
	use    *preparedUse
	raw    *abi.OperatorRow
	filled bool
}

var operatorRows = sync.Pool{New: func() any { return new(OperatorRow) }}

func (u *preparedUse) run(raw *abi.OperatorRow) error {
	row := operatorRows.Get().(*OperatorRow)
	*row = OperatorRow{use: u, raw: raw}
	if err := u.apply(row); err != nil {
		return err
	}
	filled := row.filled
	*row = OperatorRow{}
	operatorRows.Put(row) // not after a panic, or an error that may hold it
	if !filled && !u.ragged && raw.Bytes > 0 {
		return errors.New("the output was not filled")
	}
	return nil
}

// Input returns the input's bytes, at any alignment; do not write to them.
func (r *OperatorRow) Input() []byte { return unsafe.Slice((*byte)(r.raw.Input), r.raw.InputBytes) }

// Output returns the space for the output, to write directly, at any alignment. Its initial contents are unspecified.
// Dense: the sample's bytes. Ragged: all the space; set the used bytes with SetBytes.
func (r *OperatorRow) Output() []byte {
	r.filled = true
	room := r.raw.Bytes
	if r.use.ragged {
		room = r.raw.Capacity
	}
	return unsafe.Slice((*byte)(r.raw.Output), room)
}

// SetBytes sets the bytes written of a ragged output. If they exceed the space, the sample is too large. No effect on
// a dense output.
func (r *OperatorRow) SetBytes(bytes int) {
	if r.use.ragged {
		r.raw.Bytes = int64(bytes)
	}
}

// Slot returns the row's place in the epoch's order.
func (r *OperatorRow) Slot() int64 { return r.raw.Slot }

// Epoch returns the epoch.
func (r *OperatorRow) Epoch() int64 { return r.raw.Epoch }

// Seed returns the loader's seed.
func (r *OperatorRow) Seed() uint64 { return r.raw.Seed }

// Random returns draw `number` of this operator for this row: 64 random bits. It depends only on seed, epoch, slot,
// the operator's position in the transform and the number. Set OperatorUse.Draws when using it.
func (r *OperatorRow) Random(number int) uint64 { return abi.OperatorRandom(r.raw, int64(number)) }

// Items returns the input's items. Do not write to them or keep them. They are copied only if their address is not
// aligned.
func Items[T Element](row *OperatorRow) ([]T, error) {
	if asked := dtypeOf[T](); asked != row.use.input {
		return nil, fmt.Errorf("input: expected %v, got %v", row.use.input, asked)
	}
	var one T
	count := int(row.raw.InputBytes) / int(unsafe.Sizeof(one))
	if uintptr(row.raw.Input)%unsafe.Alignof(one) == 0 {
		return unsafe.Slice((*T)(row.raw.Input), count), nil
	}
	items := make([]T, count)
	copy(bytesOf(items), row.Input())
	return items, nil
}

// Fill writes the output: for a dense field all of it, for a ragged field any number of rows. If they exceed the
// space, the sample is bad, with ErrTooLarge.
func Fill[T Element](row *OperatorRow, items []T) error {
	if asked := dtypeOf[T](); asked != row.use.output {
		return fmt.Errorf("output: expected %v, got %v", row.use.output, asked)
	}
	from, to := bytesOf(items), row.Output()
	if row.use.ragged {
		row.SetBytes(len(from))
	} else if len(from) != len(to) {
		return fmt.Errorf("expected %d bytes of output, got %d", len(to), len(from))
	}
	copy(to, from)
	return nil
}

func bytesOf[T any](items []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(items))), len(items)*int(unsafe.Sizeof(one)))
}
