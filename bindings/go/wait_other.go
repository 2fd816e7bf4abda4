// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package dataline

import (
	"context"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// waits are none here: Go's poller cannot wait for the loader.
type waits struct{}

func (*waits) interrupt() {}

func (l *Loader) wait(context.Context, *abi.Frame) (int32, error) {
	return 0, localError(ErrUnsupported,
		"Next: on this system a context that can be done does not end a wait; pass context.Background(), or loop over Epoch")
}
