// SPDX-License-Identifier: Apache-2.0

package dataline

import "github.com/dataline/dataline/bindings/go/internal/abi"

// SeekAfter is Seek, with a function that is called after the seek has entered the loader.
func (l *Loader) SeekAfter(before func(), epoch, step int64) error {
	return l.move(func(raw abi.Handle, e *abi.Error) int32 {
		before()
		return abi.LoaderSeek(raw, epoch, step, e)
	})
}
