// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"runtime"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// CancelToken ends, for good, the opening of datasets and the waits of loaders that were made with it (CancelWith):
// they give ErrCancelled. For one call a context does: OpenContext, Loader.Next, Loader.Epoch.
type CancelToken struct {
	handle  *handle
	cleanup runtime.Cleanup
}

// NewCancelToken makes one. Close it when no Cancel follows.
func NewCancelToken() (*CancelToken, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	var raw abi.Handle
	if err := call(func(e *abi.Error) int32 { return abi.CancelTokenCreate(&raw, e) }); err != nil {
		return nil, err
	}
	t := &CancelToken{handle: newHandle(raw, abi.CancelTokenDestroy, nil)}
	t.cleanup = runtime.AddCleanup(t, (*handle).close, t.handle)
	return t, nil
}

// Cancel may be called from any goroutine and never blocks. After Close it does nothing.
func (t *CancelToken) Cancel() {
	_ = t.use(func(raw abi.Handle) error {
		abi.CancelTokenCancel(raw)
		return nil
	})
}

// Close gives the token back; what was made with it keeps its own reference. Again: nothing happens.
func (t *CancelToken) Close() error {
	if t == nil {
		return nil
	}
	t.cleanup.Stop()
	t.handle.close()
	runtime.KeepAlive(t)
	return nil
}

func (t *CancelToken) use(function func(raw abi.Handle) error) error {
	if t == nil {
		return errNil("cancel token")
	}
	if !t.handle.enter() {
		return ErrClosed
	}
	defer runtime.KeepAlive(t)
	defer t.handle.leave()
	return function(t.handle.pointer)
}

// tokenOf is a token that a context cancels, and what ends the connection.
func tokenOf(ctx context.Context) (*CancelToken, func(), error) {
	token, err := NewCancelToken()
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, token.Cancel)
	return token, func() {
		stop()
		_ = token.Close()
	}, nil
}
