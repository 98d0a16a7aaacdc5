package metaloperator

import (
	"fmt"
	"strings"
	"testing"

	"rackboot/cmd/internal/convert"
)

const head = "apiVersion: metal.ironcore.dev/v1alpha1\n"

// What each object alone becomes, and what is said of it.
func TestObjects(t *testing.T) {
	for text, want := range map[string]struct{ written, said string }{
		head + "kind: BMC\nmetadata: {name: b}\nspec: {access: {ip: '2001:db8::1', macAddress: '02:00:00:00:00:01'}, protocol: {name: Redfish, port: 8443}}": {"bmc/b", "spec.access.ip AddressFitted"},
		head + "kind: BMC\nmetadata: {name: b}\nspec: {access: {ip: x}, protocol: {name: Redfish}}":                                                          {"bmc/b", "spec.access.ip BadAddress"},
		head + "kind: BMC\nmetadata: {name: b}\nspec: {access: {ip: 192.0.2.1}, protocol: {name: IPMI}}":                                                     {"bmc/b", "spec.protocol.name OtherProtocol"},
		head + "kind: BMC\nmetadata: {name: b}\nspec: {endpointRef: {name: gone}, hostname: b.example}":                                                      {"bmc/b", "spec.endpointRef.name NeedsOther"},
		head + "kind: Server\nmetadata: {name: s}\nspec: {systemUUID: x, bmcRef: {name: gone}, unclaimable: true, power: 'On'}":                              {"server/s", "spec.systemUUID BadValue"},
		head + "kind: ServerClaim\nmetadata: {name: c}\nspec: {power: 'On', serverRef: {name: gone}}":                                                        {"", " NeedsImage"},
		head + "kind: ServerClaim\nmetadata: {name: c}\nspec: {image: a:1, serverRef: {name: gone}}":                                                         {"claim/c", "spec.serverRef.name "},
		head + "kind: BMCSecret\nmetadata: {name: s}\ndata: {username: cm9vdA==}":                                                                            {"", " BadValue"},
		head + "kind: BMCSecret\nmetadata: {name: s}\ndata: {username: cm9vdA==, password: '*'}":                                                             {"", " BadValue"},
		head + "kind: ServerMaintenance\nmetadata: {name: s}":                                                                                                {"", " ByHand"},
		head + "kind: Strange\nmetadata: {name: s}":                                                                                                          {"", " UnknownKind"},
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {ignition: '#cloud-config'}":                                                         {"", "stringData.ignition CloudInit"},
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {ignition: \"variant: fcos\\nversion: 1.5.0\\n\"}":                                   {"secret/s", "stringData.ignition ToSecret"},
		"kind: Server\nmetadata: {name: s}": {"", " UnknownKind"},
		"- a":                               {"", " BadValue"},
	} {
		c := convert.New(convert.Settings{Rack: "r1", CA: "x", Credentials: "local:x"})
		if err := Convert(c, []convert.File{{Name: "f", Data: []byte(text)}}); err != nil {
			t.Fatal(err)
		}
		out, err := c.Finish()
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, f := range out.Report.Findings {
			said = said || fmt.Sprint(f.Field, " ", f.Code) == want.said
		}
		if got := strings.Join(out.Report.Written, " "); got != want.written || !said {
			t.Errorf("%s\n%q, %q: %v %+v", text, got, want.said, said, out.Report.Findings)
		}
	}
}

// A claim without power stays so, for apply to refuse: Off would stop a server that runs.
func TestPowerIsNotInvented(t *testing.T) {
	c := convert.New(convert.Settings{Rack: "r1"})
	text := head + "kind: ServerClaim\nmetadata: {name: c}\nspec: {image: a:1, serverSelector: {matchLabels: {a: b}}}"
	if err := Convert(c, []convert.File{{Name: "f", Data: []byte(text)}}); err != nil {
		t.Fatal(err)
	}
	out, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if want := (convert.Need{Object: "claim/c", Field: "spec.power", Code: convert.ApplyRefuses}); len(out.Report.Needs) != 1 || out.Report.Needs[0] != want {
		t.Errorf("%+v", out.Report.Needs)
	}
}
