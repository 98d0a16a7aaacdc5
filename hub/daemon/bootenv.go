package daemon

import (
	"errors"
	"fmt"

	"rackboot/netboot/bootenv"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// envRules judge what describes boot environments when it is applied.
type envRules struct{}

// Param implements store.EnvRules.
func (envRules) Param(p resource.ParamSpec) error { return bootenv.CheckParam(p) }

// Value implements store.EnvRules.
func (envRules) Value(p resource.ParamSpec, value any) error {
	return bootenv.CheckValue(p, "the resource", value, false)
}

// Template implements store.EnvRules. What others a text calls is judged with the
// environment that has it.
func (envRules) Template(name, contents string) error {
	b := resource.EnvBundle{Templates: map[string]string{name: contents}}
	b.Spec.Templates = []resource.EnvTemplate{{Name: "x", Path: "x", ID: name}}
	for _, f := range bootenv.Lint(b, nil) {
		if f.Severity == bootenv.SeverityError && f.Path == "template "+name {
			return errors.New(findingText(f))
		}
	}
	return nil
}

// BootEnv implements store.EnvRules.
func (envRules) BootEnv(e *resource.BootEnv, template func(string) (string, bool)) (out protocol.FieldErrors) {
	b := resource.EnvBundle{BootEnv: e.Metadata.Name, Spec: e.Spec, Templates: resource.EnvTemplates(e.Spec, nil, template)}
	for _, f := range bootenv.Lint(b, nil) {
		if f.Severity == bootenv.SeverityError {
			out = append(out, protocol.FieldError{Path: f.Path, Message: findingText(f)})
		}
	}
	return out
}

// findingText is a finding without its path.
func findingText(f bootenv.Finding) string {
	text := f.Message
	if f.Line > 0 {
		text = fmt.Sprintf("line %d: %s", f.Line, text)
	}
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}
