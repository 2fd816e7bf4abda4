// The same job through the program dataline: the same bytes, and states that go from one to the other.
//
// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

var job = dataline.With{"batch_size": 32, "shuffle": "full", "seed": 11, "last_batch": "pad", "epochs": 2}

func jobFlags() (flags []string) {
	for key, value := range job {
		flags = append(flags, fmt.Sprintf("--%s=%v", key, value))
	}
	return flags
}

// records are 1000 of 16 bytes, no two alike.
func records(t testing.TB) string {
	var all []byte
	for at := range uint64(1000) {
		all = binary.LittleEndian.AppendUint64(all, at)
		all = binary.LittleEndian.AppendUint64(all, at*0x9E3779B97F4A7C15)
	}
	return "raw:" + file(t, "records.raw", all) + "?dtype=u8&shape=16"
}

func jobLoader(t testing.TB, uri string, more dataline.With) *dataline.Loader {
	d := must[*dataline.Dataset](t)(dataline.Open(uri))
	t.Cleanup(func() { check(t, d.Close()) })
	return loaderOf(t, d, job, more)
}

// take is the bytes of the next batches, to the end of the job when limit is not reached.
func take(t testing.TB, l *dataline.Loader, limit int) (all []byte) {
	for limit > 0 {
		b, err := l.Next(background)
		if err == dataline.EndOfEpoch {
			continue
		} else if err == dataline.End {
			break
		}
		check(t, err)
		all = append(all, must[[]byte](t)(must[dataline.Tensor](t)(b.Tensor("data")).Bytes())...)
		b.Release()
		limit--
	}
	return all
}

func cat(t testing.TB, uri string, more ...string) []byte {
	return shell(t, append(append([]string{"cat", uri}, jobFlags()...), more...)...)
}

func TestTheBytesOfAJobAreThoseOfDatalineCat(t *testing.T) {
	uri := records(t)
	whole := cat(t, uri)
	if len(whole) != 2*32*32*16 {
		t.Fatal(len(whole), "bytes, expected two epochs of 32 full batches")
	}
	for workers := range 3 {
		if !bytes.Equal(take(t, jobLoader(t, uri, dataline.With{"num_workers": workers}), 1<<30), whole) {
			t.Error("other bytes with", workers, "workers")
		}
	}
}

func TestAStateGoesFromTheShellToGoAndBack(t *testing.T) {
	uri := records(t)
	whole := cat(t, uri)
	state := filepath.Join(t.TempDir(), "state")
	got := cat(t, uri, "--batches", "5", "--save-state", state)
	l := jobLoader(t, uri, nil)
	text, err := os.ReadFile(state)
	check(t, err)
	check(t, l.LoadState(string(text)))
	got = append(got, take(t, l, 40)...) // over the end of the first epoch
	check(t, os.WriteFile(state, []byte(must[string](t)(l.SaveState())), 0o600))
	got = append(got, cat(t, uri, "--load-state", state)...)
	if !bytes.Equal(got, whole) {
		t.Errorf("%d bytes joined, %d in one run, not the same", len(got), len(whole))
	}
}

func TestTransformedBytesAreThoseOfDatalineCat(t *testing.T) {
	uri := records(t)
	transform := "normalize(mean=0.5, std=0.25), cast(bf16)"
	l := jobLoader(t, uri, dataline.With{"transform": transform})
	if !bytes.Equal(take(t, l, 1<<30), cat(t, uri, "--transform", transform)) {
		t.Error("other bytes")
	}
}
