package capture

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
)

// one records one answer and returns what is kept of it.
func one(t *testing.T, uri, body string) (name, text string) {
	t.Helper()
	r := New("jane.doe-77", "bmc7.example.org")
	r.See(uri, []byte(body))
	files, err := r.Files()
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for name, raw := range files {
		if name != "capture.json" {
			var b bytes.Buffer
			if err := json.Compact(&b, raw); err != nil {
				t.Fatal(err)
			}
			return name, b.String()
		}
	}
	return "", ""
}

func TestScrub(t *testing.T) {
	for name, row := range map[string]struct{ body, want string }{
		"an address in each form": {
			`{"MACAddress":"3C:EC:EF:12:34:56","UefiDevicePath":"PciRoot(0x0)/MAC(3CECEF123456,0x1)/IPv4(0.0.0.0)","Name":"PXE - 3c-ec-ef-12-34-56"}`,
			`{"MACAddress":"02:00:5E:00:00:01","Name":"PXE - 02-00-5e-00-00-01","UefiDevicePath":"PciRoot(0x0)/MAC(02005E000001,0x1)/IPv4(0.0.0.0)"}`,
		},
		"NVIDIA's names":           {`{"DisplayName":"UEFI HTTPv4 (MAC:3CECEF123456)"}`, `{"DisplayName":"UEFI HTTPv4 (MAC:02005E000001)"}`},
		"an address after MAC:":    {`{"DisplayName":"HTTP MAC:3c:ec:ef:12:34:56"}`, `{"DisplayName":"HTTP MAC:02:00:5e:00:00:01"}`},
		"one that each card has":   {`{"MACAddress":"00:1A:CA:FF:FF:01"}`, `{"MACAddress":"00:1A:CA:FF:FF:01"}`},
		"nobody's":                 {`{"MACAddress":"00:00:00:00:00:00"}`, `{"MACAddress":"00:00:00:00:00:00"}`},
		"a serial that is one":     {`{"MACAddress":"3c:ec:ef:12:34:56","SerialNumber":"3CECEF123456"}`, `{"MACAddress":"02:00:5e:00:00:01","SerialNumber":"02005E000001"}`},
		"a DUID":                   {`{"DUID":"00:01:00:01:27:80:7b:5e:7c:c2:55:50:a8:ff"}`, `{"DUID":"ID000003"}`},
		"a UUID and its id":        {`{"UUID":"4c4c4544-0031-3510-8031-b4c04f435331","Id":"4C4C4544-0031-3510-8031-B4C04F435331"}`, `{"Id":"CA000001-0000-4000-8000-000000000001","UUID":"ca000001-0000-4000-8000-000000000001"}`},
		"a UUID of an address":     {`{"UUID":"00000000-0000-0000-0000-3cecef123456","MACAddress":"3c:ec:ef:12:34:56"}`, `{"MACAddress":"02:00:5e:00:00:01","UUID":"00000000-0000-0000-0000-02005e000001"}`},
		"empty UUIDs":              {`{"UUID":"00000000-0000-0000-0000-000000000000"}`, `{"UUID":"00000000-0000-0000-0000-000000000000"}`},
		"no UUID":                  {`{"UUID":"of jane"}`, `{"UUID":"scrubbed"}`},
		"the shell's file":         {`{"UefiDevicePath":"Fv(5C60F367-A505-419A-859E-2A4FF6CA6FE5)/FvFile(7C04A583-9E3E-4F1C-AD65-E05268D0B4D1)"}`, `{"UefiDevicePath":"Fv(5C60F367-A505-419A-859E-2A4FF6CA6FE5)/FvFile(7C04A583-9E3E-4F1C-AD65-E05268D0B4D1)"}`},
		"a disk":                   {`{"UefiDevicePath":"HD(1,GPT,2B1C2F3D-8E0A-4B3C-9D4E-5F60718293A4,0x800)/NVMe(0x1,AA-BB-CC-DD-EE-FF-00-11)"}`, `{"UefiDevicePath":"HD(1,GPT,ID000004,0x800)/NVMe(0x1,ID000003)"}`},
		"a serial and where it is": {`{"SerialNumber":"FCH2345V0AB","Name":"of FCH2345V0AB"}`, `{"Name":"of ID000003","SerialNumber":"ID000003"}`},
		"a short serial":           {`{"SerialNumber":"S1","Name":"S1 of Systems"}`, `{"Name":"S1 of Systems","SerialNumber":"serial-0"}`},
		"Dell's service tag":       {`{"SKU":"4C1QX24"}`, `{"SKU":"ID000003"}`},
		"no serial":                {`{"SerialNumber":"To be filled by O.E.M.","AssetTag":""}`, `{"AssetTag":"","SerialNumber":"To be filled by O.E.M."}`},
		"who asks, and where":      {`{"Description":"jane.doe-77 at bmc7.example.org"}`, `{"Description":"host-1 at host-2"}`},
		"a host":                   {`{"HostName":"rack7-node3","Name":"rack7-node3"}`, `{"HostName":"host-3","Name":"host-3"}`},
		"addresses of networks":    {`{"IPv4Addresses":[{"Address":"10.7.0.130","SubnetMask":"255.255.255.0"}],"IPv6":"fe80::3eec:efff:fe12:3456"}`, `{"IPv4Addresses":[{"Address":"192.0.2.1","SubnetMask":"255.255.255.0"}],"IPv6":"2001:db8::2"}`},
		"a version like one":       {`{"FirmwareVersion":"6.10.30.0","BiosVersion":"2.1"}`, `{"BiosVersion":"2.1","FirmwareVersion":"6.10.30.0"}`},
		"URLs":                     {`{"HttpBootUri":"https://boot.example.org/t/abc","Name":"Uri(http://10.7.0.1/x)"}`, `{"HttpBootUri":"https://192.0.2.1/scrubbed","Name":"Uri(http://192.0.2.1/scrubbed)"}`},
		"secrets":                  {`{"SetupPassword":"x1","Certificate":{"CertificateString":"-----BEGIN"},"AuthToken":7}`, `{"AuthToken":0,"Certificate":{"CertificateString":"scrubbed"},"SetupPassword":"scrubbed"}`},
		"a free text":              {`{"Message":"login of joe smith","Reading":"Enabled"}`, `{"Message":"scrubbed","Reading":"Enabled"}`},
		"settings":                 {`{"Attributes":{"IPv4HTTPSupport_00F5":"Disabled","RestoreonACPowerLoss":"Last State","NumaDomain":"Enabled","AssetTag":"A-7731","Owner":"ab12345678"},"X":"Enabled"}`, `{"Attributes":{"AssetTag":"ID000003","IPv4HTTPSupport_00F5":"Disabled","NumaDomain":"Enabled","Owner":"scrubbed","RestoreonACPowerLoss":"Last State"},"X":"Enabled"}`},
		"figures":                  {`{"Count":12345678901234567890,"PowerState":"On","Ok":true,"No":null}`, `{"Count":12345678901234567890,"No":null,"Ok":true,"PowerState":"On"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := one(t, "/redfish/v1/Systems/1", row.body); got != row.want {
				t.Errorf("\n got %s\nwant %s", got, row.want)
			}
		})
	}
}

// A path that names a machine is another one, in links too.
func TestScrubPaths(t *testing.T) {
	name, text := one(t, "/redfish/v1/Systems/FCH23457654", `{"@odata.id":"/redfish/v1/Systems/FCH23457654","Boot":"/redfish/v1/Systems/FCH23457654/BootOptions/Boot0019"}`)
	if name != "redfish/v1/Systems/ID000003/index.json" || text != `{"@odata.id":"/redfish/v1/Systems/ID000003","Boot":"/redfish/v1/Systems/ID000003/BootOptions/Boot0019"}` {
		t.Errorf("%s: %s", name, text)
	}
}

// What is no part of the tree, or too much, is left out and counted.
func TestBounds(t *testing.T) {
	r := New()
	deep := strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1)
	for uri, body := range map[string]string{
		"/redfish/v1/../etc": `{}`, "/etc/passwd": `{}`, "/redfish/v1/a\\b": `{}`, "/redfish/v1/" + strings.Repeat("x", maxPath): `{}`,
		"/redfish/v1/list": `[]`, "/redfish/v1/null": `null`, "/redfish/v1/broken": `{`, "/redfish/v1/deep": deep, "/redfish/v12": `{}`,
	} {
		r.See(uri, []byte(body))
	}
	for i := range MaxResources + 5 {
		r.See(fmt.Sprintf("/redfish/v1/Systems/%d", i), []byte(`{}`))
	}
	var raw bytes.Buffer
	if err := r.Write(&raw); err != nil {
		t.Fatal(err)
	}
	files := untar(t, raw.Bytes())
	if len(files) != MaxResources+1 || !strings.Contains(files["capture.json"], `"leftOut": 14`) {
		t.Errorf("%d files: %s", len(files), files["capture.json"])
	}
	var again bytes.Buffer
	if err := r.Write(&again); err != nil || !bytes.Equal(raw.Bytes(), again.Bytes()) {
		t.Errorf("the same answers become another file, %v", err)
	}
}

func untar(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = string(text)
	}
}

// FuzzScrub: whatever a BMC answers, what is kept is JSON, and an address, UUID, serial number and host
// that it has are not in it.
func FuzzScrub(f *testing.F) {
	f.Add(`{"Name":"x"}`, "x", uint64(0x3cecef123456))
	f.Add(`{"Members":[{"@odata.id":"/redfish/v1/Systems/FCH00000000"}]}`, "UEFI - ", uint64(1))
	f.Add(`{"Attributes":{"A":"B 3c:ec:ef:12:34:56"}}`, "MAC:", uint64(0x001acaffff01))
	f.Add(`{"UUID":"0"}`, "HD(1,GPT,", uint64(0xffffffffffff))
	f.Add("{\"\\u0000\":\"\xff\"}", "\"", uint64(0x02005e000001))
	own := regexp.MustCompile(`^0200(5e|5E)`)
	f.Fuzz(func(t *testing.T, body, around string, number uint64) {
		number &= 0xfefffffffffe
		digits := fmt.Sprintf("%012x", number)
		serial, host := "SER"+digits+"77", "node-"+digits
		planted, err := json.Marshal(map[string]string{
			"MACAddress": paired(digits, ':'), "SerialNumber": serial, "HostName": host, "UUID": "4c4c4544-0031-3510-8031-" + digits,
			"Name": around + " " + paired(digits, ':') + " " + serial, "Free": around + host, "DisplayName": around + " " + host,
		})
		if err != nil {
			t.Fatal(err)
		}
		r := New()
		r.See("/redfish/v1/Systems/"+serial, planted)
		r.See("/redfish/v1/Other", []byte(body))
		files, err := r.Files()
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if !json.Valid(text) {
				t.Fatalf("%s is no JSON: %s", name, text)
			}
			if name == "redfish/v1/Other/index.json" {
				continue
			}
			for _, n := range []string{serial, host, "4c4c4544-0031-3510-8031"} {
				if strings.Contains(name+string(text), n) {
					t.Errorf("%s has %s: %s", name, n, text)
				}
			}
			nameless := strings.Trim(digits, "0") == "" || strings.HasPrefix(digits, "001acaffff") || own.MatchString(digits)
			if !nameless && strings.Contains(name+string(text), paired(digits, ':')) {
				t.Errorf("%s has %s: %s", name, digits, text)
			}
		}
	})
}
