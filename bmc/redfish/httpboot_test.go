package redfish

import (
	"encoding/json"
	"maps"
	"testing"

	"rackboot/protocol"
)

// The ladder of ways to an HTTP boot: what is there, and what would be written.
func TestHTTPBootLadder(t *testing.T) {
	const plain = `{"BootSourceOverrideTarget":"None"}`
	dell := attributes{"HttpDev1EnDis": "Enabled", "HttpDev1DhcpEnDis": "Enabled", "HttpDev1TlsMode": "None", "HttpDev1Uri": "", "HttpDev1Interface": "NIC.1"}
	with := func(change ...string) attributes {
		a := maps.Clone(dell)
		for i := 0; i < len(change); i += 2 {
			a[change[i]] = change[i+1]
		}
		return a
	}
	tests := []struct {
		name     string
		main     string
		settings string
		bios     attributes
		uri      string
		way      protocol.HTTPBootWay
		where    string // empty: not present
		write    string
		dhcp     string // what DHCP needs
		ready    bool   // DHCP is
	}{
		{"nothing but DHCP", plain, "", nil, "", protocol.HTTPByBootURI, "", "null", "{}", true},
		{"HttpBootUri, empty (BlueField)", `{"BootSourceOverrideTarget":"None","HttpBootUri":""}`, "", nil, "", protocol.HTTPByBootURI, "/main", `{"HttpBootUri":"{uri}"}`, "{}", true},
		{"HttpBootUri, null at the system (AMI)", `{"BootSourceOverrideTarget":"None","HttpBootUri":null}`, `{"HttpBootUri":null}`, nil, "http://h/x", protocol.HTTPByBootURI, "/settings", `{"HttpBootUri":"http://h/x"}`, "{}", true},
		{"Dell, enabled", plain, "", dell, "http://h/x", protocol.HTTPByDellDevice, "/bios", `{"HttpDev1Uri":"http://h/x"}`, "{}", true},
		{"Dell, disabled (iDRAC-Redfish-Scripting #306)", plain, "", with("HttpDev1EnDis", "Disabled"), "", protocol.HTTPByDellDevice, "/bios", `{"HttpDev1EnDis":"Enabled","HttpDev1Uri":"{uri}"}`, `{"HttpDev1EnDis":"Enabled"}`, false},
		{"Dell, TLS only (bmclib #470)", plain, "", with("HttpDev1TlsMode", "OneWay"), "", protocol.HTTPByDellDevice, "/bios", `{"HttpDev1TlsMode":"None","HttpDev1Uri":"{uri}"}`, `{"HttpDev1TlsMode":"None"}`, false},
		{"Dell, TLS wanted", plain, "", with("HttpDev1TlsMode", "OneWay"), "https://h/x", protocol.HTTPByDellDevice, "/bios", `{"HttpDev1Uri":"https://h/x"}`, `{}`, true},
		{"Dell, somebody's URI", plain, "", with("HttpDev1Uri", "http://old/x"), "", protocol.HTTPByDellDevice, "/bios", `{"HttpDev1Uri":"{uri}"}`, `{"HttpDev1Uri":""}`, false},
		{"HPE (libredfish #76)", plain, "", attributes{"UrlBootFile": "", "UrlBootFile2": "", "PreBootNetwork": "Disabled"}, "", protocol.HTTPByHPEURL, "/bios", `{"PreBootNetwork":"Auto","UrlBootFile":"{uri}"}`, "{}", true},
		{"Supermicro (libredfish supermicro.rs)", plain, "", attributes{"IPv4HTTPSupport_00F5": "Disabled"}, "", protocol.HTTPByStack, "/bios", `{"IPv4HTTPSupport_00F5":"Enabled"}`, `{"IPv4HTTPSupport_00F5":"Enabled"}`, false},
		{"Supermicro, the other form", plain, "", attributes{"IPv4HTTPSupport#00F5": "Enabled"}, "", protocol.HTTPByStack, "/bios", `{}`, `{}`, true},
		{"not another attribute that begins so", plain, "", attributes{"IPv4HTTPSupportX": "Disabled"}, "", protocol.HTTPByStack, "", `null`, `{}`, true},
		{"Lenovo", plain, "", attributes{"NetworkStackSettings_IPv4HTTPSupport": "Disabled"}, "", protocol.HTTPByStack, "/bios", `{"NetworkStackSettings_IPv4HTTPSupport":"Enabled"}`, `{"NetworkStackSettings_IPv4HTTPSupport":"Enabled"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ladder := httpBoot(view(t, "standard", tt.main, tt.settings), true, tt.bios, "/bios", tt.uri)
			if ladder[0].Way != protocol.HTTPByDHCP || ladder[0].Ready != tt.ready || marshal(t, ladder[0].Write) != tt.dhcp {
				t.Errorf("DHCP %+v", ladder[0])
			}
			for _, h := range ladder {
				if h.Way != tt.way {
					continue
				}
				if h.Present != (tt.where != "") || h.Where != tt.where || marshal(t, h.Write) != tt.write || h.Present && h.Reset == "" {
					t.Errorf("%+v", h)
				}
			}
			for _, h := range ladder {
				for _, v := range h.Current {
					if v == "http://old/x" {
						t.Error("a URI of somebody's is shown")
					}
				}
			}
		})
	}
	if h := httpBoot(view(t, "standard", plain, ""), false, nil, "", "")[0]; h.Ready || h.Why == "" {
		t.Errorf("UefiHttp is not offered: %+v", h)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
