package redact

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"rackboot/protocol"
)

// JSON is a document with each of its strings as [Forms.Text] leaves it, and without the strings, numbers
// and lists that are the values of names such as password. An object below such a name stays, as
// that of secretRef, and what is in it is looked at. Numbers keep their digits, objects not their order. The
// code is invalid for what is not one JSON value.
func (fs Forms) JSON(raw []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "redact", "%w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, protocol.Errorf(protocol.CodeInvalid, "redact", "more than one JSON value")
	}
	return json.Marshal(fs.value(v))
}

func (fs Forms) value(v any) any {
	switch v := v.(type) {
	case string:
		return fs.Text(v)
	case []any:
		for i := range v {
			v[i] = fs.value(v[i])
		}
	case map[string]any:
		for name, below := range v {
			if _, object := below.(map[string]any); !object && below != nil && secretName(name) {
				v[name] = Mark
				continue
			}
			v[name] = fs.value(below)
		}
	}
	return v
}

// secretNames end the names of fields whose values are secrets; case does not matter.
var secretNames = []string{"password", "passwd", "passphrase", "token", "apikey", "api_key", "privatekey", "private_key", "secretkey", "secretaccesskey", "secret_access_key", "authorization", "cookie"}

func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, end := range secretNames {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "secret"
}
