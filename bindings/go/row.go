// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// OperatorRow is a row for an operator to make: its input, and room for its output, which must be filled wholly where the
// field is dense. It lives for the call.
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

// Input is the input's bytes, at any address; not to be written.
func (r *OperatorRow) Input() []byte { return unsafe.Slice((*byte)(r.raw.Input), r.raw.InputBytes) }

// Output is the room for the output, at any address, to be written in place; what it holds before is not said. Dense: the
// sample's bytes. Ragged: all there is; SetBytes says how many are used.
func (r *OperatorRow) Output() []byte {
	r.filled = true
	room := r.raw.Bytes
	if r.use.ragged {
		room = r.raw.Capacity
	}
	return unsafe.Slice((*byte)(r.raw.Output), room)
}

// SetBytes says how many bytes a ragged output has; more than there is room for says that the sample is too large. No effect
// on a dense one.
func (r *OperatorRow) SetBytes(bytes int) {
	if r.use.ragged {
		r.raw.Bytes = int64(bytes)
	}
}

// Slot is the row's place in the epoch's order.
func (r *OperatorRow) Slot() int64 { return r.raw.Slot }

// Epoch is the epoch.
func (r *OperatorRow) Epoch() int64 { return r.raw.Epoch }

// Seed is the loader's.
func (r *OperatorRow) Seed() uint64 { return r.raw.Seed }

// Random is draw `number` of this operator for this row: 64 random bits, a pure function of seed, epoch, slot, the operator's
// place in the transform and the number. OperatorUse.Draws is to be set when it is used.
func (r *OperatorRow) Random(number int) uint64 { return abi.OperatorRandom(r.raw, int64(number)) }

// Items is the input's items; not to be written, nor kept. They are copied only where they lie at an odd address.
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

// Fill writes the output: of a dense field all of it, of a ragged one any number of whole items. More than there is room for
// makes the sample a bad one, ErrTooLarge.
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
