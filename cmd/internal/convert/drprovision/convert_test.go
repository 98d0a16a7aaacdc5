package drprovision

import (
	"slices"
	"strings"
	"testing"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol/resource"
)

func converted(t *testing.T, text string) convert.Result {
	t.Helper()
	c := convert.New(convert.Settings{Rack: "r1"})
	if err := Convert(c, []convert.File{{Name: "f", Data: []byte(text)}}); err != nil {
		t.Fatal(err)
	}
	out, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Objects that stand by themselves, as drpcli KIND list and show write them, are known by their fields.
func TestKindsByFields(t *testing.T) {
	for text, want := range map[string]string{
		`{"Name":"a","OS":{"Name":"x-1"},"Initrds":null}`:      "bootenv/a",
		`[{"ID":"a.tmpl","Contents":"x"}]`:                     "template/a-tmpl",
		`{"Name":"a","Schema":{"type":"string"}}`:              "param/a",
		`[{"Name":"a","Params":{"x":1}}]`:                      "profile/a",
		`[{"Name":"a","HardwareAddrs":["52:54:00:00:00:01"]}]`: "bmc/a-bmc server/a",
		`{"Name":"a","Uuid":"x","BootEnv":"local"}`:            "bmc/a-bmc server/a",
		`{"Name":"a","Whatever":1}`:                            "",
		`7`:                                                    "",
		`{"sections":{"bootenvs":[],"strange":{"a":{"b":1}}}}`: "",
	} {
		if got := strings.Join(converted(t, text).Report.Written, " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Templates are called by their new names, in each form of a call, and only those that there are.
func TestCallsFollowNames(t *testing.T) {
	out := converted(t, `{"sections":{"templates":{
		"a.tmpl":{"ID":"a.tmpl","Contents":"x"},
		"b":{"ID":"b","Contents":"{{template \"a.tmpl\" .}} {{- .CallTemplate \"a.tmpl\" . }} {{template `+"`a.tmpl`"+` .}} {{template \"other.tmpl\" .}} a.tmpl"}}}}`)
	i := slices.IndexFunc(out.Objects, func(o resource.Object) bool { return o.Head().Metadata.Name == "b" })
	b, is := out.Objects[i].(*resource.Template)
	if want := "{{template \"a-tmpl\" .}} {{- .CallTemplate \"a-tmpl\" . }} {{template `a-tmpl` .}} {{template \"other.tmpl\" .}} a.tmpl"; !is || b.Spec.Contents != want {
		t.Errorf("%s", b.Spec.Contents)
	}
}

// Content of before there were architectures is taken as it is, but for slashes at the beginning of paths.
func TestLegacyFields(t *testing.T) {
	out := converted(t, `{"Name":"old-install","OS":{"Name":"x-1","IsoFile":"x.iso","IsoSha256":"`+strings.Repeat("0", 64)+`","IsoUrl":"https://mirror.example/x.iso"},
		"Kernel":"/vmlinuz","Initrds":["a.img","/b.img"],"BootParams":"quiet","RequiredParams":["a"]}`)
	e, is := out.Objects[0].(*resource.BootEnv)
	if !is || e.Spec.Kernel != "vmlinuz" || !slices.Equal(e.Spec.Initrds, []string{"a.img", "b.img"}) || e.Spec.BootParams != "quiet" || e.Spec.OS.IsoFile != "x.iso" ||
		e.Spec.OS.IsoSha256 == "" || e.Spec.OS.IsoURL == "" || !slices.Equal(e.Spec.RequiredParams, []string{"a"}) || len(out.Report.Needs) > 0 {
		t.Errorf("%+v %+v", out.Objects, out.Report.Needs)
	}
	if out.Report.Outcome() != convert.Whole {
		t.Errorf("%+v", out.Report.Findings)
	}
}

// What dr-provision has encrypted nobody else can read; what refers to nothing is a need; global is everybody's.
func TestMachine(t *testing.T) {
	out := converted(t, `[{"Name":"m","HardwareAddrs":["x","52:54:00:00:00:01"],"Profiles":["global","gone"],
		"Params":{"ipmi/address":"bmc.example","ipmi/username":"root","ipmi/password":{"Key":"a","Nonce":"b","Payload":"c"},"api-token":"canary","plain":{"a":[1]}}},
		{"Name":"power","Arch":"ppc64le","HardwareAddrs":[]}]`)
	if got := strings.Join(out.Report.Written, " "); got != "secret/m-params bmc/m-bmc server/m" {
		t.Error(got)
	}
	s, is := out.Objects[2].(*resource.Server)
	if !is || s.Spec.BootMAC != "52:54:00:00:00:01" || !slices.Equal(s.Spec.Profiles, []string{"gone"}) || s.Spec.ParamsSecretRef == nil || len(s.Spec.Params) != 1 {
		t.Errorf("%+v", s)
	}
	codes := map[string]convert.Code{}
	for _, f := range out.Report.Findings {
		codes[f.Object+" "+f.Field] = f.Code
	}
	for field, want := range map[string]convert.Code{
		"machines/m Params.ipmi/password": convert.NeedsCredentials, "machines/m HardwareAddrs[0]": convert.BadValue, "machines/m Params.api-token": convert.ToSecret,
		"machines/power ": convert.OtherMachine,
	} {
		if codes[field] != want {
			t.Errorf("%s: %s, want %s", field, codes[field], want)
		}
	}
	if !slices.Contains(out.Report.Needs, convert.Need{Object: "server/m", Field: "spec.profiles", Code: convert.NeedsOther}) {
		t.Errorf("%v", out.Report.Needs)
	}
}
