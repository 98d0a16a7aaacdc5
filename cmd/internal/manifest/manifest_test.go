package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const good = `# a rack
apiVersion: rackboot/v1
kind: Rack
metadata:
  name: r1
  labels: {row: "7", site: a.example}
spec:
  softTimeout: 90s
---
# nothing but a comment
---
apiVersion: rackboot/v1
kind: Server
metadata:
  name: n1
spec:
  bmcRef: {name: b1}
  segmentRef:
    name: boot
  bootMAC: 52:54:00:12:34:56
  macs:
  - 52:54:00:12:34:57
  - "52:54:00:12:34:58"
---
apiVersion: rackboot/v1
kind: Claim
metadata: {name: c1}
spec:
  serverRef: {name: n1}
  power: Off
  image: registry.example/os:1
  bootPolicy:
    firstBoot: UefiHttp
    boot:
`

func TestParse(t *testing.T) {
	set, err := Parse([]Source{{"a.yaml", []byte(good)}})
	if err != nil {
		t.Fatal(err)
	}
	objs := set.Objects()
	if len(objs) != 3 {
		t.Fatalf("%d resources", len(objs))
	}
	rack, srv, claim := objs[0].(*resource.Rack), objs[1].(*resource.Server), objs[2].(*resource.Claim)
	if rack.Spec.SoftTimeout.D().Seconds() != 90 || rack.Metadata.Labels["row"] != "7" || rack.Spec.SettleWindow != 0 {
		t.Errorf("rack: %+v", rack)
	}
	if !reflect.DeepEqual(srv.Spec.MACs, []string{"52:54:00:12:34:57", "52:54:00:12:34:58"}) || srv.Spec.SegmentRef.Name != "boot" {
		t.Errorf("server: %+v", srv.Spec)
	}
	if claim.Spec.Power != resource.WantOff || claim.Spec.BootPolicy.FirstBoot != resource.FirstBootUefiHTTP {
		t.Errorf("claim: %+v", claim.Spec) // YAML 1.2: Off is text
	}
	for _, row := range []struct {
		index int
		path  string
		line  int
	}{
		{0, "", 2},
		{0, "spec.softTimeout", 8},
		{0, "metadata.labels.row", 6},
		{1, "metadata.name", 15},
		{1, "spec.bmcRef.name", 17},
		{1, "spec.segmentRef.name", 19},
		{1, "spec.macs[1]", 23},
		{1, "spec.uuid", 16},
		{2, "spec.bootPolicy.boot", 34},
		{2, "spec.image", 31},
		{2, "metadata.uid", 27},
	} {
		if e := set.At(row.index, row.path, "m"); e.Line != row.line {
			t.Errorf("object %d %s: line %d, want %d (%s)", row.index, row.path, e.Line, row.line, e.Text)
		}
	}
	if e := set.At(7, "spec", "m"); e.Line != 0 {
		t.Errorf("an index that is none: %v", e)
	}
}

