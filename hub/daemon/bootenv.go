package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"rackboot/hub/iso"
	"rackboot/netboot/bootenv"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// envRules judge what describes boot environments when it is applied.
type envRules struct {
	shelf *atomic.Pointer[iso.Shelf] // of the uploaded files; nothing while the hub starts
}

func newEnvRules() envRules { return envRules{shelf: &atomic.Pointer[iso.Shelf]{}} }

// lackTimeout bounds how long files in uploaded files are read.
const lackTimeout = 2 * time.Minute

// Param implements store.EnvRules.
func (envRules) Param(p resource.ParamSpec) error { return bootenv.CheckParam(p) }

// Value implements store.EnvRules.
func (envRules) Value(p resource.ParamSpec, value any) error {
	return bootenv.CheckValue(p, "the resource", value, false)
}

// Typed implements store.EnvRules.
func (envRules) Typed(param string, value any) protocol.FieldErrors {
	return bootenv.CheckTyped(param, value)
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
func (r envRules) BootEnv(e *resource.BootEnv, template func(string) (string, bool)) (out protocol.FieldErrors) {
	b := resource.EnvBundle{BootEnv: e.Metadata.Name, Spec: e.Spec, Templates: resource.EnvTemplates(e.Spec, nil, template)}
	for _, f := range bootenv.Lint(b, nil) {
		if f.Severity == bootenv.SeverityError {
			out = append(out, protocol.FieldError{Path: f.Path, Message: findingText(f)})
		}
	}
	if out != nil {
		return out
	}
	return r.lacks(e.Spec)
}

// lacks says what an environment names that is not in the uploaded files that are there.
// What cannot be read is no fault of the environment.
func (r envRules) lacks(spec resource.BootEnvSpec) protocol.FieldErrors {
	if r.shelf == nil || r.shelf.Load() == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lackTimeout)
	defer cancel()
	wrong, err := r.shelf.Load().LacksOf(ctx, spec)
	if err != nil {
		return nil
	}
	return wrong
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
