package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

const (
	mac1   = "3c:ec:ef:00:00:01"
	mac2   = "3c:ec:ef:00:00:02"
	print1 = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// bmcFleet is a rack r0 with a segment of each role and no BMC.
func bmcFleet() Fleet {
	f := makeFleet(2, 0)
	f.BMCs = nil
	for _, role := range []resource.SegmentRole{resource.SegmentBoot, resource.SegmentBMC} {
		f.Segments = append(f.Segments, named(&resource.Segment{Spec: resource.SegmentSpec{
			RackRef: resource.Ref{Name: "r0"}, Prefix: "10.7.0.0/24", Address: "10.7.0.1", Role: role,
			Pool: resource.Pool{From: "10.7.0.100", To: "10.7.0.200"},
		}}, string(role)))
	}
	return f
}

func (f *Fleet) rule(r resource.AcceptRule) {
	f.Segments[1].Spec.BMCs = &resource.SegmentBMCs{MACPrefixes: []string{"3c:ec:ef"}, Accept: &r}
}

func bmcOf(name, rack, address, mac string) *resource.BMC {
	return named(&resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: rack}, Address: address, MACAddress: mac, CredentialsRef: "local:x"}}, name)
}

func pendingOf(name, rack, address, mac string) *resource.BMC {
	b := bmcOf(name, rack, address, mac)
	b.Status.State, b.Spec.CredentialsRef = resource.BMCPending, ""
	return b
}

func lease(mac, address string) resource.FoundBMC {
	return resource.FoundBMC{Segment: "bmc", By: resource.FoundByLease, MAC: mac, Address: address, Fingerprint: print1}
}

func scanned(mac, address string) resource.FoundBMC {
	f := lease(mac, address)
	f.By = resource.FoundByScan
	return f
}

// TestFindingsTable compares the table above Findings with its rule.
func TestFindingsTable(t *testing.T) {
	rows := tableOf(t, "found.go", "known", "rule", "becomes")
	for _, k := range []string{"no", "Pending", "Accepted"} {
		for _, rule := range []string{"no", "yes"} {
			want := rowOf(t, rows, k, rule)[0]
			got := string(becomes(k, rule == "yes"))
			if k == "Accepted" && got == "Accepted" {
				got = "as it is"
			}
			if got != want {
				t.Errorf("known %s, rule %s: %s, the table says %s", k, rule, got, want)
			}
		}
	}
}

