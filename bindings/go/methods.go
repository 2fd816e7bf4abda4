// Code generated from capi/api.json by capi/api/generate.py; DO NOT EDIT.
//
// The methods that are one call of the library.
//
// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// BadSamples returns the bad samples found so far.
func (l *Loader) BadSamples() ([]BadSample, error) {
	var all []BadSample
	out := &abi.BadSample{StructSize: uint32(unsafe.Sizeof(abi.BadSample{}))}
	err := l.use(func(raw abi.Handle, e *abi.Error) int32 {
		for at := range abi.LoaderBadSampleCount(raw) {
			if status := abi.LoaderBadSampleAt(raw, at, out, e); status != 0 {
				return status
			}
			all = append(all, badSampleOf(out))
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Progress returns the progress of an opening. All numbers only grow. The library lists files before it opens the
// first one, so totals grow as well, but a total is never less than the part that is done. Log lines with
// DL_LOG_PROGRESS contain the same numbers.
//
// Never blocks.
func (o *Opening) Progress() (OpenProgress, error) {
	out := &abi.Progress{StructSize: uint32(unsafe.Sizeof(abi.Progress{}))}
	if err := o.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.OpeningProgress(raw, out, e) }); err != nil {
		return OpenProgress{}, err
	}
	return openProgressOf(out), nil
}

// Stalls returns the stalls that are kept: the last 64.
func (m *Metrics) Stalls() ([]Stall, error) {
	var all []Stall
	out := &abi.Stall{StructSize: uint32(unsafe.Sizeof(abi.Stall{}))}
	err := m.use(func(raw abi.Handle, e *abi.Error) int32 {
		for at := range abi.MetricsStallCount(raw) {
			if status := abi.MetricsStallAt(raw, at, out, e); status != 0 {
				return status
			}
			all = append(all, stallOf(out))
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// SetWorkers sets the number of active workers: 1 to Tuned.MostWorkers. Other workers finish the rows that they are
// loading and then sleep. This ends tuning. Never blocks for long.
//
// Errors: ErrOutOfRange, ErrWrongState (created with num_workers=0), ErrForked.
func (l *Loader) SetWorkers(count int) error {
	return l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderSetWorkers(raw, int64(count), e) })
}

// Tuned returns the workers and the depth in use, and what tuning does or would do.
func (l *Loader) Tuned() (Tuned, error) {
	out := &abi.Tuned{StructSize: uint32(unsafe.Sizeof(abi.Tuned{}))}
	if err := l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderTuned(raw, out, e) }); err != nil {
		return Tuned{}, err
	}
	return tunedOf(out), nil
}

// Parts returns the parts of a mix; none for other datasets.
func (d *Dataset) Parts() ([]Part, error) {
	var all []Part
	out := &abi.Part{StructSize: uint32(unsafe.Sizeof(abi.Part{}))}
	err := d.use(func(raw abi.Handle, e *abi.Error) int32 {
		for at := range abi.DatasetPartCount(raw) {
			if status := abi.DatasetPartAt(raw, at, out, e); status != 0 {
				return status
			}
			all = append(all, partOf(out))
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Parts returns the parts of the mix that a loader delivers; none for other datasets.
func (l *Loader) Parts() ([]Part, error) {
	var all []Part
	out := &abi.Part{StructSize: uint32(unsafe.Sizeof(abi.Part{}))}
	err := l.use(func(raw abi.Handle, e *abi.Error) int32 {
		for at := range abi.LoaderPartCount(raw) {
			if status := abi.LoaderPartAt(raw, at, out, e); status != 0 {
				return status
			}
			all = append(all, partOf(out))
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Finish ends the last shard and renames the set to PATH. Nothing can be appended afterwards.
//
// Errors: ErrEmpty (no rows), ErrWrongState (already finished), and errors of files.
func (w *Writer) Finish() error {
	return w.use(abi.WriterFinish)
}

// Info returns the progress of a writer.
//
// Errors: ErrInvalidArgument.
func (w *Writer) Info() (WriterInfo, error) {
	out := &abi.WriterInfo{StructSize: uint32(unsafe.Sizeof(abi.WriterInfo{}))}
	if err := w.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.WriterGetInfo(raw, out, e) }); err != nil {
		return WriterInfo{}, err
	}
	return writerInfoOf(out), nil
}
