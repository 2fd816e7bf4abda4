// Which data a dataset holds: its identity, and the files and fingerprints that sources and storages state.
//
// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// exchange puts another file of the same size and time of modification at the path.
func exchange(t testing.TB, path string, value byte) {
	t.Helper()
	info := must[os.FileInfo](t)(os.Stat(path))
	other := path + ".other"
	check(t, os.WriteFile(other, bytes.Repeat([]byte{value}, 8), 0o600))
	check(t, os.Chtimes(other, info.ModTime(), info.ModTime()))
	check(t, os.Rename(other, path))
}

// filed is rows of four bytes of files, opened for each row; two rows a file.
type filed []string

func (filed) Fields() []dataline.Field {
	return []dataline.Field{{Name: "x", DType: dataline.U8, Shape: []int{4}}}
}
func (f filed) Len() int        { return 2 * len(f) }
func (f filed) Files() []string { return f }
func (f filed) Read(index int, record *dataline.Record) error {
	content, err := os.ReadFile(f[index/2])
	if err != nil {
		return err
	}
	return dataline.Put(record, "x", content[index%2*4:index%2*4+4]...)
}

type filedWithEnds struct {
	filed
	ends []int
}

func (f filedWithEnds) FileEnds() []int { return f.ends }

// jobOf is the values of one epoch, the state before it, and how many samples the cache had.
func jobOf(t testing.TB, d *dataline.Dataset, options ...dataline.Option) (values, state string, kept int64) {
	t.Helper()
	l := loaderOf(t, d, options...)
	state = must[string](t)(l.SaveState())
	for b, err := range l.Epoch(background) {
		check(t, err)
		values += string(must[[]byte](t)(dataline.View[byte](b, "x")))
	}
	return values, state, int64(must[dataline.Stats](t)(l.Stats()).CacheRead)
}

func TestTheIdentityOfAFileChangesWithTheFile(t *testing.T) {
	path := file(t, "rows.bin", []byte("aaaaaaaa"))
	identity := func() string {
		d := must[*dataline.Dataset](t)(dataline.Open("raw:" + path + "?dtype=u8&shape=4"))
		defer d.Close()
		return must[string](t)(d.Identity())
	}
	first := identity()
	if second := identity(); second != first {
		t.Error(first, second)
	}
	exchange(t, path, 'b')
	if identity() == first {
		t.Error(first)
	}
}

func TestDataInMemoryHasNoIdentity(t *testing.T) {
	_, err := numbers(t, 3).Identity()
	if details := wants(t, err, dataline.ErrUnsupported); !strings.Contains(details.Message, "data in memory") {
		t.Error(err)
	}
	d := must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{dataline.NewArray("x", count(3))}, nil))
	check(t, d.Close())
	_, err = d.Identity()
	wants(t, err, dataline.ErrClosed)
}

func TestAFileThatASourceStatesIsNoticedByCachesAndStates(t *testing.T) {
	for _, ends := range [][]int{nil, {2, 4}} {
		folder := t.TempDir()
		files := filed{filepath.Join(folder, "a"), filepath.Join(folder, "b")}
		check(t, os.WriteFile(files[0], []byte("aaaaaaaa"), 0o600))
		check(t, os.WriteFile(files[1], []byte("bbbbbbbb"), 0o600))
		open := func() *dataline.Dataset {
			if ends == nil {
				return sourceOf(t, files)
			}
			return sourceOf(t, filedWithEnds{files, ends})
		}
		options := dataline.With{"epochs": 1, "cache": filepath.Join(folder, "cache")}
		values, state, _ := jobOf(t, open(), options)
		if values != "aaaaaaaabbbbbbbb" {
			t.Error(values)
		}
		if _, _, kept := jobOf(t, open(), options); kept != 4 {
			t.Error(kept)
		}
		exchange(t, files[1], 'c')
		values, _, kept := jobOf(t, open(), options)
		if values != "aaaaaaaacccccccc" || kept != int64(len(ends)) { // with FileEnds the rows of the other file stay
			t.Error(values, kept)
		}
		wants(t, loaderOf(t, open(), options).LoadState(state), dataline.ErrStateRefused)
	}
}

func TestFileEndsThatFitNoFilesAreRefused(t *testing.T) {
	for _, c := range []struct {
		ends []int
		says string
	}{
		{[]int{4}, "1 file ends for 2 files"},
		{[]int{3, 2}, "file_ends[1] is 2, expected 3 to 4"},
		{[]int{2, 3}, "file_ends end at 3"},
	} {
		_, err := dataline.FromSource(filedWithEnds{filed{"a", "b"}, c.ends}, nil)
		if details := wants(t, err, dataline.ErrInvalidArgument); !strings.Contains(details.Message, c.says) {
			t.Error(err)
		}
	}
}

// versioned is a storage of one object that states a version.
type versioned struct {
	content string
	version string
}

type object struct {
	*strings.Reader
	version string
}

func (o object) Fingerprint() string { return o.version }

func (v *versioned) About() dataline.StorageInfo { return dataline.StorageInfo{Scheme: "mem"} }
func (v *versioned) Open(*dataline.StorageRequest) (dataline.StoredObject, error) {
	return object{strings.NewReader(v.content), v.version}, nil
}

func TestAnObjectIsTheSameByItsFingerprint(t *testing.T) {
	storage := &versioned{"aaaaaaaa", "v1"}
	extensions := must[*dataline.Extensions](t)(dataline.NewExtensions())
	t.Cleanup(func() { check(t, extensions.Close()) })
	check(t, extensions.AddStorage(storage))
	with := []dataline.Option{extensions, dataline.With{"epochs": 1, "cache": filepath.Join(t.TempDir(), "cache")}}
	open := func() *dataline.Dataset {
		d := must[*dataline.Dataset](t)(dataline.Open("raw:x=mem://x?dtype=u8&shape=4", with...))
		t.Cleanup(func() { check(t, d.Close()) })
		return d
	}
	first := must[string](t)(open().Identity())
	if second := must[string](t)(open().Identity()); second != first {
		t.Error(first, second)
	}
	jobOf(t, open(), with...)
	if values, _, kept := jobOf(t, open(), with...); values != "aaaaaaaa" || kept != 2 {
		t.Error(values, kept)
	}
	*storage = versioned{"bbbbbbbb", "v2"}
	if must[string](t)(open().Identity()) == first {
		t.Error(first)
	}
	if values, _, _ := jobOf(t, open(), with...); values != "bbbbbbbb" {
		t.Error(values)
	}
	storage.version = ""
	_, err := open().Identity()
	wants(t, err, dataline.ErrUnsupported)
	_, err = dataline.NewLoader(open(), with...)
	wants(t, err, dataline.ErrUnsupported)
}
