// Package types has the types of the contract that Go does not have.
package types

const (
	OptionNone = 0
	OptionSome = 1
	ResultOk   = 0
	ResultErr  = 1
)

// Option is a value or nothing.
type Option[T any] struct {
	value T
	some  bool
}

// Some makes an Option with a value.
func Some[T any](value T) Option[T] {
	return Option[T]{value, true}
}

// None makes an Option without a value.
func None[T any]() Option[T] {
	return Option[T]{}
}

// Tag returns OptionSome or OptionNone.
func (option Option[T]) Tag() uint8 {
	if option.some {
		return OptionSome
	}
	return OptionNone
}

// Get returns the value, and whether there is one.
func (option Option[T]) Get() (T, bool) {
	return option.value, option.some
}

// Some returns the value; it panics if there is none.
func (option Option[T]) Some() T {
	if !option.some {
		panic("there is no value")
	}
	return option.value
}

// Result is what a function returned, or why it failed.
type Result[T, E any] struct {
	ok  T
	err E
	tag uint8
}

// Ok makes the Result of a function that succeeded.
func Ok[T, E any](value T) Result[T, E] {
	return Result[T, E]{ok: value, tag: ResultOk}
}

// Err makes the Result of a function that failed.
func Err[T, E any](value E) Result[T, E] {
	return Result[T, E]{err: value, tag: ResultErr}
}

// Tag returns ResultOk or ResultErr.
func (result Result[T, E]) Tag() uint8 {
	return result.tag
}

// IsErr returns whether the function failed.
func (result Result[T, E]) IsErr() bool {
	return result.tag == ResultErr
}

// Ok returns the value; it panics if the function failed.
func (result Result[T, E]) Ok() T {
	if result.IsErr() {
		panic("the function failed")
	}
	return result.ok
}

// Err returns why the function failed; it panics if it did not.
func (result Result[T, E]) Err() E {
	if !result.IsErr() {
		panic("the function did not fail")
	}
	return result.err
}

// Tuple2 is two values.
type Tuple2[A, B any] struct {
	F0 A
	F1 B
}

// Unit is no value.
type Unit struct{}
