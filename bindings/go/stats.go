// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Stats returns the current counters.
func (l *Loader) Stats() (Stats, error) {
	out := &abi.Stats{StructSize: uint32(unsafe.Sizeof(abi.Stats{}))}
	if err := l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderStats(raw, out, e) }); err != nil {
		return Stats{}, err
	}
	stats := statsOf(out)
	stats.Forgotten = l.lost.count.Load()
	return stats, nil
}
