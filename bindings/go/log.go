// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"log/slog"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Levels of log messages of the library.
const (
	logProgress = abi.DL_LOG_PROGRESS
	logInfo     = abi.DL_LOG_INFO
)

func init() {
	abi.Write = func(id uintptr, level int32, message *byte, length uintptr) {
		found, ok := loans.Load(id)
		if !ok {
			return
		}
		to := slog.LevelWarn
		switch level {
		case logProgress:
			to = slog.LevelDebug
		case logInfo:
			to = slog.LevelInfo
		}
		found.(*loan).logger.Log(context.Background(), to, string(unsafe.Slice(message, length)))
	}
}
