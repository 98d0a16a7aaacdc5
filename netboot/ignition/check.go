package ignition

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/vcontext/path"
	"github.com/coreos/vcontext/report"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Config is user data as a server gets it.
type Config struct {
	// Version is that of the specification of JSON.
	Version string
	// JSON is the data itself where it was Ignition; rendered where it was Butane.
	JSON []byte
}

// maxBytes bounds what is read. Butane may grow when it is rendered.
const maxBytes = resource.MaxIgnition

// Check reads user data. What is wrong with it has paths below $, and no value.
func Check(raw []byte) (Config, protocol.FieldErrors) {
	switch trimmed := bytes.TrimSpace(raw); {
	case len(raw) > maxBytes:
		return Config{}, wrong("$", tooLong)
	case len(trimmed) == 0:
		return Config{}, wrong("$", "is empty")
	case bytes.HasPrefix(trimmed, []byte("#cloud-config")), bytes.HasPrefix(trimmed, []byte("#!")):
		return Config{}, wrong("$", "is for cloud-init; give Ignition or Butane")
	case trimmed[0] == '{':
		return checkJSON(raw)
	default:
		return render(raw)
	}
}

const tooLong = "is longer than a server's user data may be"

func wrong(path, message string) protocol.FieldErrors {
	return protocol.FieldErrors{{Path: path, Message: message}}
}

func checkJSON(raw []byte) (Config, protocol.FieldErrors) {
	var head struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
		Version1 json.RawMessage `json:"ignitionVersion"`
	}
	if errs := decode(raw, &head); errs != nil {
		return Config{}, errs
	}
	out := Config{Version: head.Ignition.Version, JSON: raw}
	switch {
	case out.Version == "" && head.Version1 != nil:
		return check1(raw)
	case out.Version == "":
		return Config{}, wrong("$.ignition.version", "is missing")
	case slices.Contains(versions2, out.Version):
		if errs := check2(raw); len(errs) > 0 {
			return Config{}, errs
		}
		return out, nil
	case !slices.Contains(versions3, out.Version):
		return Config{}, wrong("$.ignition.version", "is not one of "+strings.Join(slices.Concat(versions2, versions3), ", "))
	}
	if _, r, err := v3_6.ParseCompatibleVersion(raw); err != nil || r.IsFatal() {
		return Config{}, problems(r)
	}
	return out, nil
}

// check1 checks specification 1, which old images read, and groups' stubs are written in.
func check1(raw []byte) (Config, protocol.FieldErrors) {
	t, r := parseTree(raw)
	if r == nil {
		if _, r = headOf(t); r == nil {
			_, r = read1(t)
		}
	}
	if r != nil {
		return Config{}, wrong(r.Path, r.Message)
	}
	return Config{Version: "1", JSON: raw}, nil
}

var versions2 = []string{"2.0.0", "2.1.0", "2.2.0", "2.3.0", "2.4.0"}

var versions3 = []string{"3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0"}

// decode reads JSON. The decoder's own words are left out: they quote.
func decode(raw []byte, into any) protocol.FieldErrors {
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	if e, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // Unmarshal does not wrap it
		return wrong(known("$."+e.Field), "has the wrong type")
	}
	return wrong("$", "is not JSON")
}

// problems are what a library found, without its words where they may quote.
func problems(r report.Report) (out protocol.FieldErrors) {
	for _, e := range r.Entries {
		if e.Kind.IsFatal() {
			out = append(out, protocol.FieldError{Path: pathOf(e.Context), Message: plain(e.Message)})
		}
	}
	if len(out) == 0 {
		return wrong("$", notValid)
	}
	const most = 20
	return out[:min(len(out), most)]
}

// pathOf writes a path as people do.
func pathOf(c path.ContextPath) string {
	var b strings.Builder
	b.WriteString("$")
	for _, part := range c.Path {
		switch p := part.(type) {
		case int:
			b.WriteString("[" + itoa(p) + "]")
		case string:
			b.WriteString("." + p)
		}
	}
	return known(b.String())
}
