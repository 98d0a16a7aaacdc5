package bootenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxSchema bounds a schema's JSON, in bytes.
const maxSchema = 64 << 10

// schema is the compiled schema of one param.
type schema struct {
	compiled   *jsonschema.Schema
	initial    any // its default
	hasInitial bool
}

// refuse is a loader of schemas that loads none: a schema refers to nothing outside of
// itself.
type refuse struct{}

// Load implements jsonschema.URLLoader.
func (refuse) Load(string) (any, error) {
	return nil, errors.New("a schema refers to nothing outside of itself")
}

// schemaURL is what the schema calls itself.
const schemaURL = "param:///schema"

// newSchema compiles the schema of a param. The error is for people, and without a hint.
func newSchema(spec resource.ParamSpec) (*schema, error) {
	doc, err := normal(spec.Schema)
	if err != nil {
		return nil, err
	}
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return nil, errors.New("a schema is an object, such as {type: string}")
	}
	if text, err := json.Marshal(doc); err != nil || len(text) > maxSchema {
		return nil, fmt.Errorf("the schema has more than %d bytes", maxSchema)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(refuse{})
	c.AssertFormat()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	s := &schema{}
	if s.compiled, err = c.Compile(schemaURL); err != nil {
		return nil, schemaReason(err)
	}
	if fields, ok := doc.(map[string]any); ok {
		s.initial, s.hasInitial = fields["default"]
	}
	if s.hasInitial {
		if err := s.check(s.initial, true); err != nil {
			return nil, fmt.Errorf("its default %w", err)
		}
	}
	return s, nil
}

// schemaReason is what is wrong with a schema itself, without the library's addresses.
func schemaReason(err error) error {
	if e, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Errorf("it refers to %s; a schema refers to nothing outside of itself", e.URL)
	}
	if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if v, ok := errors.AsType[*jsonschema.ValidationError](e.Err); ok {
			return fmt.Errorf("it is no JSON Schema: %s", reasons(v, true))
		}
	}
	return errors.New(strings.ReplaceAll(err.Error(), schemaURL, "schema"))
}

// check says whether a normal value fits. quote says whether the error may have parts of
// the value in it.
func (s *schema) check(v any, quote bool) error {
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return fmt.Errorf("does not fit the schema: %s", reasons(e, quote))
	}
	return errors.New("does not fit the schema")
}

// reasons are the innermost reasons of a value that does not fit, in an order of their
// own: the library looks at fields in the order of a map.
func reasons(e *jsonschema.ValidationError, quote bool) string {
	var all []string
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			walk(c)
		}
		switch {
		case len(e.Causes) > 0:
		case !quote:
			all = append(all, "by "+strings.Join(e.ErrorKind.KeywordPath(), "/"))
		case len(e.InstanceLocation) > 0:
			all = append(all, "at /"+strings.Join(e.InstanceLocation, "/")+" "+e.DetailedOutput().Error.String())
		default:
			all = append(all, e.DetailedOutput().Error.String())
		}
	}
	walk(e)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > maxSaid {
		all = all[:maxSaid]
	}
	return strings.Join(all, ", ")
}

// CheckParam says what is wrong with the description of a param; the error is invalid.
func CheckParam(spec resource.ParamSpec) error {
	_, err := newSchema(spec)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, "check param", "schema of %s: %w", spec.Name, err).
			WithHint("write a JSON Schema of draft 2020-12, such as {type: string, default: text}")
	}
	return nil
}

// CheckValue says whether a value fits the description of its param; the error is invalid,
// names source and place, and quotes no secret. A built-in param is checked for its own
// form too, as far as one value tells.
func CheckValue(spec resource.ParamSpec, source string, value any, secret bool) error {
	v, err := normal(value)
	if err != nil {
		return valueError(source, spec.Name, err)
	}
	s, err := newSchema(spec)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, "check param", "schema of %s: %w", spec.Name, err)
	}
	if err := s.check(v, !secret); err != nil {
		return valueError(source, spec.Name, err)
	}
	return checkBuiltIn(held{v, Origin{spec.Name, source, secret}})
}

// checkBuiltIn checks the value of one of our own params. Of a secret one nothing is quoted.
func checkBuiltIn(h held) error {
	wrong := CheckTyped(h.Param, h.value)
	switch {
	case len(wrong) == 0:
		return nil
	case h.Secret:
		return valueError(h.Source, h.Param, errors.New("has a wrong form"))
	}
	return valueError(h.Source, h.Param+wrong[0].Path, errors.New(wrong[0].Message))
}

func valueError(source, name string, err error) *protocol.Error {
	return protocol.Errorf(protocol.CodeInvalid, "check param", "%s: params.%s %w", source, name, err).
		WithHint("change the value there; rackctl get param shows what it may be")
}
