// The format, operator and storage of tests/extensions/README.md, in Go.
//
// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

const recordsHeader = 16

var recordsMagic = []byte("DLREC1\n\000")

// recordFile is an open dlrec file.
type recordFile struct {
	path            string
	file            *dataline.File
	count, rowBytes int
	sums            bool
}

func (r *recordFile) Fields() []dataline.Field {
	fields := []dataline.Field{{Name: "x", DType: dataline.U8, Shape: []int{r.rowBytes}}}
	if r.sums {
		fields = append(fields, dataline.Field{Name: "label", DType: dataline.I64})
	}
	return fields
}

func (r *recordFile) Len() int { return r.count }

func (r *recordFile) Files() []string { return []string{r.path} }

func (r *recordFile) Read(index int, record *dataline.Record) error {
	row, err := record.Bytes("x")
	if err != nil {
		return err
	}
	if _, err := r.file.ReadAt(row, int64(recordsHeader+index*r.rowBytes)); err != nil {
		return err
	}
	if row[0] == 255 {
		return errors.New("the row is marked bad")
	}
	if !r.sums {
		return nil
	}
	var sum int64
	for _, value := range row {
		sum += int64(value)
	}
	return dataline.Put(record, "label", sum)
}

type dlrec struct{}

func (dlrec) About() dataline.FormatInfo {
	labels := dataline.FormatKey{Name: "labels", Values: "none|sum", Default: "none", HasDefault: true,
		Doc: "sum: a field label, the sum of the row's bytes"}
	return dataline.FormatInfo{Name: "dlrec", Doc: "rows of bytes, for tests", Keys: []dataline.FormatKey{labels},
		Suffixes: []string{".dlrec"}}
}

func (dlrec) Sniff(file dataline.FirstBytes) dataline.Sniff {
	if len(file.Bytes) >= recordsHeader && bytes.HasPrefix(file.Bytes, recordsMagic) {
		return dataline.SniffCertain
	}
	return dataline.SniffNo
}

func (dlrec) Open(request *dataline.FormatRequest) (*dataline.Dataset, error) {
	file, err := dataline.OpenFile(request.Path, request.Options)
	if err != nil {
		return nil, err
	}
	header := make([]byte, recordsHeader)
	if file.Size() >= recordsHeader {
		if _, err := file.ReadAt(header, 0); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	made := &recordFile{request.Path, file, int(binary.LittleEndian.Uint32(header[8:])), int(binary.LittleEndian.Uint32(header[12:])),
		request.Values["labels"] == "sum"}
	if !bytes.HasPrefix(header, recordsMagic) || made.rowBytes == 0 ||
		file.Size() != int64(recordsHeader+made.count*made.rowBytes) {
		text := fmt.Sprintf("%s: not a dlrec file, or a part of one", request.Path)
		return nil, errors.Join(&dataline.Error{Code: dataline.ErrCorrupt, Message: text}, file.Close())
	}
	return dataline.FromSource(made, func() { _ = file.Close() }, request.Options)
}

type offset struct{}

func (offset) About() dataline.TransformInfo {
	return dataline.TransformInfo{Name: "offset", Doc: "Adds a number, and noise times a draw, to bytes.",
		Arguments: []dataline.ArgumentInfo{{Name: "value", Type: "number"}, {Name: "noise", Type: "number", Default: "0"}}}
}

func (offset) Prepare(use *dataline.OperatorUse) (func(*dataline.OperatorRow) error, error) {
	if use.Input.Kind != dataline.Dense || use.Input.DType != dataline.U8 {
		return nil, errors.New("expected a dense field of u8")
	}
	value, err := use.Number("value")
	if err != nil {
		return nil, err
	}
	noise, err := use.Number("noise")
	if err != nil {
		return nil, err
	}
	if noise < 0 {
		return nil, use.Refuse("noise", "expected 0 or more")
	}
	use.Output.DType = dataline.F32
	use.Draws = noise > 0
	return func(row *dataline.OperatorRow) error {
		var drawn float64
		if noise > 0 {
			drawn = noise * (float64(row.Random(0)>>11) / (1 << 53))
		}
		made := make([]float32, len(row.Input()))
		for at, x := range row.Input() {
			made[at] = float32(float64(x) + value + drawn)
		}
		return dataline.Fill(row, made)
	}, nil
}

type xor struct{}

func (xor) About() dataline.StorageInfo {
	return dataline.StorageInfo{Scheme: "xor", Doc: "files with every byte XORed with 0x5A, for tests"}
}

func (xor) Open(request *dataline.StorageRequest) (dataline.StoredObject, error) {
	path := strings.TrimPrefix(request.Path, "xor://")
	if strings.HasSuffix(path, ".gone") {
		return nil, &dataline.Error{Code: dataline.ErrNotFound, Message: "no such object"}
	}
	file, err := dataline.OpenFile(path, request.Options)
	return xored{file}, err
}

type xored struct{ *dataline.File }

func (x xored) ReadAt(to []byte, offset int64) (int, error) {
	count, err := x.File.ReadAt(to, offset)
	for at := range to[:count] {
		to[at] ^= 0x5A
	}
	return count, err
}

// noExtensions has none yet.
func noExtensions(t testing.TB) *dataline.Extensions {
	t.Helper()
	extensions := must[*dataline.Extensions](t)(dataline.NewExtensions())
	t.Cleanup(func() { check(t, extensions.Close()) })
	return extensions
}

// samples is all three.
func samples(t testing.TB) *dataline.Extensions {
	t.Helper()
	extensions := noExtensions(t)
	check(t, extensions.AddFormat(dlrec{}))
	check(t, extensions.AddOperator(offset{}))
	check(t, extensions.AddStorage(xor{}))
	return extensions
}
