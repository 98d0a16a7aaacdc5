package hold

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestWhichHoldAKeyMeans(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	hold := func(id, owner, key string, released bool) *resource.Hold {
		h := &resource.Hold{Spec: resource.HoldSpec{Server: "n1", Owner: owner}}
		h.Metadata.Name, h.Spec.Key = id, key
		if released {
			h.Status.ReleasedAt = &at
		}
		return h
	}
	for _, tt := range []struct {
		name   string
		holds  []*resource.Hold
		breaks bool
		want   string
		code   protocol.Code
	}{
		{name: "none", code: protocol.CodeNotFound},
		{name: "another key", holds: []*resource.Hold{hold("a", "me", "other", false)}, code: protocol.CodeNotFound},
		{name: "one's own", holds: []*resource.Hold{hold("a", "me", "k", false)}, want: "a"},
		{name: "one's own of before", holds: []*resource.Hold{hold("a", "me", "k", true)}, want: "a"},
		{name: "one that lies before one that was released", holds: []*resource.Hold{hold("a", "me", "k", true), hold("b", "me", "k", false)}, want: "b"},
		{name: "the same in the other order", holds: []*resource.Hold{hold("b", "me", "k", false), hold("a", "me", "k", true)}, want: "b"},
		{name: "one's own beside another's", holds: []*resource.Hold{hold("x", "you", "k", false), hold("a", "me", "k", false)}, breaks: true, want: "a"},
		{name: "another's", holds: []*resource.Hold{hold("x", "you", "k", false)}, code: protocol.CodeDenied},
		{name: "another's that was released", holds: []*resource.Hold{hold("x", "you", "k", true)}, code: protocol.CodeNotFound},
		{name: "another's by breaking glass", holds: []*resource.Hold{hold("x", "you", "k", false)}, breaks: true, want: "x"},
		{name: "two others'", holds: []*resource.Hold{hold("x", "you", "k", false), hold("y", "they", "k", false)}, breaks: true, code: protocol.CodeConflict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := keyedBy("me", "k", tt.holds).on("n1", tt.breaks)
			if protocol.CodeOf(err) != tt.code || err == nil && got.Metadata.Name != tt.want {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
