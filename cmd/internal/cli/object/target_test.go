package object

import (
	"testing"

	"rackboot/protocol"
)

func TestSelector(t *testing.T) {
	labels := map[string]string{"row": "7", "site": "a"}
	for text, want := range map[string]bool{"": true, "row=7": true, "row==7": true, "row": true, "row=8": false, "rack": false, "row=7,site=a": true, "row=7, site=b": false, "row=": false} {
		sel, err := parseSelector(text)
		if err != nil || sel.matches(labels) != want {
			t.Errorf("%q: %v, want %v (%v)", text, !want, want, err)
		}
	}
	for _, text := range []string{"=7", "row!=7"} {
		if _, err := parseSelector(text); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
