package manifest

import "github.com/goccy/go-yaml"

// FromJSON writes JSON as YAML, with the fields in the same order.
func FromJSON(raw []byte) ([]byte, error) { return yaml.JSONToYAML(raw) }

// Marshal writes a value with yaml tags.
func Marshal(v any) ([]byte, error) { return yaml.Marshal(v) }

// Unmarshal reads one YAML document into a value with yaml tags; fields that
// the value does not have are an error.
func Unmarshal(raw []byte, into any) error {
	return yaml.UnmarshalWithOptions(raw, into, yaml.Strict())
}