func TestFindings(t *testing.T) {
	trust := resource.AcceptRule{CredentialsRef: "local:bmc", TrustFirst: true}
	for name, c := range map[string]struct {
		change func(*Fleet)
		found  []resource.FoundBMC
		want   string // name state mac address[ by whom]
	}{
		"lease":                {nil, []resource.FoundBMC{lease(mac1, "https://10.7.0.130")}, "bmc-3cecef000001 Pending 3c:ec:ef:00:00:01 https://10.7.0.130"},
		"lease in upper case":  {nil, []resource.FoundBMC{lease("3C-EC-EF-00-00-01", "https://10.7.0.130/")}, "bmc-3cecef000001 Pending 3c:ec:ef:00:00:01 https://10.7.0.130"},
		"scan":                 {nil, []resource.FoundBMC{scanned("", "https://10.7.0.130")}, "bmc-10-7-0-130 Pending  https://10.7.0.130"},
		"scan at another port": {nil, []resource.FoundBMC{scanned("", "https://10.7.0.130:8443")}, "bmc-10-7-0-130-8443 Pending  https://10.7.0.130:8443"},
		"scan of a neighbour, stays where it is": {
			nil, []resource.FoundBMC{scanned(mac1, "https://10.7.0.130")}, "bmc-3cecef000001 Pending  https://10.7.0.130",
		},
		"not on a segment of BMCs": {nil, []resource.FoundBMC{{Segment: "boot", By: resource.FoundByLease, MAC: mac1, Address: "https://10.7.0.130"}}, ""},
		"no such segment":          {nil, []resource.FoundBMC{{Segment: "x", By: resource.FoundByLease, MAC: mac1, Address: "https://10.7.0.130"}}, ""},
		"in no way":                {nil, []resource.FoundBMC{{Segment: "bmc", MAC: mac1, Address: "https://10.7.0.130"}}, ""},
		"a lease without a MAC":    {nil, []resource.FoundBMC{lease("", "https://10.7.0.130")}, ""},
		"at a name":                {nil, []resource.FoundBMC{lease(mac1, "https://bmc.example")}, ""},
		"over http":                {nil, []resource.FoundBMC{lease(mac1, "http://10.7.0.130")}, ""},
		"with a path":              {nil, []resource.FoundBMC{lease(mac1, "https://10.7.0.130/redfish")}, ""},

		"the rule pins what was shown": {func(f *Fleet) { f.rule(trust) }, []resource.FoundBMC{lease(mac1, "https://10.7.0.130")}, "bmc-3cecef000001 Accepted 3c:ec:ef:00:00:01 https://10.7.0.130 segment/bmc local:bmc " + print1},
		"the rule has a CA":            {func(f *Fleet) { f.rule(resource.AcceptRule{CredentialsRef: "local:bmc", CA: "pem"}) }, []resource.FoundBMC{lease(mac1, "https://10.7.0.130")}, "bmc-3cecef000001 Accepted 3c:ec:ef:00:00:01 https://10.7.0.130 segment/bmc local:bmc pem"},
		"the rule, and nothing shown": {
			func(f *Fleet) { f.rule(trust) },
			[]resource.FoundBMC{{Segment: "bmc", By: resource.FoundByLease, MAC: mac1, Address: "https://10.7.0.130"}},
			"bmc-3cecef000001 Pending 3c:ec:ef:00:00:01 https://10.7.0.130",
		},
		"the rule, another maker": {func(f *Fleet) { f.rule(trust) }, []resource.FoundBMC{lease("02:00:00:00:00:01", "https://10.7.0.130")}, "bmc-020000000001 Pending 02:00:00:00:00:01 https://10.7.0.130"},
		"the rule, by scan":       {func(f *Fleet) { f.rule(trust) }, []resource.FoundBMC{scanned(mac1, "https://10.7.0.130")}, "bmc-3cecef000001 Pending  https://10.7.0.130"},
		"the rule came later": {
			func(f *Fleet) { f.rule(trust); f.BMCs = append(f.BMCs, pendingOf("p", "r0", "", mac1)) },
			[]resource.FoundBMC{lease(mac1, "https://10.7.0.130")},
			"p Accepted 3c:ec:ef:00:00:01 https://10.7.0.130 segment/bmc local:bmc " + print1,
		},
		"the rule, accepted in another rack": {
			func(f *Fleet) { f.rule(trust); f.BMCs = append(f.BMCs, bmcOf("x", "r1", "", mac1)) },
			[]resource.FoundBMC{lease(mac1, "https://10.7.0.130")},
			"bmc-3cecef000001 Pending 3c:ec:ef:00:00:01 https://10.7.0.130",
		},

		"applied under its address":        {func(f *Fleet) { f.BMCs = append(f.BMCs, bmcOf("b", "r0", "https://10.7.0.130:443", "")) }, []resource.FoundBMC{scanned("", "https://10.7.0.130")}, ""},
		"applied under its address, lease": {func(f *Fleet) { f.BMCs = append(f.BMCs, bmcOf("b", "r0", "https://10.7.0.130", mac1)) }, []resource.FoundBMC{lease(mac1, "https://10.7.0.131")}, ""},
		"address follows":                  {func(f *Fleet) { f.BMCs = append(f.BMCs, bmcOf("b", "r0", "", mac1)) }, []resource.FoundBMC{lease(mac1, "https://10.7.0.131")}, "b Accepted 3c:ec:ef:00:00:01 https://10.7.0.131"},
		"address follows the newest": {
			func(f *Fleet) { f.BMCs = append(f.BMCs, bmcOf("b", "r0", "", mac1)) },
			[]resource.FoundBMC{at(lease(mac1, "https://10.7.0.131"), 2), at(lease(mac1, "https://10.7.0.132"), 3), at(lease(mac1, "https://10.7.0.133"), 1)},
			"b Accepted 3c:ec:ef:00:00:01 https://10.7.0.132",
		},
		"address stands": {
			func(f *Fleet) {
				b := bmcOf("b", "r0", "", mac1)
				b.Status.Address = "https://10.7.0.131"
				f.BMCs = append(f.BMCs, b)
			}, []resource.FoundBMC{lease(mac1, "https://10.7.0.131")}, "",
		},
		"the lease went to another": {
			func(f *Fleet) {
				b := bmcOf("b", "r0", "", mac1)
				b.Status.Address = "https://10.7.0.131"
				f.BMCs = append(f.BMCs, b)
			},
			[]resource.FoundBMC{lease(mac2, "https://10.7.0.131")},
			"bmc-3cecef000002 Pending 3c:ec:ef:00:00:02 https://10.7.0.131",
		},
		"same address in another rack": {
			func(f *Fleet) { f.BMCs = append(f.BMCs, pendingOf("bmc-10-7-0-130", "r1", "https://10.7.0.130", "")) },
			[]resource.FoundBMC{scanned("", "https://10.7.0.130")},
			"bmc-10-7-0-130-r0 Pending  https://10.7.0.130",
		},
		"applied since, so the found one goes": {
			func(f *Fleet) {
				f.BMCs = append(f.BMCs, pendingOf("bmc-3cecef000001", "r0", "", mac1), bmcOf("b", "r0", "https://10.7.0.130", mac1))
			},
			[]resource.FoundBMC{lease(mac1, "https://10.7.0.130")},
			"-bmc-3cecef000001",
		},
		"applied since, but a server has the found one": {
			func(f *Fleet) {
				f.BMCs = append(f.BMCs, pendingOf("b-r0", "r0", "", mac1), bmcOf("b", "r0", "https://10.7.0.130", mac1))
				f.Servers = append(f.Servers, serverOf("n", "r0"))
			},
			[]resource.FoundBMC{lease(mac1, "https://10.7.0.130")},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := bmcFleet()
			if c.change != nil {
				c.change(&f)
			}
			before := encode(t, f.BMCs)
			var got []string
			findings, gone, left := Findings(f.Indexed(), "r0", c.found)
			for _, n := range findings {
				b := n.BMC
				state := "Accepted"
				if b.Pending() {
					state = "Pending"
				}
				line := fmt.Sprintf("%s %s %s %s", b.Metadata.Name, state, b.Spec.MACAddress, b.Reach())
				if n.Accepted {
					line += " " + b.Status.AcceptedBy + " " + b.Spec.CredentialsRef + " " + b.Spec.TLS.Fingerprint + b.Spec.TLS.CA
				}
				if wrong := b.Validate(); n.New && b.Spec.TLS.CA == "" && len(wrong) > 0 {
					t.Errorf("%s cannot be stored: %v", b.Metadata.Name, wrong)
				}
				got = append(got, line)
			}
			for _, b := range gone {
				got = append(got, "-"+b.Metadata.Name)
			}
			if strings.Join(got, "\n") != c.want || left != 0 {
				t.Errorf("%q, %d left out, want %q", got, left, c.want)
			}
			if encode(t, f.BMCs) != before {
				t.Error("the fleet was changed")
			}
		})
	}
}

