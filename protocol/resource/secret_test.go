package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const canary = "canary-9f1c-value"

func secretOf(t SecretType, data SecretData) *Secret {
	s := &Secret{Spec: SecretSpec{Type: t, Data: data}}
	s.Metadata.Name = "bmc"
	s.Default()
	return s
}

func account(user, password string) SecretData {
	return SecretData{SecretUsername: Plain(user), SecretPassword: Plain(password)}
}

func TestSecretValidate(t *testing.T) {
	many := SecretData{}
	for i := range MaxSecretNames + 1 {
		many[fmt.Sprintf("k%d", i)] = Plain("x")
	}
	big := func(n int) Plain { return bytes.Repeat([]byte("x"), n) }
	for _, row := range []struct {
		name   string
		secret *Secret
		want   string // in the one error; empty for none
	}{
		{"an account", secretOf(SecretBMC, account("admin", canary)), ""},
		{"as it is read back", secretOf(SecretBMC, nil), ""},
		{"no type", secretOf("", account("admin", canary)), "spec.type"},
		{"unknown type", secretOf("tls", account("admin", canary)), "bmc-credentials"},
		{"empty", secretOf(SecretGeneric, SecretData{}), "spec.data"},
		{"no password", secretOf(SecretBMC, SecretData{SecretUsername: Plain("admin")}), "password and username"},
		{"one too many", secretOf(SecretRegistry, SecretData{SecretUsername: Plain("a"), SecretPassword: Plain("b"), "host": Plain("c")}), "nothing else"},
		{"a registry's account", secretOf(SecretRegistry, account("puller", canary)), ""},
		{"a registry's token", secretOf(SecretRegistry, SecretData{SecretToken: Plain(canary)}), ""},
		{"both", secretOf(SecretRegistry, SecretData{SecretUsername: Plain("a"), SecretPassword: Plain("b"), SecretToken: Plain("c")}), "nothing else"},
		{"a token with a line end", secretOf(SecretRegistry, SecretData{SecretToken: Plain(canary + "\n")}), "line end"},
		{"a token for a BMC", secretOf(SecretBMC, SecretData{SecretToken: Plain("c")}), "password and username"},
		{"a long token", secretOf(SecretRegistry, SecretData{SecretToken: big(MaxSecretRegistry + 1)}), "spec.data.token"},
		{"ignition", secretOf(SecretIgnition, SecretData{"ignition": Plain("{}")}), ""},
		{"ignition of another name", secretOf(SecretIgnition, SecretData{"config": Plain("{}")}), "ignition"},
		{"any names", secretOf(SecretGeneric, SecretData{"tls.key": Plain("x"), "A_b-1": Plain("y")}), ""},
		{"a value as name", secretOf(SecretGeneric, SecretData{canary + " ": Plain("x")}), "one of the names"},
		{"too many", secretOf(SecretGeneric, many), "33"},
		{"a long value", secretOf(SecretGeneric, SecretData{"a": big(MaxSecretValue + 1)}), "spec.data.a"},
		{"much together", secretOf(SecretGeneric, SecretData{"a": big(MaxSecretValue), "b": big(MaxSecretData - MaxSecretValue + 1)}), "together"},
		{"as much as may be", secretOf(SecretGeneric, SecretData{"a": big(MaxSecretValue), "b": big(MaxSecretData - MaxSecretValue)}), ""},
		{"no value", secretOf(SecretGeneric, SecretData{"a": nil}), "spec.data.a"},
		{"a line end, as files have", secretOf(SecretBMC, account("admin", canary+"\n")), "line end"},
		{"a colon (RFC 7617, section 2)", secretOf(SecretBMC, account("ad:min", canary)), "colon"},
		{"a long password", secretOf(SecretBMC, account("admin", strings.Repeat("x", MaxSecretPassword+1))), "spec.data.password"},
		{"a long user", secretOf(SecretBMC, account(strings.Repeat("x", MaxSecretUsername+1), canary)), "spec.data.username"},
		{"no text", secretOf(SecretBMC, account("admin", "\xff")), "control character"},
	} {
		errs := row.secret.Validate()
		switch {
		case row.want == "" && len(errs) > 0, row.want != "" && (len(errs) != 1 || !strings.Contains(errs.Error(), row.want)):
			t.Errorf("%s: %v, want %q", row.name, errs, row.want)
		case strings.Contains(errs.Error(), canary):
			t.Errorf("%s: the error tells a value", row.name)
		}
	}
}

