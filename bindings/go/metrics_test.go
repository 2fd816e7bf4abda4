// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// measured is a loader of 100 batches.
func measured(t *testing.T, options dataline.With) *dataline.Loader {
	t.Helper()
	numbers := make([]int64, 1000)
	dataset := must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{dataline.NewArray("x", numbers)}, nil))
	all := dataline.With{"batch_size": 10, "num_workers": 1}
	for key, value := range options {
		all[key] = value
	}
	loader := must[*dataline.Loader](t)(dataline.NewLoader(dataset, all))
	t.Cleanup(func() { loader.Close(); dataset.Close() })
	return loader
}

func wholeEpoch(t *testing.T, loader *dataline.Loader) {
	t.Helper()
	for _, err := range loader.Epoch(background) {
		check(t, err)
	}
}

func rowOf(t *testing.T, metrics *dataline.Metrics, name, part string) dataline.Metric {
	t.Helper()
	for _, row := range must[[]dataline.Metric](t)(metrics.Rows()) {
		if row.Name == name && row.Part == part && row.Thread == dataline.ThreadAll {
			return row
		}
	}
	t.Fatalf("no row %s %s", name, part)
	return dataline.Metric{}
}

func TestMetricsOutliveTheirLoaderAndTellItsLastNumbers(t *testing.T) {
	loader := measured(t, dataline.With{"stats": "full"})
	metrics := must[*dataline.Metrics](t)(loader.Metrics())
	wholeEpoch(t, loader)
	loader.Close()
	if row := rowOf(t, metrics, "batches", ""); row.Value != 100 || row.Kind != dataline.Counter || row.Doc == "" {
		t.Errorf("expected 100 batches, got %+v", row)
	}
	if row := rowOf(t, metrics, "work", "x: copy"); row.Value <= 0 || row.Kind != dataline.Duration || row.Max < row.P50*7/8 {
		t.Errorf("expected time, got %+v", row)
	}
	if stalls := must[[]dataline.Stall](t)(metrics.Stalls()); len(stalls) > 64 {
		t.Errorf("expected 64 stalls at most, got %d", len(stalls))
	}
	check(t, metrics.Close())
	check(t, metrics.Close())
	_, err := metrics.Rows()
	wants(t, err, dataline.ErrClosed)
	_, err = loader.Metrics()
	wants(t, err, dataline.ErrClosed)
}

func TestLabelsMayBeAnyTextAndNamesAreChecked(t *testing.T) {
	metrics := must[*dataline.Metrics](t)(measured(t, nil).Metrics())
	text := must[string](t)(metrics.Text(map[string]string{"job": "a \"b\" \\ \n c", "rank": "3"}))
	if want := `dataline_batches_total{job="a \"b\" \\ \n c",rank="3"} 0` + "\n"; !strings.Contains(text, want) {
		t.Errorf("expected %s in %s", want, text)
	}
	for _, name := range []string{"", "a b", `a="x",b`, "stage"} {
		_, err := metrics.Text(map[string]string{name: "x"})
		wants(t, err, dataline.ErrInvalidArgument)
	}
}

func TestAHandlerAnswersWhileLoadersAreClosed(t *testing.T) {
	var current atomic.Pointer[dataline.Metrics]
	server := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, request *http.Request) {
		current.Load().ServeHTTP(to, request)
	}))
	defer server.Close()
	loader := measured(t, dataline.With{"stats": "full"})
	current.Store(must[*dataline.Metrics](t)(loader.Metrics()))
	over := make(chan struct{})
	var scrapers sync.WaitGroup
	for range 4 {
		scrapers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				answer, err := http.Get(server.URL)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != 200 || !bytes.Contains(body, []byte("\ndataline_batches_total ")) {
					t.Errorf("%v %d %s", err, answer.StatusCode, body)
					return
				}
				if kind := answer.Header.Get("Content-Type"); kind != "text/plain; version=0.0.4; charset=utf-8" {
					t.Error(kind)
				}
			}
		})
	}
	for range 10 {
		loader := measured(t, dataline.With{"stats": "full"})
		current.Store(must[*dataline.Metrics](t)(loader.Metrics()))
		wholeEpoch(t, loader)
		loader.Close()
	}
	close(over)
	scrapers.Wait()
	recorder := httptest.NewRecorder()
	current.Load().Labeled(map[string]string{"rank": "1"}).ServeHTTP(recorder, nil)
	if !strings.Contains(recorder.Body.String(), `dataline_batches_total{rank="1"} 100`) {
		t.Error(recorder.Body.String())
	}
	current.Load().Close()
	recorder = httptest.NewRecorder()
	current.Load().ServeHTTP(recorder, nil)
	if recorder.Code != 500 {
		t.Error(recorder.Code)
	}
}

func TestATraceGoesToAFileOrAWriter(t *testing.T) {
	loader := measured(t, nil)
	var text bytes.Buffer
	check(t, loader.TraceTo(&text))
	wants(t, loader.TraceStart("second.json"), dataline.ErrWrongState)
	wholeEpoch(t, loader)
	check(t, loader.TraceStop())
	path := filepath.Join(t.TempDir(), "trace.json")
	check(t, loader.TraceStart(path))
	wholeEpoch(t, loader)
	loader.Close()
	for _, trace := range [][]byte{text.Bytes(), must[[]byte](t)(os.ReadFile(path))} {
		var parsed struct{ TraceEvents []struct{ Name string } }
		check(t, json.Unmarshal(trace, &parsed))
		if len(parsed.TraceEvents) < 100 {
			t.Errorf("expected 100 events at least, got %d", len(parsed.TraceEvents))
		}
	}
}

type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) {
	if r.err == nil {
		panic("on purpose")
	}
	return 0, r.err
}

func TestAWriterThatFailsEndsTheTraceAndNotTheJob(t *testing.T) {
	loader := measured(t, nil)
	for _, err := range []error{errors.New("full"), syscall.ENOSPC, nil} {
		got := wants(t, loader.TraceTo(refusing{err}), dataline.ErrIO)
		if err == syscall.ENOSPC && got.OSError != syscall.ENOSPC {
			t.Errorf("expected %v, got %v", err, got.OSError)
		}
	}
	wants(t, loader.TraceStart("/dev/full"), dataline.ErrNotAFile)
	wants(t, loader.TraceStart(""), dataline.ErrInvalidArgument)
	wants(t, loader.TraceTo(nil), dataline.ErrInvalidArgument)
	wholeEpoch(t, loader)
	check(t, loader.TraceStop())
}
