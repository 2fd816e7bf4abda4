// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"runtime"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// CancelToken permanently ends the opening of datasets and the waits of loaders created with it (CancelWith): they
// return ErrCancelled. To cancel a single call, use a context: OpenContext, Loader.Next, Loader.Epoch.
type CancelToken struct {
	handle  *handle
	cleanup runtime.Cleanup
}

// NewCancelToken returns a token. Close it when Cancel is no longer needed.
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

// Cancel may be called from any goroutine and never blocks. Does nothing after Close.
func (t *CancelToken) Cancel() {
	_ = t.use(func(raw abi.Handle) error {
		abi.CancelTokenCancel(raw)
		return nil
	})
}

// Close releases the token. Datasets and loaders created with it keep their own reference. Does nothing if called
// again.
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

// tokenOf returns a token that a context cancels, and a function that ends the connection.
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
