package store

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Sets writes sets of resources: what people apply, and what another hub has exported. All of a set are
// checked before any is written.
type Sets struct {
	core    *core
	objects *Objects
	holds   *Holds
	secrets *Secrets
	rules   EnvRules // nil takes any
}

// CheckBootEnv says what is wrong with an environment, with the Templates that are stored.
func (st *Sets) CheckBootEnv(e *resource.BootEnv) protocol.FieldErrors {
	wrong := e.Validate()
	if len(wrong) > 0 || st.rules == nil {
		return wrong
	}
	return st.rules.BootEnv(e, func(name string) (string, bool) {
		t, err := Peek[*resource.Template](st.objects, name)
		if err != nil {
			return "", false
		}
		return t.Spec.Contents, true
	})
}
