package convert

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode"

	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
)

// Read reads the documents of a file, JSON values one after the other or YAML documents, as mappings,
// lists and scalars. Keys that are given twice, control characters in keys, anchors, tags and what is deeper
// than 64 are refused: each would hide something. The error's code is invalid; it quotes no content, which may
// be secret.
func Read(f File) ([]any, error) {
	if len(f.Data) > MaxFile {
		return nil, wrong(f.Name, "is longer than %d bytes", MaxFile)
	}
	start := bytes.TrimLeft(f.Data, " \t\r\n")
	if len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		return readJSON(f)
	}
	if len(f.Data) > maxYAML {
		return nil, wrong(f.Name, "is longer than %d bytes, as YAML", maxYAML)
	}
	docs, err := manifest.Trees(manifest.Source{Name: f.Name, Data: f.Data}, maxDepth)
	if err != nil {
		first, more, _ := strings.Cut(err.Error(), "\n")
		if more != "" {
			first += "; and more"
		}
		return nil, protocol.Errorf(protocol.CodeInvalid, "read", "%s", first).WithHint("give a file as the tool wrote it, or as JSON")
	}
	for _, d := range docs {
		if !cleanKeys(d) {
			return nil, wrong(f.Name, "has a key with a control character")
		}
	}
	return docs, nil
}

func wrong(name, format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalid, "read "+name, format, args...).WithHint("give a file as the tool wrote it; JSON may be longer than YAML")
}

func cleanKeys(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, v := range v {
			if !cleanKey(k) || !cleanKeys(v) {
				return false
			}
		}
	case []any:
		for _, v := range v {
			if !cleanKeys(v) {
				return false
			}
		}
	}
	return true
}

func cleanKey(k string) bool { return !strings.ContainsFunc(k, unicode.IsControl) }

func readJSON(f File) ([]any, error) {
	d := json.NewDecoder(bytes.NewReader(f.Data))
	d.UseNumber()
	var out []any
	for {
		v, problem := jsonValue(d, 0)
		switch {
		case problem == io.EOF.Error():
			return out, nil
		case problem != "":
			return nil, wrong(f.Name, "byte %d: %s", d.InputOffset(), problem)
		}
		out = append(out, v)
	}
}

// jsonValue reads a value token by token: encoding/json by itself takes the last of two equal keys.
func jsonValue(d *json.Decoder, depth int) (v any, problem string) {
	t, err := d.Token()
	if err == io.EOF && depth == 0 {
		return nil, io.EOF.Error()
	}
	if err != nil {
		return nil, "is no JSON"
	}
	if depth >= maxDepth {
		return nil, "is nested too deep"
	}
	switch t {
	case json.Delim('['):
		out := []any{}
		for d.More() {
			v, problem := jsonValue(d, depth+1)
			if problem != "" {
				return nil, problem
			}
			out = append(out, v)
		}
		return out, closed(d)
	case json.Delim('{'):
		out := map[string]any{}
		for d.More() {
			k, err := d.Token()
			key, is := k.(string)
			if err != nil || !is {
				return nil, "is no JSON"
			}
			if _, twice := out[key]; twice {
				return nil, "a key is given twice"
			}
			if !cleanKey(key) {
				return nil, "a key has a control character"
			}
			v, problem := jsonValue(d, depth+1)
			if problem != "" {
				return nil, problem
			}
			out[key] = v
		}
		return out, closed(d)
	}
	if _, delim := t.(json.Delim); delim {
		return nil, "is no JSON"
	}
	return t, ""
}

func closed(d *json.Decoder) (problem string) {
	if _, err := d.Token(); err != nil {
		return "is no JSON"
	}
	return ""
}
