// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// MetricKind is how the value of a Metric changes.
type MetricKind int32

const (
	Counter  MetricKind = abi.DL_METRIC_COUNTER  // only grows
	Gauge    MetricKind = abi.DL_METRIC_GAUGE    // the current value
	Duration MetricKind = abi.DL_METRIC_DURATION // how often and how long
)

// Values of Metric.Thread other than a worker's number.
const (
	ThreadAll      = abi.DL_THREAD_ALL      // all threads together
	ThreadConsumer = abi.DL_THREAD_CONSUMER // the goroutines that call Next
)

// Metric is a row of the table.
type Metric struct {
	Kind MetricKind
	Name string // a counter of the loader, or for durations "next", "between", "work", "wait", "off_cpu", "device"
	Part string // a stage ("read", "image: decode"), or why a worker waits ("no room"); "" if not divided
	Unit string // "ns", "bytes", "samples", ...
	Doc  string
	// Thread is a worker, from 0; ThreadAll; ThreadConsumer.
	Thread int
	Value  int64 // for a duration: the sum
	Count  int64 // for a duration: how often; an estimate, like Value, if only some calls are timed
	Bytes  int64 // for a stage: the bytes it read or wrote
	// P50, P99 and Max: half of the times were at most P50, rounded up by at most an eighth; Max is the longest time.
	P50, P99, Max time.Duration
}

// Metrics is a table that outlives its loader and then returns the final numbers. Several goroutines may use it, also
// while the loader is closed. It is an http.Handler, which Prometheus scrapes:
//
//	http.Handle("/metrics", metrics)
type Metrics struct {
	handle  *handle
	cleanup runtime.Cleanup
}

// Metrics returns the loader's measurements. With stats=full, or after a trace has started, also where the time goes.
func (l *Loader) Metrics() (*Metrics, error) {
	out := new(abi.Handle)
	if err := l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderMetrics(raw, out, e) }); err != nil {
		return nil, err
	}
	m := &Metrics{handle: newHandle(*out, abi.MetricsDestroy, nil)}
	m.cleanup = runtime.AddCleanup(m, (*handle).close, m.handle)
	return m, nil
}

// Close frees the table. Does nothing if called again, or on nil.
func (m *Metrics) Close() error {
	if m != nil && m.handle != nil {
		m.cleanup.Stop()
		m.handle.close()
	}
	return nil
}

// use makes a call on the table.
func (m *Metrics) use(function func(raw abi.Handle, e *abi.Error) int32) error {
	return m.during(func(raw abi.Handle) error { return call(func(e *abi.Error) int32 { return function(raw, e) }) })
}

// during makes several calls on the table.
func (m *Metrics) during(function func(raw abi.Handle) error) error {
	if m == nil {
		return errNil("metrics")
	}
	if !m.handle.enter() {
		return ErrClosed
	}
	defer runtime.KeepAlive(m)
	defer m.handle.leave()
	return function(m.handle.pointer)
}

// Rows returns the current rows.
func (m *Metrics) Rows() ([]Metric, error) {
	var rows []Metric
	err := m.during(func(raw abi.Handle) error {
		row := &abi.Metric{StructSize: uint32(unsafe.Sizeof(abi.Metric{}))}
		for at := range abi.MetricsCount(raw) {
			if err := call(func(e *abi.Error) int32 { return abi.MetricsAt(raw, at, row, e) }); err != nil {
				return err
			}
			rows = append(rows, metricOf(row))
		}
		return nil
	})
	return rows, err
}

func metricOf(raw *abi.Metric) Metric {
	return Metric{
		Kind: MetricKind(raw.Kind), Name: abi.Text(raw.Name), Part: abi.Text(raw.Part), Unit: abi.Text(raw.Unit),
		Doc: abi.Text(raw.Doc), Thread: int(raw.Thread), Value: raw.Value, Count: raw.Count, Bytes: raw.Bytes,
		P50: time.Duration(raw.P50Ns), P99: time.Duration(raw.P99Ns), Max: time.Duration(raw.MaxNs),
	}
}

// Text returns the table in Prometheus's text format 0.0.4, with labels added to each series. A label value may be
// any text. ErrInvalidArgument: a label name that Prometheus does not accept, or that the table already uses.
func (m *Metrics) Text(labels map[string]string) (string, error) {
	joined, err := joinLabels(labels)
	if err != nil {
		return "", err
	}
	var text string
	err = m.during(func(raw abi.Handle) error {
		bytes := new(uintptr)
		write := func(room *byte) error {
			return call(func(e *abi.Error) int32 { return abi.MetricsText(raw, joined, room, bytes, e) })
		}
		if err := write(nil); err != nil {
			return err
		}
		for {
			room := make([]byte, *bytes)
			err := write(&room[0])
			if err == nil {
				text = abi.TextOf(room)
				return nil
			}
			if *bytes <= uintptr(len(room)) { // otherwise the numbers have grown meanwhile
				return err
			}
		}
	})
	return text, err
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func joinLabels(labels map[string]string) (*byte, error) {
	var joined []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if strings.Contains(name, "=") { // otherwise it could be several labels
			return nil, localError(ErrInvalidArgument, "labels: expected a name, got %q", name)
		}
		joined = append(joined, fmt.Sprintf(`%s="%s"`, name, escapes.Replace(labels[name])))
	}
	return cText("labels", strings.Join(joined, ","))
}

// ServeHTTP responds with the table, without labels; Labeled adds some.
func (m *Metrics) ServeHTTP(to http.ResponseWriter, request *http.Request) {
	m.Labeled(nil).ServeHTTP(to, request)
}

// Labeled returns a handler whose series have labels, such as the rank.
func (m *Metrics) Labeled(labels map[string]string) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		text, err := m.Text(labels)
		if err != nil {
			http.Error(to, err.Error(), http.StatusInternalServerError)
			return
		}
		to.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = io.WriteString(to, text)
	})
}
