package daemon

import (
	"errors"
	"fmt"

	"rackboot/netboot/bootenv"
	"rackboot/protocol"
)

// envRules judge what describes boot environments when it is applied.
type envRules struct{}

// Param implements store.EnvRules.
func (envRules) Param(p protocol.ParamSpec) error { return bootenv.CheckParam(p) }

// Value implements store.EnvRules.
func (envRules) Value(p protocol.ParamSpec, value any) error {
	return bootenv.CheckValue(p, "the resource", value, false)
}

// Template implements store.EnvRules. What others a text calls is judged with the
// environment that has it.
func (envRules) Template(name, contents string) error {
	b := protocol.EnvBundle{Templates: map[string]string{name: contents}}
	b.Spec.Templates = []protocol.EnvTemplate{{Name: "x", Path: "x", ID: name}}
	for _, f := range bootenv.Lint(b, nil) {
		if f.Severity == bootenv.SeverityError && f.Path == "template "+name {
			return errors.New(findingText(f))
		}
	}
	return nil
}

// BootEnv implements store.EnvRules.
func (envRules) BootEnv(e *protocol.BootEnv, template func(string) (string, bool)) (out protocol.FieldErrors) {
	b := protocol.EnvBundle{BootEnv: e.Metadata.Name, Spec: e.Spec, Templates: protocol.EnvTemplates(e.Spec, nil, template)}
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