func at(f resource.FoundBMC, second int64) resource.FoundBMC {
	f.At = time.Unix(second, 0)
	return f
}

// However much is found, no more than MaxFound wait, also over several reports.
func TestFindingsAreBounded(t *testing.T) {
	f := bmcFleet()
	for i := range resource.MaxFound - 2 {
		f.BMCs = append(f.BMCs, pendingOf(fmt.Sprintf("p%03d", i), "r0", "", fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8, i&255)))
	}
	var storm []resource.FoundBMC
	for i := range 100 {
		storm = append(storm, lease(fmt.Sprintf("3c:ec:ef:00:00:%02x", i), fmt.Sprintf("https://10.7.0.%d", i+100)))
	}
	findings, _, left := Findings(f.Indexed(), "r0", storm)
	if len(findings) != 2 || left != 98 {
		t.Errorf("%d were made and %d left out", len(findings), left)
	}
	f.rule(resource.AcceptRule{CredentialsRef: "local:bmc", TrustFirst: true})
	if findings, _, left = Findings(f.Indexed(), "r0", storm); len(findings) != 100 || left != 0 {
		t.Errorf("with a rule %d were made and %d left out", len(findings), left)
	}
}

// What an agent says of a BMC comes from whoever answers on its network.
func FuzzFindings(f *testing.F) {
	f.Add("lease", mac1, "https://10.7.0.130", print1, "Supermicro")
	f.Add("scan", "", "https://[fe80::1]:8443", "", "\x1b[31m")
	f.Add("lease", "3c-ec", "ipmi://x", "sha256:", strings.Repeat("x", 300))
	f.Fuzz(func(t *testing.T, by, mac, address, fp, vendor string) {
		fleet := bmcFleet()
		fleet.rule(resource.AcceptRule{CredentialsRef: "local:bmc", TrustFirst: true})
		findings, _, _ := Findings(fleet.Indexed(), "r0", []resource.FoundBMC{{Segment: "bmc", By: resource.FoundBy(by), MAC: mac, Address: address, Fingerprint: fp, Vendor: vendor}})
		for _, n := range findings {
			if wrong := n.BMC.Validate(); len(wrong) > 0 {
				t.Fatalf("%+v: %v", n.BMC, wrong)
			}
			if v := n.BMC.Status.Found.Vendor; len(v) > 200 || strings.ContainsRune(v, 0x1b) {
				t.Fatalf("vendor %q", v)
			}
		}
	})
}
