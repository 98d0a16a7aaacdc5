package manifest

import "github.com/goccy/go-yaml"

// Marshal writes a value with yaml tags.
func Marshal(v any) ([]byte, error) { return yaml.Marshal(v) }

// Unmarshal reads one YAML document into a value with yaml tags; fields that
// the value does not have are an error.
func Unmarshal(raw []byte, into any) error {
	return yaml.UnmarshalWithOptions(raw, into, yaml.Strict())
}
