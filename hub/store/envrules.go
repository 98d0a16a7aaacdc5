package store

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// EnvRules judge what describes boot environments, beyond what Validate of each resource
// sees. No error has a value.
type EnvRules interface {
	// Param says what is wrong with a schema.
	Param(p resource.ParamSpec) error
	// Value says why a value does not fit its param.
	Value(p resource.ParamSpec, value any) error
	// Typed says what is wrong with a value of a param that has a form whoever describes it;
	// paths are below the value.
	Typed(param string, value any) protocol.FieldErrors
	// Template says what is wrong with a text.
	Template(name, contents string) error
	// BootEnv says what is wrong with an environment; template gives the text of a Template.
	BootEnv(e *resource.BootEnv, template func(name string) (contents string, ok bool)) protocol.FieldErrors
}
