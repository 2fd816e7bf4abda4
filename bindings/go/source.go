// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Source reads records with your own code. Several threads of the loader call Read concurrently (with num_workers=0
// the goroutine in Next calls it). Read fills every field of the record (Put copies, Lend does not) and must not use
// this package otherwise.
//
// An error or a panic makes the sample bad: the option on_error decides what happens then. The error and
// Loader.BadSamples contain the text. ErrInterrupted makes no sample bad: the call of Next or the loop that waits for
// the batch ends with it, and the next one reads the batch again. A slow Read checks Record.Cancelled. Fields and Len
// are called once.
type Source interface {
	Fields() []Field
	Len() int
	Read(index int, record *Record) error
}

// Fingerprinter is a Source or a StoredObject with a text that changes when its data changes, such as a version or an
// ETag. Saved states and the option cache compare it. Called once.
type Fingerprinter interface {
	Fingerprint() string
}

// Filed is a Source that lists the files that the records are read from, in order: local paths, or paths of storages
// in the options. Each must exist. The library records their state when the dataset is created. Saved states, the
// option cache and Dataset.Identity compare it, as for files that the library reads. Files is called once.
type Filed interface {
	Files() []string
}

// FileEnder is a Filed source that knows which file contains which record. FileEnds returns one number per file,
// ascending: the index after the file's last record. The last number is Len(). A changed file then invalidates only
// its own samples in a cache. Called once.
type FileEnder interface {
	FileEnds() []int
}

// Blocked is a Source with blocks of records that are cheap to read together, such as a compressed group. Block i
// ends before record BlockEnds()[i]; the numbers ascend, and the last one is Len(). shuffle=window reads each block
// within a short part of an epoch. HeldBlocks is the number of blocks that the source can keep open (0: any number).
// With 4 or more, shuffle=window never needs more at a time. Both are called once.
type Blocked interface {
	BlockEnds() []int
	HeldBlocks() int
}

// reader is a Source in use.
type reader struct {
	source Source
	fields []Field
}

// FromSource returns a dataset that reads records with Go code. This is the slow path: it calls a Go function for
// each sample. `released` (may be nil) is called as in FromArrays, when Read can no longer be called.
func FromSource(source Source, released func(), options ...Option) (*Dataset, error) {
	if source == nil {
		return nil, errNil("source")
	}
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	var dataset *Dataset
	err = lend(released, func(l *loan) error {
		l.reader = &reader{source, source.Fields()}
		raw, err := l.reader.raw(l)
		if err != nil {
			return err
		}
		raw.Bind()
		dataset, err = newDataset(func(out *abi.Handle, e *abi.Error) int32 {
			return abi.DatasetFromReader(raw, set.handle, out, e)
		})
		return err
	})
	return dataset, err
}

func (r *reader) raw(l *loan) (*abi.Reader, error) {
	views, err := viewsOf(l, r.fields)
	if err != nil {
		return nil, err
	}
	raw := &abi.Reader{
		StructSize:  uint32(unsafe.Sizeof(abi.Reader{})),
		FieldCount:  int32(len(views)),
		Fields:      pin(l, views),
		RecordCount: int64(r.source.Len()),
		Context:     l.id,
	}
	if named, ok := r.source.(Fingerprinter); ok {
		text, err := pinText(l, "fingerprint", named.Fingerprint())
		if err != nil {
			return nil, err
		}
		raw.Fingerprint = text
	}
	if blocked, ok := r.source.(Blocked); ok {
		raw.BlockCount, raw.BlockEnds = pinEnds(l, blocked.BlockEnds())
		raw.HeldBlocks = int64(blocked.HeldBlocks())
	}
	return raw, r.addFiles(l, raw)
}

func (r *reader) addFiles(l *loan, raw *abi.Reader) error {
	filed, ok := r.source.(Filed)
	if !ok {
		return nil
	}
	var files []*byte
	for _, path := range filed.Files() {
		text, err := pinText(l, "files", path)
		if err != nil {
			return err
		}
		files = append(files, text)
	}
	raw.FileCount = int64(len(files))
	raw.Files = pin(l, files)
	ender, ok := r.source.(FileEnder)
	if !ok {
		return nil
	}
	count, ends := pinEnds(l, ender.FileEnds())
	if count != 0 && count != raw.FileCount {
		return localError(ErrInvalidArgument, "source: %d file ends for %d files, expected one per file", count, len(files))
	}
	raw.FileEnds = ends
	return nil
}

// pinEnds is NULL for none.
func pinEnds(l *loan, ends []int) (int64, *int64) {
	if len(ends) == 0 {
		return 0, nil
	}
	return int64(len(ends)), pin(l, int64s(ends))
}

func init() {
	abi.Read = func(id uintptr, request *abi.ReaderRequest) int32 {
		found, ok := loans.Load(id)
		if !ok {
			return 1
		}
		return found.(*loan).reader.readAll(request)
	}
}

var records = sync.Pool{New: func() any { return new(Record) }}

// readAll reads the records of one call.
func (r *reader) readAll(request *abi.ReaderRequest) int32 {
	record := records.Get().(*Record)
	defer records.Put(record)
	defer record.end()
	indices := unsafe.Slice(request.Indices, request.RecordCount)
	for at, index := range indices {
		record.begin(r.fields, request, at)
		if record.Cancelled() {
			return 1
		}
		if err := r.readOne(int(index), record); errors.Is(err, ErrInterrupted) {
			return abi.DL_READER_INTERRUPTED
		} else if err != nil {
			for field := range r.fields {
				request.Cell(at, field).Status = 1
			}
			message := request.Message(at)
			message[copy(message[:len(message)-1], err.Error())] = 0
		}
	}
	if record.Cancelled() {
		return 1
	}
	return 0
}

func (r *reader) readOne(index int, record *Record) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("panicked: %v", thrown)
		}
	}()
	if err := r.source.Read(index, record); err != nil {
		return err
	}
	return record.complete()
}
