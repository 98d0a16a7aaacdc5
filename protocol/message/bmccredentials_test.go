package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// hidden stands for a password.
const hidden = "hidden-3b7e-value"

// Credentials that are printed, logged or encoded by others than Encode are passed over.
func TestCredentialsAreNotPrinted(t *testing.T) {
	c := BMCCredentials{BMCAccount: resource.BMCAccount{Username: "admin", Password: hidden}, Next: &resource.BMCAccount{Username: "admin", Password: hidden}}
	for name, v := range map[string]any{"credentials": c, "their pointer": &c, "next": c.Next} {
		var out bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("x", "v", v, slog.Group("g", "v", v))
		}
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&out, verb, v)
		}
		for _, form := range []string{hidden, fmt.Sprintf("%x", hidden), fmt.Sprintf("%X", hidden), strings.Trim(fmt.Sprintf("%d", []byte(hidden)), "[]"), "aGlkZGVu"} {
			if strings.Contains(out.String(), form) {
				t.Errorf("%s show %s", name, form)
			}
		}
	}
}

// What is sealed is read back whole by the agent, and an error tells nothing of it.
func TestCredentialsEncode(t *testing.T) {
	for _, c := range []BMCCredentials{
		{BMCAccount: resource.BMCAccount{Username: "admin", Password: hidden}},
		{BMCAccount: resource.BMCAccount{Username: "admin", Password: `"<&>`}, Next: &resource.BMCAccount{Username: "own", Password: "x"}},
	} {
		raw, err := c.Encode()
		if err != nil || len(raw)%credentialsPad != 0 {
			t.Fatalf("%d bytes (%v)", len(raw), err)
		}
		got, err := DecodeBMCCredentials(raw)
		if err != nil || got.BMCAccount != c.BMCAccount || (got.Next == nil) != (c.Next == nil) || got.Next != nil && *got.Next != *c.Next {
			t.Errorf("read back as another (%v)", err)
		}
	}
	for _, bad := range []string{"", "{}", `{"username":1}`, `{"password":"` + hidden + `"}`, `{"username":"` + hidden} {
		if _, err := DecodeBMCCredentials([]byte(bad)); protocol.CodeOf(err) != protocol.CodeInvalid || strings.Contains(err.Error(), hidden) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Credentials that were sealed anew are the same way to a BMC; another version is not.
func TestBMCIntentSame(t *testing.T) {
	base := BMCIntent{Name: "b1", CredentialsRef: "secret:x", Sealed: &SealedCredentials{Secret: "x", UID: "u", Version: 2, Enc: []byte("a")}}
	for _, row := range []struct {
		name   string
		change func(*BMCIntent)
		same   bool
	}{
		{"sealed anew", func(b *BMCIntent) { b.Sealed = &SealedCredentials{Secret: "x", UID: "u", Version: 2, Enc: []byte("b")} }, true},
		{"another version", func(b *BMCIntent) { b.Sealed = &SealedCredentials{Secret: "x", UID: "u", Version: 3} }, false},
		{"another secret of the name", func(b *BMCIntent) { b.Sealed = &SealedCredentials{Secret: "x", UID: "v", Version: 2} }, false},
		{"none", func(b *BMCIntent) { b.Sealed = nil }, false},
		{"another address", func(b *BMCIntent) { b.Address = "https://x" }, false},
	} {
		o := base
		row.change(&o)
		if base.Same(o) != row.same || o.Same(base) != row.same {
			t.Errorf("%s: same is %v", row.name, !row.same)
		}
	}
}
