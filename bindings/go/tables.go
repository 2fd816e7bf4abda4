// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"strings"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// OptionType is the type of an option's value.
type OptionType int32

// The types of options.
const (
	OptionBool    OptionType = abi.DL_OPTION_BOOL
	OptionInt     OptionType = abi.DL_OPTION_INT
	OptionSize    OptionType = abi.DL_OPTION_SIZE // bytes
	OptionWord    OptionType = abi.DL_OPTION_WORD // one of the choices
	OptionText    OptionType = abi.DL_OPTION_TEXT
	OptionIndices OptionType = abi.DL_OPTION_INDICES // an array: SampleIndices
	OptionWeights OptionType = abi.DL_OPTION_WEIGHTS // an array: Weights
	OptionLengths OptionType = abi.DL_OPTION_LENGTHS // an array: Lengths
)

// IsArray reports whether the option is an array, which With cannot set.
func (t OptionType) IsArray() bool {
	return t == OptionIndices || t == OptionWeights || t == OptionLengths
}

const (
	scopeDataset = abi.DL_SCOPE_DATASET
	scopeLoader  = abi.DL_SCOPE_LOADER
)

// OptionInfo describes an option of the library.
type OptionInfo struct {
	Key              string
	Type             OptionType
	OfDataset        bool // applies when a dataset is opened
	OfLoader         bool // applies when a loader is created
	HasRange         bool // Minimum and Maximum apply
	Minimum, Maximum int64
	Default          string // as text; "" for none
	Choices          []string
	Unit             string // "bytes", "samples", ""
	Doc              string
	Since            string
}

// Options returns the library's table of options, the only definition of their keys, defaults and meanings.
func Options() ([]OptionInfo, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	table := make([]OptionInfo, abi.OptionCount())
	raw := &abi.OptionInfo{StructSize: uint32(unsafe.Sizeof(abi.OptionInfo{}))}
	for at := range table {
		if err := call(func(e *abi.Error) int32 { return abi.OptionAt(int32(at), raw, e) }); err != nil {
			return nil, err
		}
		table[at] = OptionInfo{
			Key:       abi.Text(raw.Key),
			Type:      OptionType(raw.Type),
			OfDataset: raw.Scope&scopeDataset != 0,
			OfLoader:  raw.Scope&scopeLoader != 0,
			HasRange:  raw.HasRange != 0,
			Minimum:   raw.Minimum,
			Maximum:   raw.Maximum,
			Default:   abi.Text(raw.DefaultValue),
			Unit:      abi.Text(raw.Unit),
			Doc:       abi.Text(raw.Doc),
			Since:     abi.Text(raw.Since),
		}
		if choices := abi.Text(raw.Choices); choices != "" {
			table[at].Choices = strings.Split(choices, "|")
		}
	}
	return table, nil
}

// TransformInfo is an operator of the option transform.
type TransformInfo struct {
	Name      string
	Arguments []ArgumentInfo
	Doc       string
	Source    string // the definition that it follows
	Since     string
}

// ArgumentInfo is an argument of an operator.
type ArgumentInfo struct {
	Name    string
	Type    string
	Default string // "": required
}

// Transforms returns the library's table of operators.
func Transforms() ([]TransformInfo, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	return transformsOf(nil)
}

func transformsOf(extensions abi.Handle) ([]TransformInfo, error) {
	table := make([]TransformInfo, abi.TransformCount(extensions))
	raw := &abi.TransformInfo{StructSize: uint32(unsafe.Sizeof(abi.TransformInfo{}))}
	for at := range table {
		if err := call(func(e *abi.Error) int32 { return abi.TransformAt(extensions, int32(at), raw, e) }); err != nil {
			return nil, err
		}
		arguments, err := argumentsOf(extensions, int32(at), raw.ArgumentCount)
		if err != nil {
			return nil, err
		}
		table[at] = TransformInfo{
			Name:      abi.Text(raw.Name),
			Arguments: arguments,
			Doc:       abi.Text(raw.Doc),
			Source:    abi.Text(raw.Source),
			Since:     abi.Text(raw.Since),
		}
	}
	return table, nil
}

func argumentsOf(extensions abi.Handle, transform, count int32) ([]ArgumentInfo, error) {
	arguments := make([]ArgumentInfo, count)
	raw := &abi.ArgumentInfo{StructSize: uint32(unsafe.Sizeof(abi.ArgumentInfo{}))}
	for at := range arguments {
		err := call(func(e *abi.Error) int32 { return abi.TransformArgumentAt(extensions, transform, int32(at), raw, e) })
		if err != nil {
			return nil, err
		}
		arguments[at] = ArgumentInfo{abi.Text(raw.Name), abi.Text(raw.Type), abi.Text(raw.DefaultValue)}
	}
	return arguments, nil
}
