package bootenv

import (
	"context"
	"errors"
	"reflect"

	"rackboot/protocol"
)

// Limits bound one rendering, so that it ends with an error in bounded time and memory
// whatever the templates and values are. They are far above what installers read.
type Limits struct {
	FileBytes  int // of one rendered file
	TotalBytes int // of all rendered files
	Files      int // templates of an environment
	Steps      int // texts, actions, turns of loops and calls of functions, in all
	MadeBytes  int // of what functions return, in all
	ReadBytes  int // of what functions are given, in all, more where they look at it often
	ValueBytes int // of one value that a function is given or returns
	Items      int // of a list that a function makes
	Depth      int // of templates in templates, and of values in values
}

// bounds are the limits.
func bounds() Limits {
	return Limits{
		FileBytes: 4 << 20, TotalBytes: 32 << 20, Files: 256, Steps: 1 << 20,
		MadeBytes: 128 << 20, ReadBytes: 256 << 20, ValueBytes: 4 << 20, Items: 10_000, Depth: maxDepth,
	}
}

// meter counts what a rendering uses. It belongs to one rendering and is not for
// concurrent use.
type meter struct {
	ctx               context.Context
	max               Limits
	steps, made, read int
	written, depth    int
	names             int // of templates expanded while rendering
}

const opRender = "render boot environment"

func tooMuch(format string, args ...any) *protocol.Error {
	return protocol.Errorf(protocol.CodeInvalid, opRender, format, args...).
		WithHint("look for a loop that does not end, or for values that grow with each turn")
}

// tick counts a step, and ends the rendering where its context has ended.
func (m *meter) tick() error {
	m.steps++
	if m.steps > m.max.Steps {
		return tooMuch("the templates take more than %d steps", m.max.Steps)
	}
	if err := m.ctx.Err(); err != nil {
		code := protocol.CodeTimeout
		if errors.Is(err, context.Canceled) {
			code = protocol.CodeUnavailable
		}
		return protocol.Errorf(code, opRender, "ended before all templates were rendered: %w", err)
	}
	return nil
}

// enter and leave count templates in templates.
func (m *meter) enter() (string, error) {
	m.depth++
	if m.depth > m.max.Depth {
		return "", tooMuch("templates call each other %d deep", m.max.Depth)
	}
	return "", m.tick()
}

func (m *meter) leave() string {
	m.depth--
	return ""
}

// use counts what a function is given.
func (m *meter) use(bytes int) error {
	if m.read += bytes; m.read > m.max.ReadBytes {
		return tooMuch("the templates work on more than %d MiB of values", m.max.ReadBytes>>20)
	}
	return m.tick()
}

// make counts what a function returns, or is about to.
func (m *meter) make(bytes int) error {
	if bytes > m.max.ValueBytes {
		return tooMuch("a value has more than %d MiB", m.max.ValueBytes>>20)
	}
	if m.made += bytes; m.made > m.max.MadeBytes {
		return tooMuch("the templates make more than %d MiB of values", m.max.MadeBytes>>20)
	}
	return nil
}

// Sizes of what values cost beside their text, in bytes, and not exact.
const (
	sizeWord   = 16
	sizeOpaque = 64
	sizeRepo   = 1024 // a look at a repository, and its copy
	sizeParse  = 32   // making a template of a byte
	sizeYAML   = 128  // writing YAML for a byte of JSON
	sizeCopy   = 16   // copying or merging a byte by reflection
)

// size is about how many bytes a value has, counted as the tree that printing it would
// walk. What contains itself is nested too deep.
func (m *meter) size(v reflect.Value) (int, error) {
	n := 0
	err := m.add(v, 0, &n)
	return n, err
}

func (m *meter) add(v reflect.Value, depth int, n *int) error {
	if depth > m.max.Depth {
		return tooMuch("a value is nested more than %d deep, or in itself", m.max.Depth)
	}
	if *n > m.max.ValueBytes {
		return tooMuch("a value has more than %d MiB", m.max.ValueBytes>>20)
	}
	*n += sizeWord
	switch v.Kind() {
	case reflect.Interface:
		return m.add(v.Elem(), depth, n)
	case reflect.String:
		*n += v.Len()
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := errors.Join(m.add(it.Key(), depth+1, n), m.add(it.Value(), depth+1, n)); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Interface, reflect.String, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer, reflect.Struct:
			for i := range v.Len() {
				if err := m.add(v.Index(i), depth+1, n); err != nil {
					return err
				}
			}
		default:
			*n += v.Len() * int(v.Type().Elem().Size())
		}
	case reflect.Pointer, reflect.Struct:
		*n += sizeOpaque // ours prints its name, and Sprig's are small
	default:
	}
	if *n > m.max.ValueBytes {
		return tooMuch("a value has more than %d MiB", m.max.ValueBytes>>20)
	}
	return nil
}

// sink takes what one template writes. Every text and action comes by, so that it counts
// the steps.
type sink struct {
	m   *meter
	buf []byte
}

// Write implements io.Writer.
func (s *sink) Write(b []byte) (int, error) {
	if err := s.m.tick(); err != nil {
		return 0, err
	}
	if len(s.buf)+len(b) > s.m.max.FileBytes {
		return 0, tooMuch("a file has more than %d MiB", s.m.max.FileBytes>>20)
	}
	s.buf = append(s.buf, b...)
	return len(b), nil
}
