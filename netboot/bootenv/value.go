package bootenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
)

// maxDepth bounds how deep values are nested, those of params and those of templates.
const maxDepth = 64

// normal is a value as JSON has it, a copy of its own: whole numbers are int64, because a
// float prints 20000000 as 2e+07. An error names no value.
func normal(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New("is not a JSON value")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		return nil, errors.New("is not a JSON value")
	}
	return numbers(out, 0)
}

func numbers(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("is nested too deep")
	}
	var err error
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, errors.New("has a number that is too large")
		}
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		}
		return f, nil
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i], depth+1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = numbers(v[k], depth+1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// clone copies a normal value, so that a template that changes it changes its own.
func clone(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = clone(v[k])
		}
		return out
	}
	return v
}

// strict reads a normal value into a struct, and refuses fields that it does not have.
// quote says whether the error may say what the value is like.
func strict(v, into any, quote bool) error {
	text, err := json.Marshal(v)
	if err != nil {
		return errors.New("is not a JSON value")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(into)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case !quote:
		return errors.New("has a wrong form")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// leaves calls f with every text in a normal value, keys of maps among them, and with the
// text of its other scalars.
func leaves(v any, f func(string)) {
	switch v := v.(type) {
	case nil, bool:
	case string:
		f(v)
	case []any:
		for i := range v {
			leaves(v[i], f)
		}
	case map[string]any:
		for k := range v {
			f(k)
			leaves(v[k], f)
		}
	default:
		if text, err := json.Marshal(v); err == nil {
			f(string(text))
		}
	}
}
