package selector

import (
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestSelector(t *testing.T) {
	labels := map[string]string{"row": "7", "empty": "", "zone": "a"}
	for text, want := range map[string]bool{
		"": true, "row": true, "row=7": true, "row==7": true, "row=7,empty": true, "empty=": true, " row = 7 , zone": true,
		"row=8": false, "column": false, "row=7,column": false, "row=": false,
		"row!=8": true, "row!=7": false, "column!=1": true, "!column": true, "!row": false,
		"row in (7,8)": true, "row in (8)": false, "row notin (8,9)": true, "row notin (7)": false, "row in (6, 7),zone=a": true,
		"column notin (1)": true, "column in (1)": false,
	} {
		s, err := Parse(text)
		if err != nil || s.Matches(labels) != want {
			t.Errorf("%q: %v, %v, want %v", text, s.Matches(labels), err, want)
		}
	}
	for _, text := range []string{"=7", "!", "row in 7", "row in (7", "row on (7)", "in (7)", "a b", "!=7", "row in (7) x"} {
		if _, err := Parse(text); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFields(t *testing.T) {
	s := &resource.Server{}
	s.Metadata.Name, s.Metadata.Labels, s.Metadata.Generation = "n1", map[string]string{"row": "7"}, 3
	s.Status.Phase = resource.PhaseReserved
	s.Status.Conditions = []resource.ConditionState{{Code: resource.CondHeld}, {Code: resource.CondStale}}
	plain, err := Plain(s)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"": true, "metadata.name=n1": true, "metadata.name==n1": true, "metadata.name!=n1": false, "status.phase=Reserved": true,
		"status.phase=Available": false, "metadata.labels.row=7": true, "metadata.labels.none=": true, "metadata.generation=3": true,
		"status.claim=": true, "status.claim!=": false, "status.phase=Reserved,metadata.name=n2": false,
		"status.conditions.code=Stale": true, "status.conditions.code=Dark": false, "status.conditions.code!=Dark": true, "status.conditions.code!=Held": false,
		"spec.disablePowerOff=": true, "status.report.observation.power!=On": true,
	} {
		f, err := ParseFields(text, resource.KindServer)
		if err != nil || f.Matches(plain) != want {
			t.Errorf("%q: %v, %v, want %v", text, f.Matches(plain), err, want)
		}
	}
	for _, text := range []string{"=7", "status.phase", "status.phse=Reserved", "spec=1", "status.conditions=1", "kind.x=1"} {
		if _, err := ParseFields(text, resource.KindServer); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What was read is written and read again as the same.
func FuzzSelector(f *testing.F) {
	for _, s := range []string{"a=b", "a in (b,c),!d", "a!=b", "a,b", "((", "a notin ()", "0\n0=", "a===", "a==", "a=b=c"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, fields string) {
		_, _ = ParseFields(fields, resource.KindClaim)
		s, err := Parse(text)
		if err != nil || strings.ContainsAny(text, "()") {
			return
		}
		again, err := Parse(s.String())
		if err != nil {
			t.Fatalf("%q was read, and what it says, %q, is not: %v", text, s, err)
		}
		if a, b := s.String(), again.String(); a != b {
			t.Errorf("%q is %q and then %q", text, a, b)
		}
	})
}
