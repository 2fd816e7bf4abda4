// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"log/slog"
	"sync/atomic"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// forgotten counts the batches of a loader that became unreachable without Release after they had returned slices. A
// slice may be in use then, so their leases stay held.
type forgotten struct {
	count  atomic.Int64
	logger *slog.Logger // nil: the default one
}

// guard is the part of a kept batch that remains when the batch becomes unreachable.
type guard struct {
	lease  abi.Handle
	sliced atomic.Bool
	lost   *forgotten
}

// settle is the cleanup of a batch.
func (g *guard) settle() {
	if !g.sliced.Load() {
		abi.BatchRelease(g.lease)
		return
	}
	if g.lost.count.Load() == 0 { // the others are counted
		logger := g.lost.logger
		if logger == nil {
			logger = slog.Default()
		}
		place := placeOf(g.lease)
		logger.Warn("dataline: a batch became unreachable without Release; its memory stays held, because slices of it may be in use",
			"epoch", place.Epoch, "step", place.Step)
	}
	g.lost.count.Add(1)
}

// lend marks a batch that has returned slices.
func (b *Batch) lend() {
	if b.guard != nil {
		b.guard.sliced.Store(true)
	} else {
		b.sliced.Store(true)
	}
}

// placeOf returns the position and size of a batch; epoch -1 if the call fails.
func placeOf(batch abi.Handle) *abi.BatchInfo {
	raw := new(abi.BatchInfo)
	raw.StructSize = uint32(unsafe.Sizeof(*raw))
	if call(func(e *abi.Error) int32 { return abi.BatchGetInfo(batch, raw, e) }) != nil {
		raw.Epoch = -1
	}
	return raw
}
