package dnsmasq

import (
	"fmt"
	"strings"
	"testing"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol/resource"
)

// The forms of lines in dnsmasq's manual page, and of /etc/ethers.
func TestLines(t *testing.T) {
	for _, row := range []struct{ line, server, finding string }{
		{"dhcp-host=52:54:00:00:00:01,192.0.2.7,n1,infinite", "n1 52:54:00:00:00:01", ""},
		{"--dhcp-host=52:54:00:00:00:01,n1.lab.example", "n1 52:54:00:00:00:01", ""},
		{"dhcp-host=n1,52:54:00:00:00:01,52-54-00-00-00-02", "n1 52:54:00:00:00:01 52:54:00:00:00:02", ""},
		{"52:54:00:00:00:01,n1,45m", "n1 52:54:00:00:00:01", ""},
		{"52:54:00:00:00:01,set:blue,[2001:db8::7],n1", "n1 52:54:00:00:00:01 tag-blue", ""},
		{"52:54:00:00:00:01 n1 # of the lab", "n1 52:54:00:00:00:01", ""},
		{"52:54:00:00:00:01 192.0.2.7", "", "refused NoName"},
		{"dhcp-host=id:01:02:03,n1", "", "refused NoMachine"},
		{"dhcp-host=52:54:00:00:00:01,n1,ignore", "", "refused Ignored"},
		{"dhcp-host=52:54:00:00:00:*,n1", "", "refused NoMachine"},
		{"dhcp-option=option:router,192.0.2.1", "", "noEqual NetworkService"},
		{"domain-needed", "", "noEqual NetworkService"},
		{"Some words here", "", "refused BadValue"},
		{"# dhcp-host=52:54:00:00:00:01,n1", "", ""},
		{"dhcp-host=01:00:5e:00:00:01,n1", "", "refused NoMachine"},
	} {
		c := convert.New(convert.Settings{Rack: "r1"})
		if err := Convert(c, []convert.File{{Name: "f", Data: []byte(row.line)}}); err != nil {
			t.Errorf("%s: %v", row.line, err)
			continue
		}
		out, err := c.Finish()
		if err != nil {
			t.Fatal(err)
		}
		server, finding := "", ""
		for _, o := range out.Objects {
			if s, is := o.(*resource.Server); is {
				server = strings.TrimSpace(s.Metadata.Name + " " + s.Spec.BootMAC + " " + strings.Join(s.Spec.MACs, " "))
				for k := range s.Metadata.Labels {
					server += " " + k
				}
			}
		}
		if server == "" && len(out.Report.Findings) > 0 {
			finding = fmt.Sprint(out.Report.Findings[0].Fate, " ", out.Report.Findings[0].Code)
		}
		if server != row.server || finding != row.finding {
			t.Errorf("%s: server %q, finding %q; want %q, %q", row.line, server, finding, row.server, row.finding)
		}
	}
}

// A BMC comes to the server of its name, wherever both stand; one without a server is a BMC alone; of two for one
// server the first is taken.
func TestPairs(t *testing.T) {
	c := convert.New(convert.Settings{Rack: "r1"})
	err := Convert(c, []convert.File{
		{Name: "ethers", Data: []byte("02:00:00:00:00:01 a-ipmi\n02:00:00:00:00:02 a-bmc\n02:00:00:00:00:03 lone-ilo\n")},
		{Name: "hosts", Data: []byte("52:54:00:00:00:01,a\n52:54:00:00:00:02,b\n52:54:00:00:00:03,b\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(out.Report.Written, " "); got != "bmc/a-ipmi bmc/lone-ilo server/a server/b" {
		t.Error(got)
	}
	refused := 0
	for _, f := range out.Report.Findings {
		if f.Fate == convert.Refused {
			if refused++; f.Code != convert.Duplicate {
				t.Errorf("%+v", f)
			}
		}
	}
	if refused != 2 {
		t.Errorf("%d are refused", refused)
	}
}
