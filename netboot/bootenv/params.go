package bootenv

import (
	"errors"
	"fmt"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// DefaultSource is the source of a value that nobody gives: the default of the param's
// schema.
const DefaultSource = "default of the schema"

// source is one source of values.
type source struct {
	name   string
	values map[string]any // normal
	secret []string
}

// params are the values of a server. They do not change.
//
//	asked        | sources that have it          | answer
//	Param        | one or more                   | that of the first: server, profiles in
//	             |                               | their order, group, global
//	Param        | none, a default in the schema | the default
//	Param        | none                          | an error
//	ParamCompose | one or more                   | maps merged key by key with the first
//	             |                               | source winning, lists one after the other,
//	             |                               | of anything else the first
//	ParamCompose | none                          | as Param
type params struct {
	sources []source
	schemas map[string]*schema
}

// newParams checks every value of every source against its schema. Errors are invalid.
func newParams(b resource.EnvBundle) (*params, error) {
	p := &params{schemas: map[string]*schema{}}
	for _, name := range sortedKeys(b.Schemas) {
		s, err := newSchema(b.Schemas[name])
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "check param", "schema of %s: %w", name, err)
		}
		p.schemas[name] = s
	}
	for _, from := range b.Params {
		src := source{name: from.Source, values: map[string]any{}, secret: from.Secret}
		for _, name := range sortedKeys(from.Values) {
			v, err := normal(from.Values[name])
			if err != nil {
				return nil, valueError(from.Source, name, err)
			}
			if s := p.schemas[name]; s != nil {
				if err := s.check(v, !slices.Contains(from.Secret, name)); err != nil {
					return nil, valueError(from.Source, name, err)
				}
			}
			src.values[name] = v
		}
		p.sources = append(p.sources, src)
	}
	return p, nil
}

// Origin says where a value came from that a template used.
type Origin struct {
	Param string `json:"param"`
	// Source is a source of the bundle, or DefaultSource.
	Source string `json:"source"`
	Secret bool   `json:"secret,omitempty"`
}

// held is one value with where it is from.
type held struct {
	value any
	Origin
}

// all are the values of a param, the one that wins first; the default only where nobody
// gives one.
func (p *params) all(name string) []held {
	var out []held
	for _, s := range p.sources {
		if v, ok := s.values[name]; ok {
			out = append(out, held{v, Origin{name, s.name, slices.Contains(s.secret, name)}})
		}
	}
	if s := p.schemas[name]; len(out) == 0 && s != nil && s.hasInitial {
		out = append(out, held{s.initial, Origin{Param: name, Source: DefaultSource}})
	}
	return out
}

// errNoParam is the reason where nobody gives a value.
var errNoParam = errors.New("has no value")

// compose merges the values of a param from all sources.
func compose(all []held) (any, error) {
	if len(all) == 0 {
		return nil, errNoParam
	}
	out := clone(all[0].value)
	for _, next := range all[1:] {
		merged, err := compose2(out, next.value)
		if err != nil {
			return nil, fmt.Errorf("of %s and of %s: %w", all[0].Source, next.Source, err)
		}
		out = merged
	}
	return out, nil
}

// compose2 adds what less says to more, which wins.
func compose2(more, less any) (any, error) {
	switch m := more.(type) {
	case map[string]any:
		l, ok := less.(map[string]any)
		if !ok {
			return nil, errors.New("one is a map and the other is not")
		}
		for k, v := range l {
			if _, ok := m[k]; !ok {
				m[k] = clone(v)
				continue
			}
			_, ours := m[k].(map[string]any)
			if _, theirs := v.(map[string]any); ours && theirs {
				m[k], _ = compose2(m[k], v) // both are maps
			}
		}
		return m, nil
	case []any:
		l, ok := less.([]any)
		if !ok {
			return nil, errors.New("one is a list and the other is not")
		}
		return append(m, clone(l).([]any)...), nil
	}
	return more, nil
}

// secrets are the texts in all secret values.
func (p *params) secrets() []string {
	var out []string
	for _, s := range p.sources {
		for _, name := range s.secret {
			leaves(s.values[name], func(text string) {
				if text != "" && !slices.Contains(out, text) {
					out = append(out, text)
				}
			})
		}
	}
	// The longest first, so that none is left in part.
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// bootloaders are the values of the param bootloaders, the most specific first, its default
// at the end.
func (p *params) bootloaders() ([]map[string]string, error) {
	all := p.all(resource.ParamBootloaders)
	if s := p.schemas[resource.ParamBootloaders]; s != nil && s.hasInitial && (len(all) == 0 || all[len(all)-1].Source != DefaultSource) {
		all = append(all, held{s.initial, Origin{Param: resource.ParamBootloaders, Source: DefaultSource}})
	}
	return readBootloaders(all)
}

func readBootloaders(all []held) ([]map[string]string, error) {
	var out []map[string]string
	for _, h := range all {
		var m map[resource.LoaderKey]string
		if err := strict(h.value, &m, !h.Secret); err != nil {
			return nil, valueError(h.Source, h.Param, err)
		}
		texts := map[string]string{}
		for _, k := range sortedKeys(m) {
			if !slices.Contains(resource.LoaderKeys(), k) {
				return nil, valueError(h.Source, h.Param, fmt.Errorf("names %q, which is not a supported loader type", k))
			}
			if why := pathProblem(m[k]); why != "" {
				return nil, valueError(h.Source, h.Param, fmt.Errorf("has for %s a path that %s", k, why))
			}
			texts[string(k)] = m[k]
		}
		out = append(out, texts)
	}
	return out, nil
}
