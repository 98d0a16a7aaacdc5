package path

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"rackboot/protocol/selector"
)

// None is what a missing field is written as, as with kubectl.
const None = "<none>"

// Path is a JSONPath template that was read.
type Path struct{ parsed *jsonpath.JSONPath }

// Template reads a whole template, with text around what is in braces, as -o jsonpath takes it.
func Template(text string) (Path, error) {
	p := jsonpath.New("output").AllowMissingKeys(true)
	return Path{p}, p.Parse(text)
}

// Parse reads one path: .status.phase, status.phase or {.status.phase}.
func Parse(expression string) (Path, error) {
	e := strings.TrimSpace(expression)
	if strings.HasPrefix(e, "{") != strings.HasSuffix(e, "}") {
		return Path{}, fmt.Errorf("path %q has one brace", expression)
	}
	e = strings.TrimPrefix(strings.TrimSuffix(e, "}"), "{")
	if e == "" {
		return Path{}, fmt.Errorf("the path is empty")
	}
	if !strings.HasPrefix(e, ".") && !strings.HasPrefix(e, "[") {
		e = "." + e
	}
	return Template("{" + e + "}")
}

// Execute writes the template of a value that [selector.Plain] made.
func (p Path) Execute(w io.Writer, value any) error {
	return fits(func() error { return p.parsed.Execute(w, value) })
}

// fits is the error of what client-go's JSONPath panics at: it looks into a null as if it were a list.
func fits(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the path does not fit what it is used on: %v", r)
		}
	}()
	return do()
}

// Values are what the path finds in a value that [selector.Plain] made.
func (p Path) Values(value any) ([]any, error) {
	var found [][]reflect.Value
	if err := fits(func() (err error) { found, err = p.parsed.FindResults(value); return err }); err != nil {
		return nil, err
	}
	var out []any
	for _, list := range found {
		for _, v := range list {
			if v.IsValid() && v.CanInterface() {
				out = append(out, v.Interface())
			}
		}
	}
	return out, nil
}

// Text is what the path finds, separated by commas; [None] for nothing.
func (p Path) Text(value any) (string, error) {
	found, err := p.Values(value)
	if err != nil {
		return "", err
	}
	var out []string
	for _, v := range found {
		if v != nil {
			out = append(out, selector.Text(v))
		}
	}
	if len(out) == 0 {
		return None, nil
	}
	return strings.Join(out, ","), nil
}
