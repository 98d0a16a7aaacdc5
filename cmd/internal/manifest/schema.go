package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// schema is a JSON Schema of a kind.
type schema struct {
	compiled *jsonschema.Schema
	raw      any
}

// alone is a loader of schemas that loads none: one of a kind refers to nothing outside of itself.
type alone struct{}

// Load implements jsonschema.URLLoader.
func (alone) Load(string) (any, error) {
	return nil, errors.New("a schema refers to nothing outside of itself")
}

func newSchema(raw []byte) (*schema, error) {
	const place = "rackboot:///schema"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(alone{})
	if err := c.AddResource(place, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return nil, err
	}
	return &schema{compiled, doc}, nil
}

// Fit holds the resources against the JSON Schemas of their kinds; one whose kind has none fits. The
// error is [Errors] with everything that does not fit, or invalid for a schema that is none. Values
// are not quoted.
func (s *Set) Fit(schemas map[resource.Kind][]byte) error {
	known := map[resource.Kind]*schema{}
	for k, raw := range schemas {
		compiled, err := newSchema(raw)
		if err != nil {
			return protocol.Errorf(protocol.CodeInvalid, "check by schema", "the schema of %s is none: %w", k, err)
		}
		known[k] = compiled
	}
	var errs Errors
	for i, o := range s.Objects() {
		fits := known[o.Head().Kind]
		if fits == nil {
			continue
		}
		raw, err := json.Marshal(o)
		if secret, is := o.(*resource.Secret); is {
			raw, err = secret.Reveal()
		}
		if err != nil {
			return protocol.Errorf(protocol.CodeInternal, "check by schema", "%w", err)
		}
		wrong, err := fits.check(raw)
		if err != nil {
			return protocol.Errorf(protocol.CodeInternal, "check by schema", "%w", err)
		}
		for _, f := range wrong {
			errs = append(errs, s.At(i, f.Path, f.Message))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// check is what of a JSON value does not fit, in the order of paths.
func (s *schema) check(raw []byte) (protocol.FieldErrors, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	wrong, is := errors.AsType[*jsonschema.ValidationError](s.compiled.Validate(value))
	if !is {
		return nil, nil
	}
	var out protocol.FieldErrors
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			walk(c)
		}
		if len(e.Causes) == 0 {
			s.say(&out, value, e)
		}
	}
	walk(wrong)
	slices.SortFunc(out, func(a, b protocol.FieldError) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// say adds one thing that does not fit.
func (s *schema) say(out *protocol.FieldErrors, value any, e *jsonschema.ValidationError) {
	at := pathOf(value, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		names := s.fields(e.InstanceLocation)
		for _, p := range k.Properties {
			out.Add(join(at, p), "is no field that the hub knows%s; there are %s", meant(p, names), strings.Join(names, ", "))
		}
	case *kind.Required:
		for _, p := range k.Missing {
			out.Add(join(at, p), "is missing")
		}
	case *kind.Enum:
		var words []string
		for _, w := range k.Want {
			if w != nil && w != "" {
				words = append(words, fmt.Sprint(w))
			}
		}
		out.Add(at, "is not one of %s, which the hub knows", strings.Join(words, ", "))
	case *kind.Const:
		out.Add(at, "is not %v", k.Want)
	case *kind.Type:
		out.Add(at, "is %s; the hub takes %s", k.Got, strings.Join(slices.DeleteFunc(slices.Clone(k.Want), func(w string) bool { return w == "null" }), " or "))
	default:
		out.Add(at, "does not fit the hub's schema, by %s", strings.Join(e.ErrorKind.KeywordPath(), "/"))
	}
}

// fields are the names of those at a place, in the order of the alphabet.
func (s *schema) fields(steps []string) []string {
	at := s.raw
	for _, step := range steps {
		here, _ := at.(map[string]any)
		properties, _ := here["properties"].(map[string]any)
		switch {
		case properties[step] != nil:
			at = properties[step]
		case here["items"] != nil:
			at = here["items"]
		default:
			at = here["additionalProperties"]
		}
	}
	here, _ := at.(map[string]any)
	properties, _ := here["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

// pathOf is a place in a value as in YAML: spec.macs[1].
func pathOf(value any, steps []string) (path string) {
	for _, step := range steps {
		switch v := value.(type) {
		case []any:
			path += "[" + step + "]"
			if i, err := strconv.Atoi(step); err == nil && i < len(v) {
				value = v[i]
			}
		case map[string]any:
			path, value = join(path, step), v[step]
		}
	}
	return path
}
