package maas

import (
	"strings"
	"testing"

	"rackboot/cmd/internal/convert"
)

// What is no machine, or cannot be one here, is refused with its reason; two systems of one BMC share it.
func TestMachines(t *testing.T) {
	for text, want := range map[string]struct{ written, code string }{
		`[{"hostname":"a","system_id":"x","architecture":"s390x/generic"}]`:                           {"", "OtherMachine"},
		`[{"hostname":"a","system_id":"x","bios_boot_method":"pxe"}]`:                                 {"", "LegacyBIOS"},
		`[{"hostname":"é","system_id":"x"}]`:                                                          {"", "NoName"},
		`[{"hostname":"a"},{"hostname":"A"}]`:                                                         {"bmc/a-bmc server/a", "Duplicate"},
		`{"power_address":"192.0.2.1"}`:                                                               {"", "NoName"},
		`{"system_id":"x","power_address":"192.0.2.1"} {"system_id":"x","power_address":"192.0.2.2"}`: {"", "Duplicate"},
		`["a"]`: {"", "BadValue"},
		`[{"hostname":"a","system_id":"x","hardware_uuid":"y","power_type":"redfish"},{"system_id":"x","power_address":"a b","power_user":"u","power_pass":"p"}]`: {"secret/a-bmc bmc/a-bmc server/a", "BadAddress"},
		`[{"hostname":"a","system_id":"1","power_type":"redfish"},{"hostname":"b","system_id":"2","power_type":"redfish"},
		  {"system_id":"1","power_address":"192.0.2.1","power_user":"u","power_pass":"p","node_id":"1"},{"system_id":"2","power_address":"192.0.2.1","power_user":"u","power_pass":"p","node_id":"2"}]`: {"secret/a-bmc bmc/a-bmc server/a server/b", "SharedBMC"},
	} {
		c := convert.New(convert.Settings{Rack: "r1"})
		if err := Convert(c, []convert.File{{Name: "f", Data: []byte(text)}}); err != nil {
			t.Fatal(err)
		}
		out, err := c.Finish()
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, f := range out.Report.Findings {
			said = said || string(f.Code) == want.code
		}
		if got := strings.Join(out.Report.Written, " "); got != want.written || !said {
			t.Errorf("%s: %q; %s is said: %v", text, got, want.code, said)
		}
	}
}
