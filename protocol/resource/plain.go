package resource

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// redacted stands wherever a secret would be printed.
const redacted = "[redacted]"

// cborNull is null in CBOR (RFC 8949, section 3.3).
const cborNull = 0xf6

// Plain is a secret value in clear. It prints, logs and encodes as nothing; whoever
// must have the bytes converts it.
type Plain []byte

// String is not the value.
func (Plain) String() string { return redacted }

// GoString is not the value.
func (Plain) GoString() string { return redacted }

// Format writes no value, whatever the verb.
func (Plain) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) } // as fmt itself does

// LogValue is not the value.
func (Plain) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is null.
func (Plain) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// MarshalCBOR is null.
func (Plain) MarshalCBOR() ([]byte, error) { return []byte{cborNull}, nil }

// SecretData are secret values by name. Like each of them it prints, logs and encodes
// as nothing: only [Secret.Reveal] has them.
type SecretData map[string]Plain

// String is not the data.
func (SecretData) String() string { return redacted }

// GoString is not the data.
func (SecretData) GoString() string { return redacted }

// Format writes no data, whatever the verb.
func (SecretData) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) } // as fmt itself does

// LogValue is not the data.
func (SecretData) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is null.
func (SecretData) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// MarshalCBOR is null.
func (SecretData) MarshalCBOR() ([]byte, error) { return []byte{cborNull}, nil }

// Reveal is the data as JSON, names in order and values in base64: for the hub's vault,
// which encrypts it.
func (d SecretData) Reveal() ([]byte, error) {
	open := make(map[string][]byte, len(d))
	for name, value := range d {
		open[name] = value
	}
	return json.Marshal(open)
}

// Reveal is the Secret as JSON with its data: for the one request that writes it.
func (s *Secret) Reveal() ([]byte, error) {
	data, err := s.Spec.Data.Reveal()
	if err != nil {
		return nil, err
	}
	type spec struct {
		Type SecretType      `json:"type"`
		Data json.RawMessage `json:"data,omitempty"`
	}
	out := struct {
		Header
		Spec spec `json:"spec"`
	}{s.Header, spec{Type: s.Spec.Type}}
	if s.Spec.Data != nil {
		out.Spec.Data = data
	}
	return json.Marshal(out)
}
