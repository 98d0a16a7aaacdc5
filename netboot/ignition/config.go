package ignition

import (
	"encoding/json"
	"strings"

	"github.com/coreos/vcontext/path"
	"github.com/coreos/vcontext/report"

	"rackboot/protocol"
)

// Config is user data as a server gets it.
type Config struct {
	// Version is that of the specification of JSON.
	Version string
	// JSON is the data itself where it was Ignition; rendered where it was Butane.
	JSON []byte
}

const tooLong = "is longer than a server's user data may be"

func wrong(path, message string) protocol.FieldErrors {
	return protocol.FieldErrors{{Path: path, Message: message}}
}

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