func TestCredentialsRef(t *testing.T) {
	for _, row := range []struct{ ref, local, secret string }{
		{"local:bmc", "bmc", ""},
		{"secret:bmc", "", "bmc"},
		{"bmc", "", ""},
		{"", "", ""},
		{"secret:", "", ""},
		{"secret:A b", "", ""},
		{"local:../x", "", ""},
		{"secret:local:x", "", ""},
		{"vault:x", "", ""},
	} {
		if l, s := LocalOf(row.ref), SecretOf(row.ref); l != row.local || s != row.secret {
			t.Errorf("%q is local %q and secret %q, want %q and %q", row.ref, l, s, row.local, row.secret)
		}
		var f fields
		f.credentialsRef("spec.credentialsRef", row.ref)
		if good := row.local+row.secret != ""; good == (len(f.FieldErrors) > 0) {
			t.Errorf("%q: %v", row.ref, f.FieldErrors)
		}
	}
	b := &BMC{Spec: BMCSpec{RackRef: Ref{"r1"}, CredentialsRef: "secret:bmc"}}
	if refs := b.References(); len(refs) != 2 || refs[0] != (Reference{"spec.credentialsRef", KindSecret, "bmc"}) {
		t.Errorf("a BMC refers to %v", refs)
	}
	s := &Segment{Spec: SegmentSpec{RackRef: Ref{"r1"}, BMCs: &SegmentBMCs{Accept: &AcceptRule{CredentialsRef: "secret:bmc"}}}}
	if refs := s.References(); len(refs) != 2 || refs[1].Kind != KindSecret {
		t.Errorf("a segment's rule refers to %v", refs)
	}
}

// Everything that prints, logs or encodes passes the values over, but Reveal.
func TestSecretsAreNotPrinted(t *testing.T) {
	s := secretOf(SecretBMC, account("admin", canary))
	own := BMCAccount{"admin", canary}
	things := map[string]any{"secret": s, "spec": s.Spec, "data": s.Spec.Data, "plain": s.Spec.Data[SecretPassword], "account": own, "its pointer": &own}
	for name, v := range things {
		var log bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(h).Info("x", "v", v, slog.Group("g", "v", v))
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		out := log.String() + string(raw)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			out += fmt.Sprintf(verb, v)
		}
		for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), strings.Trim(fmt.Sprintf("%d", []byte(canary)), "[]"), "Y2FuYXJ5"} {
			if strings.Contains(out, form) {
				t.Errorf("%s shows %s", name, form)
			}
		}
	}
}

// What is revealed is read back whole by the hub, which decodes a Secret.
func TestReveal(t *testing.T) {
	s := secretOf(SecretBMC, account("admin", canary))
	s.Metadata.Labels = map[string]string{"a": "b"}
	raw, err := s.Reveal()
	if err != nil {
		t.Fatal(err)
	}
	var back Secret
	if err := json.Unmarshal(raw, &back); err != nil || string(back.Spec.Data[SecretPassword]) != canary || back.Metadata.Labels["a"] != "b" || back.Kind != KindSecret {
		t.Errorf("read back as %s (%v)", raw, err)
	}
	if raw, err = secretOf(SecretBMC, nil).Reveal(); err != nil || strings.Contains(string(raw), `"data"`) {
		t.Errorf("without data it is %s (%v)", raw, err)
	}
}

// Whatever is decoded and judged, no error has a value, and what Validate takes is
// bounded.
func FuzzSecret(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"rackboot/v1","kind":"Secret","metadata":{"name":"a"},"spec":{"type":"generic","data":{"k":"Y2FuYXJ5LTlmMWMtdmFsdWU="}}}`))
	f.Add([]byte(`{"spec":{"type":"bmc-credentials","data":{"username":"YQ==","password":"Y2FuYXJ5LTlmMWMtdmFsdWU="}}}`))
	f.Add([]byte(`{"spec":{"data":{"k":1}}}`))
	f.Add([]byte(`{"spec":{"data":{"k":"?"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s Secret
		if json.Unmarshal(raw, &s) != nil {
			return
		}
		s.Default()
		errs := s.Validate()
		inClear := strings.Contains(string(raw), canary) // as a name, which an error may repeat
		if strings.Contains(errs.Error(), canary) && !inClear {
			t.Errorf("the error tells a value: %v", errs)
		}
		total := 0
		for _, v := range s.Spec.Data {
			total += len(v)
		}
		if len(errs) == 0 && (len(s.Spec.Data) > MaxSecretNames || total > MaxSecretData) {
			t.Errorf("%d values of %d bytes are taken", len(s.Spec.Data), total)
		}
	})
}
