// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// StorageInfo describes a storage.
type StorageInfo struct {
	Scheme string // the same rules as for a format's name; may also contain +
	Doc    string
}

// Storage stores the bytes of scheme:// paths. Formats read them like files. Formats that need a directory reject
// them.
type Storage interface {
	About() StorageInfo // called once
	// Open opens an object. A storage that wraps another one opens its object with OpenFile.
	Open(request *StorageRequest) (StoredObject, error)
}

// StoredObject is an object of a Storage; *File is one. ReadAt reads a range within the object, and must read all of
// it. An object that implements io.Closer is closed after the last read, by the thread that needed it last. The
// option cache and conversions that resume reject an object that is not a Fingerprinter.
type StoredObject interface {
	io.ReaderAt
	Size() int64 // called once
}

// CancelReader is a StoredObject with slow reads, which check whether they are still wanted. It is called instead of
// ReadAt.
type CancelReader interface {
	ReadAtUnless(cancelled func() bool, to []byte, offset int64) (int, error)
}

// StorageRequest is the argument of Storage.Open.
type StorageRequest struct {
	Path string // the complete path, with its scheme
	// Options are the caller's options, for objects that Open opens. They cannot be combined with others, and are valid
	// until Open returns.
	Options Option

	cancelled *int32
}

// Cancelled reports that the object is no longer wanted. It must not be called after Open has returned.
func (r *StorageRequest) Cancelled() bool { return atomic.LoadInt32(r.cancelled) != 0 }

func storageTable(l *loan, storage Storage) (*abi.Storage, error) {
	about := storage.About()
	l.extension = storage
	table := &abi.Storage{StructSize: uint32(unsafe.Sizeof(abi.Storage{})), Context: l.id}
	return table, pinTexts(l, text{&table.Scheme, about.Scheme}, text{&table.Doc, about.Doc})
}

func init() {
	abi.OpenObject = func(id uintptr, raw *abi.StorageObject, err *abi.Error) int32 {
		storage := extensionOf[Storage](id)
		options := &callerOptions{handle: raw.Options}
		defer options.over.Store(true)
		return answer(err, ErrReader, func() error {
			object, err := storage.Open(&StorageRequest{abi.Text(raw.Path), options, raw.Cancelled})
			if err != nil {
				return err
			}
			if object == nil {
				return errNil("object")
			}
			raw.Bytes = object.Size()
			fingerprint := ""
			if named, ok := object.(Fingerprinter); ok {
				fingerprint = named.Fingerprint()
			}
			opened := newLoan()
			opened.extension = object
			raw.Object = opened.id
			raw.Fingerprint, err = pinText(opened, "fingerprint", fingerprint)
			if err != nil {
				abi.CloseObject(opened.id)
			}
			return err
		})
	}
	abi.ReadObject = func(raw *abi.StorageRead, err *abi.Error) int32 {
		object := extensionOf[StoredObject](raw.Object)
		return answer(err, ErrReader, func() error { return readObject(object, raw) })
	}
	abi.CloseObject = func(object uintptr) {
		if l := endLoan(object); l != nil {
			closeQuietly(l.extension)
		}
	}
}

func readObject(object StoredObject, raw *abi.StorageRead) error {
	to := unsafe.Slice((*byte)(raw.Out), raw.Bytes)
	var count int
	var err error
	if careful, ok := object.(CancelReader); ok {
		flag := raw.Cancelled
		count, err = careful.ReadAtUnless(func() bool { return atomic.LoadInt32(flag) != 0 }, to, raw.Offset)
	} else {
		count, err = object.ReadAt(to, raw.Offset)
	}
	switch {
	case count == len(to):
		return nil // io.EOF may come with the last byte
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return localError(ErrTruncated, "offset %d: expected %d bytes, got %d", raw.Offset, len(to), count)
	}
	return err
}

func storagesOf(extensions abi.Handle) ([]StorageInfo, error) {
	table := make([]StorageInfo, abi.StorageCount(extensions))
	raw := &abi.Storage{StructSize: uint32(unsafe.Sizeof(abi.Storage{}))}
	for at := range table {
		if err := call(func(e *abi.Error) int32 { return abi.StorageAt(extensions, int32(at), raw, e) }); err != nil {
			return nil, err
		}
		table[at] = StorageInfo{abi.Text(raw.Scheme), abi.Text(raw.Doc)}
	}
	return table, nil
}

// File is an open file: a local path, or scheme://... if the options contain a storage for that scheme. Your own formats
// and storages use it. Several goroutines may use one File.
type File struct {
	handle  *handle
	size    int64
	cleanup runtime.Cleanup
}

// OpenFile opens a file. Errors are those of Open for a file.
func OpenFile(path string, options ...Option) (*File, error) {
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	text, err := cText("path", path)
	if err != nil {
		return nil, err
	}
	out := new(abi.Handle)
	if err := call(func(e *abi.Error) int32 { return abi.FileOpen(text, set.handle, out, e) }); err != nil {
		return nil, err
	}
	f := &File{handle: newHandle(*out, abi.FileDestroy, nil), size: abi.FileBytes(*out)}
	f.cleanup = runtime.AddCleanup(f, (*handle).close, f.handle)
	return f, nil
}

// Size returns the size in bytes when the file was opened.
func (f *File) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. ErrTruncated, ErrChanged and ErrIO name path and offset.
func (f *File) ReadAt(to []byte, offset int64) (int, error) {
	if !f.handle.enter() {
		return 0, ErrClosed
	}
	defer f.handle.leave()
	count := min(int64(len(to)), max(f.size-offset, 0))
	if count > 0 || offset < 0 {
		err := call(func(e *abi.Error) int32 {
			return abi.FileRead(f.handle.pointer, offset, count, unsafe.Pointer(unsafe.SliceData(to)), nil, e)
		})
		if err != nil {
			return 0, err
		}
	}
	if count < int64(len(to)) {
		return int(count), io.EOF
	}
	return int(count), nil
}

// Close closes the file. Does nothing if called again, or on nil.
func (f *File) Close() error {
	if f != nil && f.handle != nil {
		f.cleanup.Stop()
		f.handle.close()
	}
	return nil
}
