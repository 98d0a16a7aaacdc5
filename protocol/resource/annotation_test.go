package resource

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

const refused = "refused"

// TestRebootAnnotationValues: what metal3's controller makes of each value, as its
// Go struct and encoding/json were run on it, beside what is made of it here. The
// sources: "struct" is baremetal-operator's value type and webhook of 2026-08
// (02aa5059e3), run; "guide" its user guide; "design" metal3-docs
// design/baremetal-operator/reboot-interface.md; "own" has no peer.
func TestRebootAnnotationValues(t *testing.T) {
	for _, row := range []struct{ value, peer, ours, source string }{
		{"", "soft", "soft", "struct, guide"},
		{`{"mode":"soft"}`, "soft", "soft", "struct, guide"},
		{`{"mode":"hard"}`, "hard", "hard", "struct, guide"},
		{`{}`, "soft", "soft", "struct"},
		{`null`, "soft", "soft", "struct"},
		{`{"mode":""}`, "soft", "soft", "struct"},
		{`{"mode":null}`, "soft", "soft", "struct"},
		{` {"mode":"hard"} `, "hard", "hard", "struct"},
		{"{\"mode\":\"hard\"}\n", "hard", "hard", "struct: a YAML block ends so"},
		{"{\t\"mode\" :\r\n\"hard\"}", "hard", "hard", "struct"},
		{`{"mode":"\u0068ard"}`, "hard", "hard", "struct"},
		{`{"force":true}`, "soft force", "soft force", "struct; B22, B23: e2e basic_ops"},
		{`{"force":true,"mode":"hard"}`, "hard force", "hard force", "struct"},
		{`{"force":false,"mode":"hard"}`, "hard", "hard", "struct"},
		{`{"force":null}`, "soft", "soft", "struct"},

		// Refused there by the webhook where it runs, else soft; the seeds' own form.
		{`{'mode':'hard'}`, "refused or soft", "hard", "design, seed 003; V21"},
		{`{'mode':'soft'}`, "refused or soft", "soft", "guide, seed 003"},
		{`{ 'mode' : 'hard' , 'force' : true }`, "refused or soft", "hard force", "own"},
		{`{'mode':"hard"}`, "refused or soft", refused, "own: one kind of quote"},
		{`{'mode':'h\u0061rd'}`, "refused or soft", refused, "own: no escapes there"},

		// Accepted there, and taken for something that nobody wrote.
		{`{"MODE":"hard"}`, "hard", refused, "struct"},
		{`{"Force":true}`, "soft force", refused, "struct"},
		{`{"mode":"hard","mode":"soft"}`, "soft", refused, "struct: the last one wins"},
		{`{"mode":"hard","mode":"hard"}`, "hard", refused, "struct"},
		{`{"force":true,"mode":"hard","x":1}`, "hard force", refused, "struct"},
		{`{"mod":"hard"}`, "soft", refused, "struct"},
		{`{"":"hard"}`, "soft", refused, "struct"},

		{`{"mode":"HARD"}`, "refused or soft", refused, "struct"},
		{`{"mode":"medium"}`, "refused or soft", refused, "struct; B29"},
		{`{"mode":" hard"}`, "refused or soft", refused, "struct"},
		{`{"mode":"hard",}`, "refused or soft", refused, "struct"},
		{`{"mode":"hard"} x`, "refused or soft", refused, "struct"},
		{`{"mode":"hard"}{}`, "refused or soft", refused, "struct"},
		{`{"mode":"hard"`, "refused or soft", refused, "struct; B7"},
		{`hard`, "refused or soft", refused, "struct"},
		{`"hard"`, "refused or soft", refused, "struct"},
		{`""`, "refused or soft", refused, "struct"},
		{`''`, "refused or soft", refused, "own"},
		{`[]`, "refused or soft", refused, "struct"},
		{`0`, "refused or soft", refused, "struct"},
		{`true`, "refused or soft", refused, "struct"},
		{`{"mode":1}`, "refused or soft", refused, "struct"},
		{`{"mode":{"mode":"hard"}}`, "refused or soft", refused, "struct"},
		{`{"mode":["hard"]}`, "refused or soft", refused, "struct"},
		{`{"mode":"hard","force":"x"}`, "refused or hard", refused, "struct: Go goes on after a type error"},
		{`{"mode":"hard","force":1}`, "refused or hard", refused, "struct"},
		{"{\"mode\":\"hard\"}\x00", "refused or soft", refused, "own"},
		{"\x1b[2J", "refused or soft", refused, "own"},
		{"{\"mode\":\"hard\xff\"}", "refused or soft", refused, "own"},
		{"\ufeff{}", "refused or soft", refused, "own"},
		{`{}` + strings.Repeat(" ", maxAnnotation), "soft", refused, "own: it is kept as a ref"},
	} {
		a, err := ParseRebootAnnotation("reboot.metal3.io/k", row.value)
		if got := said(a, err); got != row.ours {
			t.Errorf("%q: %s, want %s (peer: %s; %s): %v", row.value, got, row.ours, row.peer, row.source, err)
		}
		basic, err2 := ParseRebootAnnotation("reboot.metal3.io", row.value)
		if said(basic, err2) != said(a, err) || basic.Key != "" {
			t.Errorf("%q: the basic form is %+v, %v", row.value, basic, err2)
		}
	}
}

