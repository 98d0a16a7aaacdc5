package resource

import (
	"strings"
	"testing"
)

const print1 = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestBMCValidate(t *testing.T) {
	whole := BMCSpec{RackRef: Ref{"r1"}, Address: "https://10.7.0.130", CredentialsRef: "local:b1", TLS: BMCTLS{Fingerprint: print1}}
	for name, c := range map[string]struct {
		change func(*BMC)
		want   string // the path and a part of what is said; empty is right
	}{
		"by address":             {func(*BMC) {}, ""},
		"by MAC address":         {func(b *BMC) { b.Spec.Address, b.Spec.MACAddress = "", "3C-EC-EF-00-00-01" }, ""},
		"by neither":             {func(b *BMC) { b.Spec.Address = "" }, "spec.address: give https://host[:port], or the BMC's own macAddress"},
		"MAC address and no pin": {func(b *BMC) { b.Spec.Address, b.Spec.MACAddress, b.Spec.TLS = "", "3c:ec:ef:00:00:01", BMCTLS{} }, "spec.tls: give a fingerprint"},
		"no MAC address":         {func(b *BMC) { b.Spec.MACAddress = "3c:ec:ef" }, "spec.macAddress: \"3c:ec:ef\" is not a MAC address"},
		"group address":          {func(b *BMC) { b.Spec.MACAddress = "01:00:5e:00:00:01" }, "spec.macAddress: 01:00:5e:00:00:01 is a group address"},
		"IPMI":                   {func(b *BMC) { b.Spec.Address = "ipmi://10.7.0.130" }, "spec.address: IPMI is not supported; use the BMC's Redfish address, https://10.7.0.130"},
		"no credentials":         {func(b *BMC) { b.Spec.CredentialsRef = "" }, "spec.credentialsRef"},
		"pending":                {func(b *BMC) { b.Status.State, b.Spec.CredentialsRef, b.Spec.TLS = BMCPending, "", BMCTLS{} }, ""},
		"pending and nowhere":    {func(b *BMC) { b.Status.State, b.Spec.Address = BMCPending, "" }, "spec.address"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &BMC{Spec: whole}
			b.Metadata.Name = "b1"
			c.change(b)
			b.Default()
			got := b.Validate()
			if (c.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), c.want) {
				t.Errorf("%v; want %q", got, c.want)
			}
		})
	}
	b := &BMC{Spec: BMCSpec{MACAddress: "3C-EC-EF-00-00-01"}}
	if b.Default(); b.Spec.MACAddress != "3c:ec:ef:00:00:01" {
		t.Errorf("MAC address is %q", b.Spec.MACAddress)
	}
}

