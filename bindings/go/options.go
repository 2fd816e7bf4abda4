// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Option is a setting of a dataset or a loader: With, SampleIndices, Weights, Lengths, CancelWith, LogTo,
// *Extensions. Datasets and loaders copy their options. If a key is set twice, the last value applies.
type Option interface {
	apply(set *optionSet) error
}

// optionSet is a dl_options while a call uses it.
type optionSet struct {
	handle   abi.Handle // nil: all at their defaults
	token    bool       // a cancel token was set
	borrowed bool       // from a request: must not be destroyed
	logger   *slog.Logger
}

func newOptionSet(options []Option) (*optionSet, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	if len(options) == 1 {
		if lent, ok := options[0].(*callerOptions); ok {
			return lent.set()
		}
	}
	set := &optionSet{}
	if len(options) == 0 {
		return set, nil
	}
	if err := call(func(e *abi.Error) int32 { return abi.OptionsCreate(&set.handle, e) }); err != nil {
		return nil, err
	}
	for _, option := range options {
		if option == nil {
			continue
		}
		if err := option.apply(set); err != nil {
			set.destroy()
			return nil, err
		}
	}
	return set, nil
}

func (s *optionSet) destroy() {
	if s.borrowed {
		return
	}
	abi.OptionsDestroy(s.handle)
	s.handle = nil
}

// With contains settings by the keys of Options(), the same as the flags of the program dataline. A value is text in
// the form of the shell ("256", "64MiB", "full"), a number, a bool, or a fmt.Stringer.
//
// ErrUnknownOption names the nearest key, ErrBadOption the expected value.
type With map[string]any

func (w With) apply(set *optionSet) error {
	for _, key := range slices.Sorted(maps.Keys(w)) { // the same error each time
		text, err := optionText(key, w[key])
		if err != nil {
			if _, unknown := set.get(key); unknown != nil { // the name before the type
				return unknown
			}
			return err
		}
		if err := set.set(key, text); err != nil {
			return err
		}
	}
	return nil
}

func (s *optionSet) set(key, value string) error {
	keyText, err := cText("option", key)
	if err != nil {
		return err
	}
	valueText, err := cText(key, value)
	if err != nil {
		return err
	}
	return call(func(e *abi.Error) int32 { return abi.OptionsSet(s.handle, keyText, valueText, e) })
}

func (s *optionSet) get(key string) (string, error) {
	keyText, err := cText("option", key)
	if err != nil {
		return "", err
	}
	var text *byte
	if err := call(func(e *abi.Error) int32 { return abi.OptionsGet(s.handle, keyText, &text, e) }); err != nil {
		return "", err
	}
	return abi.Text(text), nil
}

func optionText(key string, value any) (string, error) {
	if named, ok := value.(fmt.Stringer); ok {
		return named.String(), nil
	}
	switch kind := reflect.ValueOf(value).Kind(); {
	case takesText(key) && kind == reflect.Func:
		return "", localError(ErrBadOption, "option %s: expected text, got %T, which is Go code: a transform is text that names operators, "+
			"as in \"decode, resize(256)\"; put Go code into a Source, or into an operator (Extensions.AddOperator)", key, value)
	case takesText(key) && kind == reflect.Slice:
		items := strings.Trim(fmt.Sprint(value), "[]")
		return "", localError(ErrBadOption, "option %s: expected text, got %T of %s; write one text, separated by commas", key, value, items)
	case kind == reflect.String:
		return fmt.Sprint(value), nil
	case kind == reflect.Bool, reflect.Int <= kind && kind <= reflect.Float64:
		if takesText(key) { // "cache": true is not a directory
			return "", localError(ErrBadOption, "option %s: expected text, got %v", key, value)
		}
		return fmt.Sprint(value), nil
	}
	return "", localError(ErrBadOption, "option '%s': expected text, a number or a bool, got %T", key, value)
}

func takesText(key string) bool {
	table, err := Options()
	return err == nil && slices.ContainsFunc(table, func(info OptionInfo) bool { return info.Key == key && info.Type == OptionText })
}

type optionFunc func(set *optionSet) error

func (f optionFunc) apply(set *optionSet) error { return f(set) }

// SampleIndices is your own order (the option sample_indices). The slice is lent, not copied: it must not change
// until the loaders created with it are closed.
func SampleIndices(indices []int64) Option {
	return optionFunc(func(set *optionSet) error {
		return lend(nil, func(l *loan) error {
			data := pin(l, indices)
			return call(func(e *abi.Error) int32 {
				return abi.OptionsSetIndices(set.handle, data, int64(len(indices)), l.id, e)
			})
		})
	})
}

// Weights is one weight per sample (the option weights), lent as SampleIndices are.
func Weights(weights []float64) Option {
	return optionFunc(func(set *optionSet) error {
		return lend(nil, func(l *loan) error {
			data := pin(l, weights)
			return call(func(e *abi.Error) int32 {
				return abi.OptionsSetWeights(set.handle, data, int64(len(weights)), l.id, e)
			})
		})
	})
}

// Lengths is the length of each sample (the option lengths, for bucket_edges), lent as SampleIndices are.
func Lengths(lengths []int64) Option {
	return optionFunc(func(set *optionSet) error {
		return lend(nil, func(l *loan) error {
			data := pin(l, lengths)
			return call(func(e *abi.Error) int32 {
				return abi.OptionsSetLengths(set.handle, data, int64(len(lengths)), l.id, e)
			})
		})
	})
}

// CancelWith sets a token that ends the opening, and every wait of the loader created with it.
func CancelWith(token *CancelToken) Option {
	return optionFunc(func(set *optionSet) error {
		set.token = true
		return token.use(func(handle abi.Handle) error {
			return call(func(e *abi.Error) int32 { return abi.OptionsSetCancelToken(set.handle, handle, e) })
		})
	})
}

// LogTo sends log messages of the library to a logger: progress as slog.LevelDebug, others as Info and Warn. It also
// reports batches whose Release was forgotten. The logger is called from any thread and must not use this package. It
// is kept until nothing created with the options needs it.
func LogTo(logger *slog.Logger) Option {
	return optionFunc(func(set *optionSet) error {
		if logger == nil {
			return errNil("logger")
		}
		set.logger = logger
		return lend(nil, func(l *loan) error {
			l.logger = logger
			log := &abi.Log{StructSize: uint32(unsafe.Sizeof(abi.Log{})), Context: l.id}
			log.Bind()
			return call(func(e *abi.Error) int32 { return abi.OptionsSetLog(set.handle, log, e) })
		})
	})
}

// Resolve returns the current value of every option that is text, in the library's form: the default if not set, ""
// for none.
func Resolve(options ...Option) (map[string]string, error) {
	set, err := newOptionSet(append([]Option{With{}}, options...))
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	table, err := Options()
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(table))
	for _, info := range table {
		if info.Type.IsArray() {
			continue
		}
		if values[info.Key], err = set.get(info.Key); err != nil {
			return nil, err
		}
	}
	return values, nil
}
