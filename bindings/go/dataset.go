// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"runtime"
	"slices"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Dataset is an immutable set of samples by index. Several goroutines may use it concurrently. Loaders and composed
// datasets hold their own references to it, so Close it when you create no more of them.
type Dataset struct {
	handle      *handle
	count       int
	fields      []Field
	format, uri string
	notes       []string
	classes     []string
	cleanup     runtime.Cleanup
}

// Open opens "scheme:path[,path...][?key=value&...]" or a bare path, whose format is detected. Reads headers only
// (except .gz and io=memory). Applies options of scope dataset.
//
// ErrBadURI (with Column), ErrNotFound, ErrPermission, ErrNotAFile, ErrTruncated, ErrCorrupt, ErrMismatch,
// ErrUnsafeType, ErrUnsupported, ErrEmpty, ErrTooManyFiles, ErrOverBudget, ErrNoMemory; ErrCancelled.
func Open(uri string, options ...Option) (*Dataset, error) {
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	return open(uri, set)
}

// OpenContext is Open, but returns the context's error when the context is done. Not together with CancelWith.
func OpenContext(ctx context.Context, uri string, options ...Option) (*Dataset, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	token, done, err := tokenOf(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	set, err := newOptionSet(append([]Option{With{}}, options...))
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	if set.token {
		return nil, localError(ErrInvalidArgument, "a context and a cancel token: use only one of them")
	}
	if err := CancelWith(token).apply(set); err != nil {
		return nil, err
	}
	dataset, err := open(uri, set)
	if err == error(ErrCancelled) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return dataset, err
}

func open(uri string, set *optionSet) (*Dataset, error) {
	text, err := cText("URI", uri)
	if err != nil {
		return nil, err
	}
	return newDataset(func(out *abi.Handle, e *abi.Error) int32 { return abi.DatasetOpen(text, set.handle, out, e) })
}

// newDataset wraps the result of a call. It queries everything about the dataset now, so that no calls are needed later.
func newDataset(create func(out *abi.Handle, e *abi.Error) int32) (*Dataset, error) {
	out := new(abi.Handle)
	if err := call(func(e *abi.Error) int32 { return create(out, e) }); err != nil {
		return nil, err
	}
	raw := *out
	count := new(int32)
	views := abi.DatasetFields(raw, count)
	d := &Dataset{
		handle: newHandle(raw, abi.DatasetDestroy, nil),
		count:  int(abi.DatasetCount(raw)),
		fields: fieldsOf(views, *count),
		format: abi.Text(abi.DatasetFormat(raw)),
		uri:    abi.Text(abi.DatasetUri(raw)),
		notes:  make([]string, abi.DatasetNoteCount(raw)),
	}
	for at := range abi.DatasetClassCount(raw) {
		d.classes = append(d.classes, abi.Text(abi.DatasetClassName(raw, at)))
	}
	for at := range d.notes {
		d.notes[at] = abi.Text(abi.DatasetNote(raw, int32(at)))
	}
	d.cleanup = runtime.AddCleanup(d, (*handle).close, d.handle)
	return d, nil
}

// FromArrays returns a dataset over the program's own slices. They are borrowed, not copied, and must not change
// until `released` (may be nil) is called. It is called once, in its own goroutine, after the dataset and everything
// created from it (loaders, composed datasets) are closed. Batches do not need the memory. `released` is not called
// if FromArrays fails.
//
// ErrInvalidArgument: shapes that do not fit; ErrMismatch: unequal lengths.
func FromArrays(arrays []Array, released func(), options ...Option) (*Dataset, error) {
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	var dataset *Dataset
	err = lend(released, func(l *loan) error {
		raw, err := rawArrays(l, arrays)
		if err != nil {
			return err
		}
		dataset, err = newDataset(func(out *abi.Handle, e *abi.Error) int32 {
			return abi.DatasetFromArrays(unsafe.SliceData(raw), int32(len(raw)), l.id, set.handle, out, e)
		})
		return err
	})
	return dataset, err
}

// Named is a part of Zip.
type Named struct {
	// Name renames the field of its part, or, if it has several, prefixes them ("name/field"). "" keeps the names.
	Name    string
	Dataset *Dataset
}

// Zip puts fields side by side; all parts have equal lengths. The parts may be closed afterwards.
//
// ErrMismatch, with both lengths.
func Zip(parts ...Named) (*Dataset, error) {
	datasets := make([]*Dataset, len(parts))
	names := make([]*byte, len(parts))
	var pinner runtime.Pinner
	defer pinner.Unpin()
	for at, part := range parts {
		datasets[at] = part.Dataset
		if part.Name == "" {
			continue
		}
		name, err := cText("name", part.Name)
		if err != nil {
			return nil, err
		}
		pinner.Pin(name)
		names[at] = name
	}
	return compose(datasets, func(parts []abi.Handle, out *abi.Handle, e *abi.Error) int32 {
		return abi.DatasetZip(unsafe.SliceData(parts), unsafe.SliceData(names), int32(len(parts)), nil, out, e)
	})
}

// Concat concatenates parts with equal fields. The parts may be closed afterwards.
//
// ErrMismatch names both fields.
func Concat(parts ...*Dataset) (*Dataset, error) {
	return compose(parts, func(parts []abi.Handle, out *abi.Handle, e *abi.Error) int32 {
		return abi.DatasetConcat(unsafe.SliceData(parts), int32(len(parts)), nil, out, e)
	})
}

func compose(parts []*Dataset, create func([]abi.Handle, *abi.Handle, *abi.Error) int32) (*Dataset, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	handles := make([]abi.Handle, len(parts))
	for at, part := range parts {
		if err := part.enter(); err != nil {
			return nil, err
		}
		defer runtime.KeepAlive(part)
		defer part.handle.leave()
		handles[at] = part.handle.pointer
	}
	return newDataset(func(out *abi.Handle, e *abi.Error) int32 { return create(handles, out, e) })
}

// Subset returns a dataset of the samples indices[0], indices[1], ... of d. You may close d afterwards. The slice is
// borrowed, as in FromArrays, until the subset and its loaders are closed.
//
// ErrOutOfRange names the index.
func (d *Dataset) Subset(indices []int64) (*Dataset, error) {
	var dataset *Dataset
	err := lend(nil, func(l *loan) (err error) {
		data := pin(l, indices)
		dataset, err = compose([]*Dataset{d}, func(parts []abi.Handle, out *abi.Handle, e *abi.Error) int32 {
			return abi.DatasetSubset(parts[0], data, int64(len(indices)), l.id, nil, out, e)
		})
		return err
	})
	return dataset, err
}

// Read reads one sample through the transforms of the options, as a batch of one, which the caller releases. For
// viewers and tests, not for training. ErrOutOfRange, and the errors of NewLoader and Next.
func (d *Dataset) Read(index int, options ...Option) (*Batch, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(d)
	defer d.handle.leave()
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	f := frames.Get().(*abi.Frame)
	defer frames.Put(f)
	if status := f.Read(d.handle.pointer, int64(index), set.handle); status != statusOK {
		return nil, failure(status, &f.Error)
	}
	b := &Batch{lease: f.Batch, views: f.Views, fields: fieldsOf(f.Views, f.Count), lost: &forgotten{logger: set.logger}}
	b.Keep()
	return b, nil
}

// Identity describes the files on this machine that the samples are read from, as lines of "key: value". Two texts
// are equal if the structure (formats, fields, keys, order of parts) is equal and no file was replaced, rewritten or
// renamed. Compare them to decide whether earlier results computed from the dataset are still valid. Checks every
// file of a folder.
//
// ErrUnsupported: data in memory; a Source or a stored object with neither files nor a fingerprint.
func (d *Dataset) Identity() (string, error) {
	if err := d.enter(); err != nil {
		return "", err
	}
	defer runtime.KeepAlive(d)
	defer d.handle.leave()
	return textFrom(func(room *byte, bytes *uintptr) error {
		return call(func(e *abi.Error) int32 { return abi.DatasetIdentity(d.handle.pointer, room, bytes, e) })
	})
}

// Len returns the sample count; -1 if unknown.
func (d *Dataset) Len() int { return d.count }

// Fields returns the fields of one sample.
func (d *Dataset) Fields() []Field { return slices.Clone(d.fields) }

// Format returns "idx", "zip", "arrays", ...
func (d *Dataset) Format() string { return d.format }

// URI returns the URI passed to Open, or "".
func (d *Dataset) URI() string { return d.uri }

// Notes returns notes for the user: what was assumed, what is slow.
func (d *Dataset) Notes() []string { return slices.Clone(d.notes) }

// Classes returns the class names, indexed by label; empty if the dataset has none.
func (d *Dataset) Classes() []string { return slices.Clone(d.classes) }

// Close releases this reference. Does nothing if called again. The description of the dataset stays available.
func (d *Dataset) Close() error {
	if d == nil {
		return nil
	}
	d.cleanup.Stop()
	d.handle.close()
	runtime.KeepAlive(d)
	return nil
}

// enter starts a call on the handle; the caller ends it.
func (d *Dataset) enter() error {
	if d == nil {
		return errNil("dataset")
	}
	if !d.handle.enter() {
		return ErrClosed
	}
	return nil
}

// use makes a call on the dataset.
func (d *Dataset) use(function func(raw abi.Handle, e *abi.Error) int32) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer runtime.KeepAlive(d)
	defer d.handle.leave()
	return call(func(e *abi.Error) int32 { return function(d.handle.pointer, e) })
}