func TestSegmentBMCs(t *testing.T) {
	const ca = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
	rule := func(r AcceptRule) func(*SegmentSpec) {
		return func(s *SegmentSpec) { s.BMCs.Accept = &r }
	}
	for name, c := range map[string]struct {
		change func(*SegmentSpec)
		want   string
	}{
		"prefixes and scan":       {func(*SegmentSpec) {}, ""},
		"both":                    {func(s *SegmentSpec) { s.Role = SegmentBoth }, ""},
		"boot":                    {func(s *SegmentSpec) { s.Role = SegmentBoot }, "spec.bmcs: BMCs are looked for on segments of role bmc or both, not boot"},
		"unknown role":            {func(s *SegmentSpec) { s.Role = "disk" }, `spec.role: "disk" is not one of boot, bmc, both`},
		"boot URL":                {func(s *SegmentSpec) { s.BaseURL = "http://10.7.0.1" }, ""},
		"boot URL by name":        {func(s *SegmentSpec) { s.BaseURL = "http://agent" }, `spec.baseURL: host "agent" is not an IP literal`},
		"two bytes":               {func(s *SegmentSpec) { s.BMCs.MACPrefixes = []string{"3c:ec"} }, "spec.bmcs.macPrefixes[0]: \"3c:ec\" is not"},
		"seven bytes":             {func(s *SegmentSpec) { s.BMCs.MACPrefixes = []string{"3c:ec:ef:00:00:01:02"} }, "macPrefixes[0]"},
		"half a byte":             {func(s *SegmentSpec) { s.BMCs.MACPrefixes = []string{"3c:ec:ef:0"} }, "macPrefixes[0]"},
		"odd colons":              {func(s *SegmentSpec) { s.BMCs.MACPrefixes = []string{"3ce:c:ef"} }, "macPrefixes[0]"},
		"group":                   {func(s *SegmentSpec) { s.BMCs.MACPrefixes = []string{"01:00:5e"} }, "macPrefixes[0]: 01:00:5e is of group addresses"},
		"dashes, upper case":      {func(s *SegmentSpec) { s.BMCs.MACPrefixes = []string{"3C-EC-EF-0A"} }, ""},
		"scan elsewhere":          {func(s *SegmentSpec) { s.BMCs.Scan = []string{"10.8.0.0/24"} }, "spec.bmcs.scan[0]: 10.8.0.0/24 is not inside of the segment's 10.7.0.0/16"},
		"scan around":             {func(s *SegmentSpec) { s.BMCs.Scan = []string{"10.0.0.0/8"} }, "spec.bmcs.scan[0]"},
		"scan of no subnet":       {func(s *SegmentSpec) { s.BMCs.Scan = []string{"10.7.0.1/24"} }, "spec.bmcs.scan[0]"},
		"1,024 addresses":         {func(s *SegmentSpec) { s.BMCs.Scan = []string{"10.7.0.0/23", "10.7.2.0/23"} }, ""},
		"one more":                {func(s *SegmentSpec) { s.BMCs.Scan = []string{"10.7.0.0/22", "10.7.9.0/32"} }, "spec.bmcs.scan: there are more than 1024"},
		"accepts, first trusted":  {rule(AcceptRule{CredentialsRef: "local:bmc", TrustFirst: true}), ""},
		"accepts by CA":           {rule(AcceptRule{CredentialsRef: "local:bmc", CA: ca}), ""},
		"accepts, nothing known":  {rule(AcceptRule{CredentialsRef: "local:bmc"}), "spec.bmcs.accept: give a ca, or trustFirst"},
		"accepts by both":         {rule(AcceptRule{CredentialsRef: "local:bmc", CA: ca, TrustFirst: true}), "spec.bmcs.accept.trustFirst"},
		"accepts by no CA at all": {rule(AcceptRule{CredentialsRef: "local:bmc", CA: "x"}), "spec.bmcs.accept.ca"},
		"accepts, no credentials": {rule(AcceptRule{TrustFirst: true}), "spec.bmcs.accept.credentialsRef"},
		"accepts whatever is found": {func(s *SegmentSpec) {
			s.BMCs.MACPrefixes, s.BMCs.Accept = nil, &AcceptRule{CredentialsRef: "local:bmc", TrustFirst: true}
		}, "spec.bmcs.accept: it is for BMCs with a prefix of macPrefixes only"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Segment{Spec: SegmentSpec{
				RackRef: Ref{"r1"}, Prefix: "10.7.0.0/16", Address: "10.7.0.1", Pool: Pool{"10.7.1.0", "10.7.1.255"}, Role: SegmentBMC,
				BMCs: &SegmentBMCs{MACPrefixes: []string{"3c:ec:ef"}, Scan: []string{"10.7.1.0/24"}},
			}}
			s.Metadata.Name = "bmcs"
			c.change(&s.Spec)
			s.Default()
			in, got := s.Intent()
			if (c.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), c.want) {
				t.Errorf("%v; want %q", got, c.want)
			}
			if c.want == "" && (in.Role != s.Spec.Role || len(in.BMCPrefixes) != 1 || len(in.Scan) != len(s.Spec.BMCs.Scan)) {
				t.Errorf("intent is %+v", in)
			}
		})
	}
}

// A role that is not given is boot, in the resource and in what travels.
func TestSegmentRoleDefault(t *testing.T) {
	s := &Segment{}
	if in, _ := s.Intent(); in.Role != SegmentBoot {
		t.Errorf("role %q travels", in.Role)
	}
	if s.Default(); s.Spec.Role != SegmentBoot {
		t.Errorf("role is %q", s.Spec.Role)
	}
}

func TestHasMAC(t *testing.T) {
	b := &SegmentBMCs{MACPrefixes: []string{"3c:ec:ef", "02:00:00:00:00:01"}}
	for mac, want := range map[string]bool{
		"3c:ec:ef:00:00:01": true, "02:00:00:00:00:01": true, "3c:ec:ee:00:00:01": false, "02:00:00:00:00:10": false, "": false,
	} {
		if b.HasMAC(mac) != want {
			t.Errorf("%q: %v", mac, !want)
		}
	}
	if (*SegmentBMCs)(nil).HasMAC("3c:ec:ef:00:00:01") {
		t.Error("a segment without bmcs has prefixes")
	}
}
