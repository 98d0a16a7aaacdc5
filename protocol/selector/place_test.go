package selector

import (
	"testing"

	"rackboot/protocol/resource"
)

// site has server n1 in segment boot of rack r1.
type site struct{}

func (site) SegmentRack(segment string) string  { return map[string]string{"boot": "r1"}[segment] }
func (site) ServerSegment(server string) string { return map[string]string{"n1": "boot"}[server] }

func TestEachKindIsInItsRack(t *testing.T) {
	server := &resource.Server{Spec: resource.ServerSpec{SegmentRef: resource.Ref{Name: "boot"}}}
	for name, row := range map[string]struct {
		obj  resource.Object
		want string
	}{
		"rack":                    {&resource.Rack{Header: resource.Header{Metadata: resource.Metadata{Name: "r1"}}}, "r1"},
		"agent":                   {&resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "r1"}}}, "r1"},
		"segment":                 {&resource.Segment{Spec: resource.SegmentSpec{RackRef: resource.Ref{Name: "r1"}}}, "r1"},
		"bmc":                     {&resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: "r1"}}}, "r1"},
		"server":                  {server, "r1"},
		"server elsewhere":        {&resource.Server{Spec: resource.ServerSpec{SegmentRef: resource.Ref{Name: "gone"}}}, ""},
		"claim of a server":       {&resource.Claim{Status: resource.ClaimStatus{Server: "n1"}}, "r1"},
		"claim of a name":         {&resource.Claim{Spec: resource.ClaimSpec{ServerRef: &resource.Ref{Name: "n1"}}}, "r1"},
		"claim that has none yet": {&resource.Claim{}, ""},
		"hold":                    {&resource.Hold{Spec: resource.HoldSpec{Server: "n1"}}, "r1"},
		"hold that says it":       {&resource.Hold{Status: resource.HoldStatus{Rack: "r9"}}, "r9"},
		"maintenance":             {&resource.Maintenance{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "n1"}}}, "r1"},
		"boot configuration":      {&resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "n1"}}, "r1"},
		"secret":                  {&resource.Secret{}, ""},
	} {
		if got := RackOf(row.obj, site{}); got != row.want {
			t.Errorf("%s: rack %q, want %q", name, got, row.want)
		}
	}
}
