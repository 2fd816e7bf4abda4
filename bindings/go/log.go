// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"log/slog"
	"sync"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Levels of the library's log messages.
const (
	logProgress = 0
	logInfo     = 1
)

// Loggers by the number given to the library. The library does not report when it no longer needs one, so each distinct
// logger is kept.
var (
	loggersLock sync.RWMutex
	loggers     = []*slog.Logger{nil} // a number is never 0
)

func newLog(logger *slog.Logger) *abi.Log {
	loggersLock.Lock()
	defer loggersLock.Unlock()
	log := &abi.Log{StructSize: uint32(unsafe.Sizeof(abi.Log{}))}
	for at, known := range loggers {
		if known == logger && at > 0 {
			log.Context = firstNumber + uintptr(at)
			return log
		}
	}
	loggers = append(loggers, logger)
	log.Context = firstNumber + uintptr(len(loggers)-1)
	return log
}

func init() {
	abi.Write = func(level int32, message *byte, length, number uintptr) {
		loggersLock.RLock()
		logger := loggers[number-firstNumber]
		loggersLock.RUnlock()
		to := slog.LevelWarn
		switch level {
		case logProgress:
			to = slog.LevelDebug
		case logInfo:
			to = slog.LevelInfo
		}
		logger.Log(context.Background(), to, string(unsafe.Slice(message, length)))
	}
}
