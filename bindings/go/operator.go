// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Operator is an operator of your own for transforms: one field in, one field out, row by row.
type Operator interface {
	// About describes it; called once. Since is ignored, and an argument may have the default "none": absent.
	About() TransformInfo
	// Prepare is called when a loader is created. It checks the arguments and the input, sets the output field in
	// use.Output, and returns the function that makes a row. Several threads call that function concurrently, until the
	// use ends. An error of the function makes the sample bad. Neither may use this package otherwise.
	Prepare(use *OperatorUse) (func(row *OperatorRow) error, error)
}

// ArgumentValue is the value of an argument in a transform.
type ArgumentValue struct {
	Given   bool   // set by the user; otherwise it is the default
	Absent  bool   // the default is "none"
	Text    string // as written, a text without its quotes
	Numbers []float64
}

// OperatorUse is one use of an operator in a transform.
type OperatorUse struct {
	Input Field // of one sample
	// Output starts as the input field; change it as needed. Its name cannot change. Its Bytes matter only for a ragged
	// field: the maximum of one sample, if greater than 0.
	Output Field
	Draws  bool // set it if rows depend on slot, epoch and seed too, not on the input alone
	Heavy  bool // set it if a row takes 100 us or more, so that rows are distributed one by one
	// Released, if set, is called when the use ends. It must not use this package.
	Released func()

	names  []string
	values []ArgumentValue
}

// Argument returns an argument by its name.
func (u *OperatorUse) Argument(name string) (value ArgumentValue, ok bool) {
	if at := u.place(name); at >= 0 {
		return u.values[at], true
	}
	return ArgumentValue{}, false
}

// Number returns an argument that is one number.
func (u *OperatorUse) Number(name string) (float64, error) {
	value, _ := u.Argument(name)
	if len(value.Numbers) != 1 {
		return 0, u.Refuse(name, "expected a number")
	}
	return value.Numbers[0], nil
}

// Refuse returns the error for a wrong argument: its column points to the argument.
func (u *OperatorUse) Refuse(argument, format string, values ...any) error {
	return &argumentError{int32(u.place(argument)), fmt.Sprintf(format, values...)}
}

func (u *OperatorUse) place(name string) int {
	for at := range u.values {
		if u.names[at] == name {
			return at
		}
	}
	return -1
}

type argumentError struct {
	index int32
	text  string
}

func (e *argumentError) Error() string { return e.text }

// addedOperator is an Operator in use.
type addedOperator struct {
	operator Operator
	names    []string
}

// preparedUse is the library's handle of one use.
type preparedUse struct {
	apply         func(row *OperatorRow) error
	input, output DType
	ragged        bool
	released      func()
}

func operatorTable(l *loan, operator Operator) (*abi.Operator, error) {
	about := operator.About()
	added := &addedOperator{operator: operator}
	l.extension = added
	arguments := make([]abi.ArgumentInfo, len(about.Arguments))
	for at, argument := range about.Arguments {
		added.names = append(added.names, argument.Name)
		arguments[at].StructSize = uint32(unsafe.Sizeof(arguments[at]))
		err := pinTexts(l, text{&arguments[at].Name, argument.Name}, text{&arguments[at].Type, argument.Type},
			text{&arguments[at].DefaultValue, argument.Default})
		if err != nil {
			return nil, err
		}
	}
	table := &abi.Operator{
		StructSize:    uint32(unsafe.Sizeof(abi.Operator{})),
		ArgumentCount: int32(len(arguments)),
		Arguments:     pin(l, arguments),
		Context:       l.id,
	}
	return table, pinTexts(l, text{&table.Name, about.Name}, text{&table.Doc, about.Doc},
		text{&table.Source, about.Source})
}

func init() {
	abi.Prepare = func(id uintptr, raw *abi.OperatorUse, err *abi.Error) int32 {
		added := extensionOf[*addedOperator](id)
		return answer(err, ErrBadTransform, func() error { return added.prepare(raw) })
	}
	abi.Apply = func(raw *abi.OperatorRow, err *abi.Error) int32 {
		prepared := extensionOf[*preparedUse](raw.State)
		return answer(err, ErrReader, func() error { return prepared.run(raw) })
	}
	abi.Forget = func(state uintptr) {
		if l := endLoan(state); l != nil {
			if released := l.extension.(*preparedUse).released; released != nil {
				_ = guarded(func() error { released(); return nil })
			}
		}
	}
}

func (o *addedOperator) prepare(raw *abi.OperatorUse) error {
	use := &OperatorUse{Input: fieldOf(raw.Input), names: o.names}
	use.Output = Field{
		Name:  use.Input.Name,
		Kind:  Kind(raw.Kind),
		DType: DType(raw.Dtype),
		Shape: ints(&raw.Shape[0], raw.Rank),
		Axes:  abi.TextOf(raw.Axes[:]),
		Bytes: raw.MaxBytes,
	}
	for at := range int(raw.ArgumentCount) {
		value := raw.Argument(at)
		use.values = append(use.values, ArgumentValue{value.Given != 0, value.Text == nil, abi.Text(value.Text),
			append([]float64(nil), unsafe.Slice(value.Numbers, value.NumberCount)...)})
	}
	apply, err := o.operator.Prepare(use)
	if wrong, ok := err.(*argumentError); ok {
		raw.WrongArgument = wrong.index
		return err
	}
	if err != nil {
		return err
	}
	if apply == nil {
		return errNil("the function that Prepare returned")
	}
	if err := use.tell(raw); err != nil {
		return err
	}
	state := newLoan()
	state.extension = &preparedUse{apply, use.Input.DType, use.Output.DType, use.Output.Kind == Ragged, use.Released}
	raw.State = state.id
	return nil
}

// Writes the output field to the library's struct.
func (u *OperatorUse) tell(raw *abi.OperatorUse) error {
	out := &u.Output
	switch {
	case len(out.Shape) > len(raw.Shape):
		return fmt.Errorf("rank %d: expected at most %d", len(out.Shape), len(raw.Shape))
	case len(out.Axes) >= len(raw.Axes):
		return fmt.Errorf("axes '%s': expected one letter per dim", out.Axes)
	}
	raw.Kind, raw.Dtype, raw.Rank = int32(out.Kind), int32(out.DType), int32(len(out.Shape))
	copy(raw.Shape[:], int64s(out.Shape))
	raw.Axes = [40]byte{}
	copy(raw.Axes[:], out.Axes)
	raw.MaxBytes = -1
	if out.Bytes > 0 {
		raw.MaxBytes = out.Bytes
	}
	raw.Draws, raw.Heavy = flag(u.Draws), flag(u.Heavy)
	return nil
}

func flag(set bool) int32 {
	if set {
		return 1
	}
	return 0
}
