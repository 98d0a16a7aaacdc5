package plan

import (
	"encoding/json"

	"rackboot/protocol/resource"
)

// overridesOf are the values of bootenv-customize for one environment in all sources.
// What has another form is left out here; it is refused where it is merged.
func overridesOf(params []resource.EnvParams, env string) (out []resource.BootEnvOverride) {
	for _, p := range params {
		byEnv, ok := p.Values[resource.ParamBootEnvCustomize].(map[string]any)
		if !ok {
			continue
		}
		raw, err := json.Marshal(byEnv[env])
		var o resource.BootEnvOverride
		if err == nil && json.Unmarshal(raw, &o) == nil {
			out = append(out, o)
		}
	}
	return out
}

// envTemplates are those that a bundle may ask for; see EnvBundle.
func envTemplates(f Fleet, b resource.EnvBundle, overrides []resource.BootEnvOverride) map[string]string {
	var open []string
	ids := func(list []resource.EnvTemplate) {
		for _, t := range list {
			open = append(open, t.ID)
		}
	}
	for _, o := range overrides {
		ids(o.Templates)
	}
	for _, p := range b.Params {
		open = append(open, resource.CalledTemplates(p.Values)...)
	}
	for _, s := range b.Schemas {
		open = append(open, resource.CalledTemplates(s.Schema)...)
	}
	return resource.EnvTemplates(b.Spec, open, func(name string) (string, bool) {
		t := f.Env.template(name)
		if t == nil {
			return "", false
		}
		return t.Spec.Contents, true
	})
}
