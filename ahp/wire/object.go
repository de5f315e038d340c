package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// object takes members out of a JSON object, strictly: by their exact names and types. The first one that is missing or
// wrong is its err. Members that nobody asks for are ignored, and null is as good as absent.
//
// encoding/json alone does not do: it takes "Data" for "data", and cannot tell what is missing.
type object struct {
	members map[string]json.RawMessage
	err     error // a *fieldError
}

// parseObject returns the object in p.
func parseObject(p []byte) (*object, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(p, &members); err != nil || members == nil {
		return nil, errMust("be an object")
	}
	return &object{members: members}, nil
}

// fieldError says what is wrong with a member, as a sentence.
type fieldError struct {
	field   string // path of the member, as in "terminals[2].claim.kind"; "" for the value itself
	problem string // "is missing"
}

func (e *fieldError) Error() string {
	if e.field == "" {
		return "the value " + e.problem
	}
	return e.field + " " + e.problem
}

var errMissing = &fieldError{problem: "is missing"}

func errMust(what string) *fieldError { return &fieldError{problem: "must " + what} }

// inside returns err as the error of the value that has the one which err is of, as its member or item.
func inside(name string, err error) *fieldError {
	var inner *fieldError
	switch {
	case !errors.As(err, &inner):
		return &fieldError{name, "cannot be read: " + err.Error()}
	case inner.field == "":
		return &fieldError{name, inner.problem}
	case inner.field[0] == '[':
		return &fieldError{name + inner.field, inner.problem}
	default:
		return &fieldError{name + "." + inner.field, inner.problem}
	}
}

func (o *object) fail(name string, err error) {
	if o.err == nil {
		o.err = inside(name, err)
	}
}

// required returns a member that must be there.
func required[T any](o *object, name string, decode func(json.RawMessage) (T, error)) T {
	value := optional(o, name, decode)
	if value == nil {
		o.fail(name, errMissing)
		var zero T
		return zero
	}
	return *value
}

// optional returns a member, or nil if it is absent.
func optional[T any](o *object, name string, decode func(json.RawMessage) (T, error)) *T {
	raw, ok := o.members[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	value, err := decode(raw)
	if err != nil {
		o.fail(name, err)
	}
	return &value
}

// orZero returns what p points to, or the zero value.
func orZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func text(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", errMust("be a string")
	}
	return s, nil
}

// name is a text that names something.
func name(raw json.RawMessage) (string, error) {
	s, err := text(raw)
	if err == nil && s == "" {
		return "", errMust("not be empty")
	}
	return s, err
}

func boolean(raw json.RawMessage) (bool, error) {
	var b bool
	if json.Unmarshal(raw, &b) != nil {
		return false, errMust("be true or false")
	}
	return b, nil
}

func integer(raw json.RawMessage) (int, error) {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return 0, errMust("be an integer")
	}
	return n, nil
}

// count is an integer that counts something.
func count(raw json.RawMessage) (int64, error) {
	var n int64
	if json.Unmarshal(raw, &n) != nil || n < 0 {
		return 0, errMust("be an integer of at least 0")
	}
	return n, nil
}

// raw is any value. It is a copy.
func raw(raw json.RawMessage) (json.RawMessage, error) { return raw, nil }

// rawObject is any object. It is a copy.
func rawObject(raw json.RawMessage) (json.RawMessage, error) {
	if _, err := parseObject(raw); err != nil {
		return nil, err
	}
	return raw, nil
}

func listOf[T any](item func(json.RawMessage) (T, error)) func(json.RawMessage) ([]T, error) {
	return func(raw json.RawMessage) ([]T, error) {
		var raws []json.RawMessage
		if json.Unmarshal(raw, &raws) != nil {
			return nil, errMust("be a list")
		}
		items := make([]T, len(raws))
		for i, raw := range raws {
			err := error(errMust("not be null"))
			if string(raw) != "null" {
				items[i], err = item(raw)
			}
			if err != nil {
				return nil, inside(fmt.Sprintf("[%d]", i), err)
			}
		}
		return items, nil
	}
}

// decoded is a value whose type says how it is read.
func decoded[T any](raw json.RawMessage) (T, error) {
	var value T
	err := json.Unmarshal(raw, &value)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return value, &fieldError{wrong.Field, "must not be a " + wrong.Value}
	}
	return value, err
}
