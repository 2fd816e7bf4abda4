// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"strings"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Sniff is how certain a format is that a file belongs to it.
type Sniff int32

const (
	SniffNo      Sniff = abi.DL_SNIFF_NO
	SniffGuess   Sniff = abi.DL_SNIFF_GUESS
	SniffLikely  Sniff = abi.DL_SNIFF_LIKELY  // a header that other data could start with by chance
	SniffCertain Sniff = abi.DL_SNIFF_CERTAIN // a magic number that is long enough
)

// FormatKey is a key of a format's URIs, as in name:path?key=value.
type FormatKey struct {
	Name       string
	Values     string // allowed words, "error|ignore" (others are rejected), or the kind of value, "INTEGER"
	Default    string
	HasDefault bool
	Doc        string
}

// FormatInfo describes a format.
type FormatInfo struct {
	Name string // 2 to 32 characters of a-z 0-9 _, a letter first
	Doc  string
	Keys []FormatKey
	// Suffixes are file-name suffixes, ".wav"; not in the library's table.
	Suffixes []string
}

// Format is a file format of your own, opened as name:path?key=value. A file without a scheme is matched by content
// (Sniffer) or suffix, if no format of the library matches it with more certainty.
type Format interface {
	About() FormatInfo // called once
	// Open creates the dataset, with any function that does (FromSource, FromArrays, Open). The library takes it over and
	// closes it.
	Open(request *FormatRequest) (*Dataset, error)
}

// Sniffer is a Format that recognises its files by their content.
type Sniffer interface {
	Sniff(file FirstBytes) Sniff
}

// FirstBytes are the first bytes of a file, valid during the call.
type FirstBytes struct {
	Path      string
	Bytes     []byte // up to 512 bytes
	FileBytes int64  // size of the file
}

// FormatRequest is the argument of Format.Open.
type FormatRequest struct {
	Path   string            // one path of the URI; several are opened one by one and concatenated
	Values map[string]string // by key: from the URI, else the default; keys with neither are absent
	// Options are the caller's options, for the files and the dataset that Open creates. They cannot be combined with
	// others, and are valid until Open returns.
	Options Option
}

// addedFormat is a Format in use.
type addedFormat struct {
	format Format
	keys   []FormatKey
}

func formatTable(l *loan, format Format) (*abi.Format, error) {
	about := format.About()
	l.extension = &addedFormat{format, about.Keys}
	table := &abi.Format{
		StructSize: uint32(unsafe.Sizeof(abi.Format{})),
		KeyCount:   int32(len(about.Keys)),
		Context:    l.id,
	}
	keys := make([]abi.FormatKey, len(about.Keys))
	for at, key := range about.Keys {
		keys[at].StructSize = uint32(unsafe.Sizeof(keys[at]))
		fields := []text{{&keys[at].Name, key.Name}, {&keys[at].Values, key.Values}, {&keys[at].Doc, key.Doc}}
		if key.HasDefault {
			fields = append(fields, text{&keys[at].DefaultValue, key.Default})
		}
		if err := pinTexts(l, fields...); err != nil {
			return nil, err
		}
	}
	table.Keys = pin(l, keys)
	return table, pinTexts(l, text{&table.Name, about.Name}, text{&table.Doc, about.Doc},
		text{&table.Suffixes, strings.Join(about.Suffixes, " ")})
}

// text is a member of a struct, and its value.
type text struct {
	to   **byte
	from string
}

func pinTexts(l *loan, texts ...text) (err error) {
	for _, one := range texts {
		if *one.to, err = pinText(l, "extension", one.from); err != nil {
			return err
		}
	}
	return nil
}

func init() {
	abi.Sniff = func(id uintptr, path, bytes *byte, count, fileBytes int64) int32 {
		added := extensionOf[*addedFormat](id)
		sure := SniffNo
		if sniffer, ok := added.format.(Sniffer); ok {
			_ = guarded(func() error {
				sure = sniffer.Sniff(FirstBytes{abi.Text(path), unsafe.Slice(bytes, count), fileBytes})
				return nil
			})
		}
		return int32(sure)
	}
	abi.OpenFormat = func(id uintptr, request *abi.FormatRequest, out *abi.Handle, err *abi.Error) int32 {
		added := extensionOf[*addedFormat](id)
		options := &callerOptions{handle: request.Options}
		defer options.over.Store(true)
		return answer(err, ErrReader, func() error {
			dataset, err := added.format.Open(added.request(request, options))
			if err != nil {
				return err
			}
			*out, err = dataset.leave()
			return err
		})
	}
}

func (f *addedFormat) request(raw *abi.FormatRequest, options Option) *FormatRequest {
	values := make(map[string]string, len(f.keys))
	for at, value := range unsafe.Slice(raw.Values, raw.KeyCount) {
		if value != nil {
			values[f.keys[at].Name] = abi.Text(value)
		}
	}
	return &FormatRequest{abi.Text(raw.Path), values, options}
}

// leave passes the library's dataset on, and closes this one.
func (d *Dataset) leave() (abi.Handle, error) {
	if d == nil {
		return nil, errNil("dataset")
	}
	if !d.handle.enter() {
		return nil, ErrClosed
	}
	d.cleanup.Stop()
	d.handle.destroy = func(abi.Handle) {}
	d.handle.state.Or(closedBit)
	d.handle.leave()
	return d.handle.pointer, nil
}

func formatsOf(extensions abi.Handle) ([]FormatInfo, error) {
	table := make([]FormatInfo, abi.FormatCount(extensions))
	raw := &abi.FormatInfo{StructSize: uint32(unsafe.Sizeof(abi.FormatInfo{}))}
	for at := range table {
		if err := call(func(e *abi.Error) int32 { return abi.FormatAt(extensions, int32(at), raw, e) }); err != nil {
			return nil, err
		}
		table[at] = FormatInfo{Name: abi.Text(raw.Name), Doc: abi.Text(raw.Doc)}
		for number := range raw.KeyCount {
			key := &abi.FormatKey{StructSize: uint32(unsafe.Sizeof(abi.FormatKey{}))}
			err := call(func(e *abi.Error) int32 { return abi.FormatKeyAt(extensions, int32(at), number, key, e) })
			if err != nil {
				return nil, err
			}
			table[at].Keys = append(table[at].Keys, FormatKey{abi.Text(key.Name), abi.Text(key.Values),
				abi.Text(key.DefaultValue), key.DefaultValue != nil, abi.Text(key.Doc)})
		}
	}
	return table, nil
}

// Formats returns the library's table of formats.
func Formats() ([]FormatInfo, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	return formatsOf(nil)
}