func said(a RebootAnnotation, err error) string {
	switch {
	case err != nil && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(protocol.HintOf(err), `{"mode":"hard"}`) || a != (RebootAnnotation{})):
		return "an error that does not help"
	case err != nil:
		return refused
	case a.Force:
		return string(a.Mode) + " force"
	}
	return string(a.Mode)
}

func TestRebootAnnotationNames(t *testing.T) {
	for _, row := range []struct {
		name, key string
		ok        bool
		source    string
	}{
		{"reboot.metal3.io", "", true, "B2"},
		{"reboot.metal3.io/foo", "foo", true, "B3"},
		{"reboot.metal3.io/metal3-remediation-6f0f7c0e", "metal3-remediation-6f0f7c0e", true, "cluster-api-provider-metal3"},
		{"reboot.metal3.io/a/b", "a/b", true, "own: keys of holds may have slashes"},
		{"reboot.metal3.io/" + strings.Repeat("k", 128), strings.Repeat("k", 128), true, "own"},
		{"reboot.metal3.io/" + strings.Repeat("k", 129), "", false, "own"},
		{"reboot.metal3.io/", "", false, "own: a prefix without a key"},
		{"reboot.metal3.io.foo", "", false, "struct"},
		{"example.metal3.io/not-reboot", "", false, "struct; B14"},
		{"Reboot.metal3.io", "", false, "own"},
		{" reboot.metal3.io", "", false, "own"},
		{"reboot.metal3.io/a b", "", false, "own"},
		{"reboot.metal3.io/a\u00a0b", "", false, "own"},
		{"reboot.metal3.io/a\x07", "", false, "own"},
		{"reboot.metal3.io/a\xff", "", false, "own"},
		{"", "", false, "own"},
	} {
		a, err := ParseRebootAnnotation(row.name, "")
		if (err == nil) != row.ok || a.Key != row.key {
			t.Errorf("%q (%s): %+v, %v", row.name, row.source, a, err)
		}
	}
}

// FuzzRebootAnnotation: what is accepted is a hold or a reboot that the hub can
// store, and names no other mode than it says.
func FuzzRebootAnnotation(f *testing.F) {
	for _, v := range []string{"", "{}", "null", `{"mode":"hard"}`, `{'mode':'hard'}`, `{"mode":"hard","force":true}`, `{"mode":"hard",}`, "{\"mode\":\x00}"} {
		f.Add("reboot.metal3.io", v)
		f.Add("reboot.metal3.io/k", v)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		a, err := ParseRebootAnnotation(name, value)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" || a != (RebootAnnotation{}) {
				t.Fatalf("%+v, %v", a, err)
			}
			return
		}
		if a.Mode == StopHard && !strings.Contains(value, "hard") && !strings.Contains(value, `\`) {
			t.Errorf("%q is hard", value)
		}
		h := Hold{Spec: HoldSpec{Server: "n1", Owner: "o", HoldTerms: HoldTerms{Key: a.Key, Mode: a.Mode, Ref: value}}}
		h.Metadata.Name = "h1"
		h.Default()
		if wrong := h.Validate(); a.Key != "" && len(wrong) > 0 {
			t.Errorf("%q=%q is no hold: %v", name, value, wrong)
		}
	})
}
