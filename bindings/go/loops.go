// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// loops tracks which loop over a loader is current, and synchronizes loops, seeks and loads.
//
// A loop is one epoch. A new loop, a seek or a load ends the current loop: its next iteration is an error, so that no batch
// is lost between two loops. The library has one position and no notion of loops; they are identified by a number here.
//
// The turn is held by a loop inside the library's next, and by an operation that ends loops, which interrupts the former;
// that loop then finds its number outdated. So no batch is taken between the end of one loop and the start of another.
// Next and Poll do not take the turn: their calls are counted, and a loop that sees some checks the loader's position.
type loops struct {
	turn sync.Mutex
	// Guarded by turn; of the current loop.
	number    uint64
	epoch     int
	over      bool
	seen      uint64 // strangers
	wanted    atomic.Int32
	strangers atomic.Uint64 // calls of Next and Poll, counted before they can take anything
}

var errLoopEnded = localError(ErrWrongState,
	"this loop's epoch was ended by another loop over the same loader (begin_epoch, seek or load_state)")

// errEvicted ends a wait of a loop when another operation needs the turn; the loop tries again.
var errEvicted = errors.New("dataline: evicted")

// displace makes a call that moves the position; if it succeeds, the current loop is ended.
func (l *Loader) displace(call func() error) error {
	if l == nil {
		return errNil("loader")
	}
	s := &l.loops
	s.wanted.Add(1)
	for pause := 10 * time.Microsecond; !s.turn.TryLock(); pause = min(2*pause, time.Millisecond) {
		l.nudge() // ends only a wait that has begun, so repeat
		time.Sleep(pause)
	}
	defer s.turn.Unlock()
	s.wanted.Add(-1)
	err := call()
	if err == nil || err == End {
		s.number++
	}
	return err
}

// takeTurn is for loops; operations that end loops have priority.
func (s *loops) takeTurn() {
	if s.wanted.Load() == 0 && s.turn.TryLock() {
		return
	}
	for s.wanted.Load() != 0 {
		runtime.Gosched()
	}
	s.turn.Lock()
}

// nextOf is the next batch of a loop; EndOfEpoch at its end.
func (w *waiter) nextOf(number uint64, f *abi.Frame) error {
	s := &w.loader.loops
	for {
		s.takeTurn()
		err := w.nextInTurn(number, f)
		s.turn.Unlock()
		if err != errEvicted {
			return err
		}
	}
}

func (w *waiter) nextInTurn(number uint64, f *abi.Frame) error {
	s := &w.loader.loops
	if number != s.number {
		return errLoopEnded
	}
	if over, err := w.loader.takenToItsEnd(); err != nil || over {
		if err == nil {
			err = EndOfEpoch
		}
		return err
	}
	switch err := w.next(f); {
	case err == EndOfEpoch, err == End:
		s.over = true
		return EndOfEpoch
	case err != nil:
		return err
	}
	if s.strangers.Load() == 0 || int(placeOf(f.Batch).Epoch) == s.epoch {
		return nil
	}
	// A call of Next took the end of the epoch at the same time.
	abi.BatchRelease(f.Batch)
	s.number++
	return errLoopEnded
}

// takenToItsEnd reports whether the epoch of the loop has ended, also by calls of Next.
func (l *Loader) takenToItsEnd() (bool, error) {
	s := &l.loops
	if strangers := s.strangers.Load(); strangers != s.seen && !s.over {
		epoch, _, err := l.Position()
		if err != nil {
			return false, err
		}
		s.seen, s.over = strangers, epoch != s.epoch
	}
	return s.over, nil
}

// placeOf is what a batch says of itself; epoch -1 where it says nothing.
func placeOf(batch abi.Handle) *abi.BatchInfo {
	raw := new(abi.BatchInfo)
	raw.StructSize = uint32(unsafe.Sizeof(*raw))
	if call(func(e *abi.Error) int32 { return abi.BatchGetInfo(batch, raw, e) }) != nil {
		raw.Epoch = -1
	}
	return raw
}
