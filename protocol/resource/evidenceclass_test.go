package resource

import (
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

// The classes are a ranking; a word of a later release is nowhere in it.
func TestMeetsTable(t *testing.T) {
	words := append(doctable.Words(EvidenceClasses()...), "sworn")
	doctable.Of(t, "evidenceclass.go", "Meets").HoldOne(t, [][]string{words, words}, func(in []string) string {
		if EvidenceClass(in[0]).Meets(EvidenceClass(in[1])) {
			return "yes"
		}
		return "no"
	})
	if none := EvidenceClass(""); !none.Meets("") || !none.Meets(EvidenceReported) || none.Meets(EvidenceObserved) || !EvidenceReported.Meets("") {
		t.Error("what is recorded without a class is reported, and none required is that")
	}
}

// The weaker of two; what nobody chose, and what nobody knows, is not made into something that is enough.
func TestAtMost(t *testing.T) {
	for _, row := range [][3]EvidenceClass{
		{"", EvidenceObserved, ""},
		{EvidenceReported, EvidenceObserved, EvidenceReported},
		{EvidenceObserved, EvidenceObserved, EvidenceObserved},
		{EvidenceAttested, EvidenceObserved, EvidenceObserved},
		{EvidenceAttested, EvidenceAttested, EvidenceAttested},
		{"sworn", EvidenceAttested, EvidenceAttested},
	} {
		if got := row[0].AtMost(row[1]); got != row[2] {
			t.Errorf("%q, at most %s: %q, want %q", row[0], row[1], got, row[2])
		}
	}
}

// Attested is for racks whose discoveries can have it, and for nothing else.
func TestRequireAttested(t *testing.T) {
	image := &RackDiscovery{Image: "registry.example/probe:1"}
	rack := func(c EvidenceClass, d *RackDiscovery) protocol.FieldErrors {
		r := &Rack{Spec: RackSpec{RequireEvidence: c, Discovery: d}}
		r.Metadata.Name = "r1"
		r.Default()
		return r.Validate()
	}
	claim := func(c EvidenceClass) protocol.FieldErrors {
		return (&Claim{Spec: ClaimSpec{RequireEvidence: c}}).Validate()
	}
	group := func(c EvidenceClass) protocol.FieldErrors {
		return (&ServerGroup{Spec: ServerGroupSpec{RequireEvidence: c}}).Validate()
	}
	for _, row := range []struct {
		name string
		got  protocol.FieldErrors
		want string // of what is said of spec.requireEvidence; empty is nothing
	}{
		{"a rack", rack(EvidenceAttested, image), ""},
		{"a rack without discoveries", rack(EvidenceAttested, nil), "the rack has none"},
		{"a rack whose discoveries boot an environment", rack(EvidenceAttested, &RackDiscovery{BootEnv: &Ref{"probe"}}), "unified kernel image"},
		{"the same, observed", rack(EvidenceObserved, &RackDiscovery{BootEnv: &Ref{"probe"}}), ""},
		{"a rack, by another word", rack("sworn", image), "attested"},
		{"a claim", claim(EvidenceAttested), "what a claim boots can be observed at most"},
		{"a claim, observed", claim(EvidenceObserved), ""},
		{"a claim, by another word", claim("sworn"), "observed"},
		{"a group", group(EvidenceAttested), "give it to the rack"},
	} {
		var said []string
		for _, f := range row.got {
			if f.Path == "spec.requireEvidence" {
				said = append(said, f.Message)
			}
		}
		if (len(said) == 0) != (row.want == "") || !strings.Contains(strings.Join(said, "; "), row.want) {
			t.Errorf("%s: %q, want %q", row.name, said, row.want)
		}
	}
}
