package netbox

import (
	"strings"
	"testing"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol/resource"
)

// The columns of a bulk import are those of an export in other spelling, and interfaces may come first.
func TestImportForm(t *testing.T) {
	c := convert.New(convert.Settings{Rack: "r1"})
	err := Convert(c, []convert.File{
		{Name: "i.csv", Data: []byte("device,name,mgmt_only,primary_mac_address\nweb 1,e0,false,52:54:00:00:00:01\nweb 1,bmc,true,02:00:00:00:00:01\nweb 1,bmc2,true,02:00:00:00:00:02\nother,e0,false,52:54:00:00:00:09\n")},
		{Name: "d.csv", Data: []byte("\ufeffname,rack,role,site\nweb 1,R 9,server,lab\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	b, is := out.Objects[0].(*resource.BMC)
	s, also := out.Objects[1].(*resource.Server)
	if !is || !also || b.Spec.MACAddress != "02:00:00:00:00:01" || b.Spec.RackRef.Name != "r1" ||
		s.Metadata.Name != "web-1" || s.Spec.BootMAC != "52:54:00:00:00:01" || s.Metadata.Labels["netbox-rack"] != "R 9" {
		t.Errorf("%+v\n%+v", out.Objects[0], out.Objects[1])
	}
	found := map[string]int{}
	for _, f := range out.Report.Findings {
		found[string(f.Code)]++
	}
	if found["NoMachine"] != 1 || found["ByHand"] != 1 { // an interface of no device, and a second one for management
		t.Errorf("%v", found)
	}
}

// What is no export of NetBox is refused with its line.
func TestNoExport(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "no first line",
		"a,b\n":                      "no column Name",
		"name,name\n":                "column 2 has no name of its own",
		"Name,name\n":                "column 2 has the name of another",
		"name,\n":                    "column 2 has no name of its own",
		"name,b\nx\n":                "line 2: wrong number of fields",
		"name\n\"x\n":                "line",
		strings.Repeat("a,", 300):    "more than 256 columns",
		"name,\"a\x1fb\"\nn1,secret": "column 2",
	} {
		err := Convert(convert.New(convert.Settings{}), []convert.File{{Name: "f.csv", Data: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