// Each row is one file; want lists "line path: part of message".
func TestErrors(t *testing.T) {
	rack := "apiVersion: rackboot/v1\nkind: Rack\nmetadata: {name: r1}\n"
	server := "apiVersion: rackboot/v1\nkind: Server\nmetadata: {name: n1}\nspec:\n  bmcRef: {name: b1}\n  segmentRef: {name: boot}\n"
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"unknown field", rack + "spec:\n  colour: red\n", []string{"5 spec.colour: there are description, discovery, inrush, pollInterval"}},
		{"unknown field at the top", rack + "sepc: {}\n", []string{"4 sepc: is no field"}},
		{"unknown nested field", server + "  bootMAC: 52:54:00:00:00:01\n  bmcRef2:\n    x: 1\n", []string{"8 spec.bmcRef2: is no field"}},
		{"key twice", rack + "spec:\n  description: a\n  softTimeout: 5s\n  description: b\n", []string{"7 spec.description: first on line 5"}},
		{"number for text", rack + "spec:\n  description: 7\n", []string{"5 spec.description: is the number 7, not text; put it in quotes"}},
		{"word for text", rack + "spec:\n  description: true\n", []string{"5 spec.description: is the word true"}},
		{"list for text", rack + "spec:\n  description:\n  - a\n", []string{"5 spec.description: is a list"}},
		{"text for mapping", rack + "spec: a\n", []string{"4 spec: is text, not a mapping"}},
		{"text for list", server + "  bootMAC: 52:54:00:00:00:01\n  macs: a\n", []string{"8 spec.macs: is text, not a list"}},
		{"number in a list", server + "  bootMAC: 52:54:00:00:00:01\n  macs:\n  - 52:54:00:00:00:02\n  - 7\n", []string{"10 spec.macs[1]: is the number 7"}},
		{"wrong item of a list", server + "  bootMAC: 52:54:00:00:00:01\n  macs:\n  - 52:54:00:00:00:02\n  - x\n", []string{"10 spec.macs[1]: is not a MAC"}},
		{"number for a label", "apiVersion: rackboot/v1\nkind: Rack\nmetadata:\n  name: r1\n  labels:\n    row: 1.10\n", []string{"6 metadata.labels.row: is the number 1.10"}},
		{"label without value", "apiVersion: rackboot/v1\nkind: Rack\nmetadata:\n  name: r1\n  labels:\n    row:\n", []string{"6 metadata.labels.row: has no value"}},
		{"bad duration", rack + "spec:\n  softTimeout: 90\n", []string{`5 spec.softTimeout: "90" is not a duration`}},
		{"duration out of range", rack + "spec:\n  softTimeout: 2h\n", []string{"5 spec.softTimeout: is not between"}},
		{"bad time", "apiVersion: rackboot/v1\nkind: Rack\nmetadata:\n  name: r1\n  createdAt: soon\n", []string{"5 metadata.createdAt: is not a time"}},
		{"number out of range", "apiVersion: rackboot/v1\nkind: Rack\nmetadata:\n  name: r1\n  generation: -1\n", []string{"5 metadata.generation: -1 is out of range"}},
		{"unknown word", server + "  bootMAC: 52:54:00:00:00:01\n  architecture: mips\n", []string{"8 spec.architecture: is not one of amd64, arm64"}},
		{"missing field", server, []string{"4 spec.bootMAC: is not a MAC"}},
		{
			"missing spec", "apiVersion: rackboot/v1\nkind: Claim\nmetadata: {name: c1}\n",
			[]string{"1 spec: exactly one of", "1 spec.power: is not one of", "1 spec: give exactly one of image, imageFrom and bootEnv"},
		},
		{
			"several at once", rack + "spec:\n  colour: red\n  softTimeout: x\n  pollInterval: 3h\n",
			[]string{"5 spec.colour: is no field", "6 spec.softTimeout: is not a duration", "7 spec.pollInterval: is not between"},
		},
		{"unknown kind", "apiVersion: rackboot/v1\nkind: Pod\n", []string{"2 kind: is not one of Secret, Param, Profile, Template, BootEnv, BootImage, ManagedBootImages, ServerGroup, FirmwareProfile, Rack, Segment, BMC, Server, Claim"}},
		{"kind of the hub", "apiVersion: rackboot/v1\nkind: Hold\n", []string{"2 kind: made by the hub"}},
		{"no apiVersion", "# c\n\nkind: Rack\n", []string{`3 apiVersion: "" is not rackboot/v1`}},
		{"other apiVersion", "kind: Rack\napiVersion: v1\n", []string{`2 apiVersion: "v1" is not rackboot/v1`}},
		{"second document", rack + "---\n" + rack + "x: 1\n", []string{"8 x: is no field"}},
		{"same name", rack + "---\n" + rack, []string{"7 metadata.name: first in f.yaml:3"}},
		{"alias", rack + "spec:\n  description: &a x\n", []string{"5 spec.description: anchors"}},
		{"merge", rack + "spec:\n  <<: {description: x}\n", []string{"5 spec: merge keys"}},
		{"tag", rack + "spec:\n  description: !!str 7\n", []string{"5 spec.description: tag !!str"}},
		{"key is a number", rack + "spec:\n  7: x\n", []string{"5 spec: the key 7"}},
		{"a list", "- a\n", []string{"1 : a resource is a mapping"}},
		{"a tab", rack + "spec:\n\tdescription: x\n", []string{"5 : is no YAML"}},
		{"open quote", rack + "spec:\n  description: \"x\n", []string{"5 : is no YAML"}},
		{"CRLF", strings.ReplaceAll(rack+"spec:\n  colour: red\n", "\n", "\r\n"), []string{"5 spec.colour: is no field"}},
		{"JSON", "{\"apiVersion\": \"rackboot/v1\",\n \"kind\": \"Rack\",\n \"metadata\": {\"name\": \"r1\"},\n \"spec\": {\n  \"colour\": 1}}", []string{"5 spec.colour: is no field"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Parse([]Source{{"f.yaml", []byte(row.text)}})
			errs, ok := errors.AsType[Errors](err)
			if !ok || len(errs) != len(row.want) {
				t.Fatalf("want %q, got\n%v", row.want, err)
			}
			lines := strings.Split(row.text, "\n")
			for i, e := range errs {
				where, says, _ := strings.Cut(row.want[i], ": ")
				if got := fmt.Sprintf("%d %s", e.Line, e.Path); got != where || !strings.Contains(e.Message, says) {
					t.Errorf("want %q, got %q: %s", row.want[i], got, e.Message)
				}
				if want := strings.TrimRight(lines[e.Line-1], "\r"); e.Text != want {
					t.Errorf("text %q, want %q", e.Text, want)
				}
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	_, err := Parse([]Source{{"rack.yaml", []byte("apiVersion: rackboot/v1\nkind: Rack\nmetadata: {name: r1}\nspec:\n  colour: red\n")}})
	want := "rack.yaml:5: spec.colour: is no field here; there are description, discovery, inrush, pollInterval, requireEvidence, safeStop, secrets, settleWindow, softTimeout, standby\n    colour: red"
	if err == nil || err.Error() != want {
		t.Fatalf("got  %v\nwant %s", err, want)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.yaml": "b", "a.json": "a", "c.txt": "c", "empty/x.txt": "", "sub/d.yaml": "d"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read([]string{"-", dir, filepath.Join(dir, "c.txt")}, strings.NewReader("in"))
	want := []Source{
		{"stdin", []byte("in")},
		{filepath.Join(dir, "a.json"), []byte("a")},
		{filepath.Join(dir, "b.yaml"), []byte("b")},
		{filepath.Join(dir, "c.txt"), []byte("c")},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Fatalf("%v %s", err, cmp.Diff(want, got))
	}
	for path, code := range map[string]protocol.Code{"none": protocol.CodeNotFound, "empty": protocol.CodeInvalid} {
		if _, err := Read([]string{filepath.Join(dir, path)}, nil); protocol.CodeOf(err) != code || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Read([]string{"-"}, strings.NewReader(strings.Repeat("x", maxFile+1))); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("too long: %v", err)
	}
	if _, err := Parse([]Source{{"c.yaml", []byte("# nothing\n")}}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("no resource: %v", err)
	}
}
