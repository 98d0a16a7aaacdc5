package redfish

import (
	"encoding/json"
	"slices"
	"testing"

	"rackboot/bmc"
	"rackboot/protocol"
)

func TestSystemIsReadLeniently(t *testing.T) {
	tests := []struct {
		name  string // what is odd, and where it comes from
		json  string
		power protocol.PowerState
		check func(*system) bool
	}{
		{"plain", `{"PowerState":"Off"}`, protocol.PowerOff, nil},
		{"On", `{"PowerState":"On"}`, protocol.PowerOn, nil},
		{"PoweringOff is not Off (V1)", `{"PowerState":"PoweringOff"}`, protocol.PowerPoweringOff, nil},
		{"PoweringOn", `{"PowerState":"PoweringOn"}`, protocol.PowerPoweringOn, nil},
		{"Paused", `{"PowerState":"Paused"}`, protocol.PowerPaused, nil},
		{"null", `{"PowerState":null}`, protocol.PowerUnknown, nil},
		{"empty", `{"PowerState":""}`, protocol.PowerUnknown, nil},
		{"absent", `{}`, protocol.PowerUnknown, nil},
		{"another spelling", `{"PowerState":"off"}`, protocol.PowerUnknown, nil},
		{"another word", `{"PowerState":"Standby"}`, protocol.PowerUnknown, nil},
		{"our own word", `{"PowerState":"Unreachable"}`, protocol.PowerUnknown, nil},
		{"number", `{"PowerState":0}`, protocol.PowerUnknown, nil},
		{
			"N/A where an object belongs (Cisco, gofish #409)", `{"PowerState":"On","BootProgress":"N/A","Boot":"N/A","Actions":[]}`, protocol.PowerOn,
			func(s *system) bool { return !s.hasBoot && s.progress == "" && s.reset.target == "" },
		},
		{
			"numbers where words belong", `{"PowerState":"On","LastResetTime":7,"Boot":{"BootSourceOverrideTarget":1,"BootSourceOverrideEnabled":"Once"}}`, protocol.PowerOn,
			func(s *system) bool {
				return s.lastResetTime == "" && s.located("/x").boot.override == protocol.Override{Enabled: protocol.OverrideOnce}
			},
		},
		{
			"impossible date (Dell)", `{"PowerState":"On","LastResetTime":"0000-00-00T00:00:00+00:00"}`, protocol.PowerOn,
			func(s *system) bool { return s.lastResetTime == "0000-00-00T00:00:00+00:00" },
		},
		{
			"null target (DGX)", `{"PowerState":"On","Boot":{"BootSourceOverrideTarget":null,"BootSourceOverrideMode":null}}`, protocol.PowerOn,
			func(s *system) bool { return s.hasBoot && s.located("/x").boot.override == protocol.Override{} },
		},
		{"baseboard (GB200)", `{"PowerState":"On","Boot":{}}`, protocol.PowerOn, func(s *system) bool { return !s.bootable() }},
		{
			"odd members in lists", `{"PowerState":"On","Actions":{"#ComputerSystem.Reset":{"target":"/r","ResetType@Redfish.AllowableValues":["On",null,3,"ForceOff"]}}}`, protocol.PowerOn,
			func(s *system) bool {
				return slices.Equal(s.reset.types, []bmc.ResetType{bmc.ResetOn, bmc.ResetForceOff})
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s system
			if err := json.Unmarshal([]byte(tt.json), &s); err != nil {
				t.Fatal(err)
			}
			if s.power != tt.power {
				t.Errorf("power is %s, want %s", s.power, tt.power)
			}
			if tt.check != nil && !tt.check(&s) {
				t.Errorf("read %+v", s)
			}
		})
	}
	for _, bad := range []string{``, `[]`, `"On"`, `null`, `{"PowerState":"Off"`} {
		if err := new(system).UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%q was read as a system", bad)
		}
	}
}

func FuzzSystem(f *testing.F) {
	f.Add([]byte(`{"@odata.id":"/redfish/v1/Systems/1","@odata.etag":"W/\"1\"","PowerState":"Off","Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideTarget@Redfish.AllowableValues":["None","Pxe"]},"Actions":{"#ComputerSystem.Reset":{"target":"/reset","@Redfish.ActionInfo":"/info"}}}`))
	f.Add([]byte(`{"PowerState":null,"Boot":[],"BootProgress":{"LastState":"OSRunning"}}`))
	f.Add([]byte(`{"error":{"code":"x","message":"y","@Message.ExtendedInfo":[{"MessageId":"iLO.2.37.UnableToModifyDuringSystemPOST"}]}}`))
	f.Add([]byte(`{"Parameters":[{"Name":"ResetType","AllowableValues":["On"]}],"Members":[{"@odata.id":"/x"}],"Members@odata.nextLink":"/x"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s system
		err := json.Unmarshal(b, &s)
		if err == nil && s.power == protocol.PowerOff && textOf(fields(b)["PowerState"]) != "Off" {
			t.Errorf("%q was read as Off", b)
		}
		_ = json.Unmarshal(b, new(actionInfo))
		_ = json.Unmarshal(b, new(resource))
		m := parseMessage(b)
		for _, r := range printable(m.id + m.text) {
			if r < ' ' {
				t.Errorf("control character in %q", m.text)
			}
		}
	})
}
