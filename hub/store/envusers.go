package store

import (
	"encoding/json"
	"slices"

	"rackboot/protocol/resource"
)

// envUsers names what would be another thing without a Template or a Param: the
// environments that come to it by a literal, directly or through other Templates, and who
// has a value of the param.
func (objs *Objects) envUsers(kind resource.Kind, name string) (who []string) {
	uses := func(e *resource.BootEnv, called map[string]string) bool {
		_, is := called[name]
		return is
	}
	if kind == resource.KindParam {
		p, err := Peek[*resource.Param](objs, name)
		if err != nil {
			return nil
		}
		name = p.Spec.Name
		for _, o := range Find(objs, ServersByParam, name) {
			who = append(who, reference(resource.KindServer, o.Metadata.Name))
		}
		for _, o := range Find(objs, ProfilesByParam, name) {
			who = append(who, reference(resource.KindProfile, o.Metadata.Name))
		}
		for _, o := range Find(objs, GroupsByParam, name) {
			who = append(who, reference(resource.KindServerGroup, o.Metadata.Name))
		}
		uses = func(e *resource.BootEnv, called map[string]string) bool { return usesParam(e.Spec, called, name) }
	}
	for _, e := range List[*resource.BootEnv](objs) {
		called := resource.EnvTemplates(e.Spec, nil, func(name string) (string, bool) {
			t, err := Peek[*resource.Template](objs, name)
			if err != nil {
				return "", false
			}
			return t.Spec.Contents, true
		})
		if uses(e, called) {
			who = append(who, reference(resource.KindBootEnv, e.Metadata.Name))
		}
	}
	return who
}

// usesParam says whether an environment names a param: in its lists, or in a text of its own
// or of a Template that it calls.
func usesParam(s resource.BootEnvSpec, called map[string]string, name string) bool {
	if slices.Contains(s.RequiredParams, name) || slices.Contains(s.OptionalParams, name) {
		return true
	}
	for _, text := range called {
		if slices.Contains(resource.NamedParams(text), name) {
			return true
		}
	}
	// It is walked as JSON, so that no field is forgotten that is added later.
	var spec any
	raw, err := json.Marshal(s)
	return err == nil && json.Unmarshal(raw, &spec) == nil && slices.Contains(resource.NamedParams(spec), name)
}
