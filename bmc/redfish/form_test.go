package redfish

import "testing"

// What a BMC names is changed at any step; what it does not name, by a ladder.
func TestFormsOfAnInsert(t *testing.T) {
	full := func() map[string]any {
		return map[string]any{"Image": "http://h/x.iso", "Inserted": true, "WriteProtected": true}
	}
	tests := []struct {
		name  string
		names []string
		n     int
		want  string
	}{
		{"Inserted is refused, late (Supermicro X12)", []string{"Inserted"}, 2, `{"Image":"http://h/x.iso","WriteProtected":true}`},
		{"both", []string{"Inserted", "WriteProtected"}, 0, `{"Image":"http://h/x.iso"}`},
		{"the protocol is missing (Nokia)", []string{"TransferProtocolType"}, 0, `{"Image":"http://h/x.iso","Inserted":true,"TransferProtocolType":"HTTP","WriteProtected":true}`},
		{"nothing is said, first", nil, 0, `{"Image":"http://h/x.iso"}`},
		{"nothing is said, second", nil, 1, `{"Image":"http://h/x.iso","Inserted":true,"TransferProtocolType":"HTTP","WriteProtected":true}`},
		{"nothing is said, last", nil, 4, `{"Image":"http://h/x.iso","Inserted":true,"WriteProtected":true}`},
		{"the image itself", []string{"Image"}, 0, `{"Image":"http://h/x.iso","Inserted":true,"WriteProtected":true}`},
	}
	for _, tt := range tests {
		if got := marshal(t, otherForm(full(), message{names: tt.names}, tt.n, "http")); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	body := full()
	otherForm(body, message{names: []string{"Inserted"}}, 0, "http")
	if len(body) != 3 {
		t.Error("the form that was tried is changed")
	}
}
