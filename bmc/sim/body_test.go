package sim

import (
	"testing"

	"rackboot/protocol"
)

func TestBootPatchRefusals(t *testing.T) {
	tests := []struct{ body, id string }{
		{`{"Boot":{"BootSourceOverrideTarget":"UefiHttp","BootSourceOverrideEnabled":"Once","BootSourceOverrideMode":"UEFI"}}`, ""},
		{`{`, "Base.1.13.MalformedJSON"},
		{`null`, "Base.1.13.MalformedJSON"},
		{`{}`, "Base.1.13.PropertyValueTypeError"},
		{`{"PowerState":"On"}`, "Base.1.13.PropertyNotWritable"},
		{`{"Boot":{"BootSourceOverrideTarget":"Floppy"}}`, "Base.1.13.PropertyValueNotInList"},
		{`{"Boot":{"BootSourceOverrideEnabled":"Twice"}}`, "Base.1.13.PropertyValueNotInList"},
		{`{"Boot":{"BootSourceOverrideTarget":null}}`, "Base.1.13.PropertyValueTypeError"},
		{`{"Boot":{"BootSourceOverrideTarget@Redfish.AllowableValues":["x"]}}`, "Base.1.13.PropertyValueTypeError"},
		{`{"Boot":{"HttpBootUri":"http://x"}}`, "Base.1.13.PropertyUnknown"},
	}
	for _, tt := range tests {
		_, r := parseBootPatch([]byte(tt.body), true)
		id := ""
		if r != nil {
			id = r.id
		}
		if id != tt.id {
			t.Errorf("%s: %q, want %q", tt.body, id, tt.id)
		}
	}
}

func FuzzBodies(f *testing.F) {
	f.Add([]byte(`{"Boot":{"BootSourceOverrideTarget":"UefiHttp","BootSourceOverrideEnabled":"Once"}}`))
	f.Add([]byte(`{"Boot":{"BootSourceOverrideMode":"Legacy"}}`))
	f.Add([]byte(`{"ResetType":"ForceOff"}`))
	f.Add([]byte(`{"ResetType":null,"x":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, refused := parseBootPatch(b, true); refused == nil {
			o := p.apply(protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled, Mode: modeUEFI})
			if o.Target == "" || o.Enabled == "" || o.Mode == "" {
				t.Errorf("%q empties the override: %+v", b, o)
			}
		}
		if kind, refused := parseReset(b); refused == nil && kind == "" {
			t.Errorf("%q is a reset of no type", b)
		}
	})
}
