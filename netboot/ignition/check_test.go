package ignition

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const canary = "canary9f1c"

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, raw string
		version   string // of what is good
		path      string // of what is not
		message   string
	}{
		{"3.6", `{"ignition":{"version":"3.6.0"}}`, "3.6.0", "", ""},
		{"3.0", `{"ignition":{"version":"3.0.0"},"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["k"]}]}}`, "3.0.0", "", ""},
		{"3.1 file", `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/x","contents":{"source":"data:,x"}}]}}`, "3.1.0", "", ""},
		{"2.4 (facts boot-images §2)", `{"ignition":{"version":"2.4.0"},"storage":{"files":[{"filesystem":"root","path":"/etc/x"}]},"systemd":{"units":[{"name":"a.service"}]}}`, "2.4.0", "", ""},
		{"1", `{"ignitionVersion":1,"systemd":{"units":[{"name":"a.service"}]}}`, "1", "", ""},
		{"2.0", ` {"ignition":{"version":"2.0.0"},"networkd":{"units":[{"name":"00-a.network"}]}}`, "2.0.0", "", ""},
		{"Butane of Fedora CoreOS", "variant: fcos\nversion: 1.5.0\npasswd:\n  users:\n    - name: core\n", "3.4.0", "", ""},
		{"Butane of Flatcar", "# a note\nvariant: flatcar # another\nversion: \"1.1.0\"\n", "3.4.0", "", ""},

		{"empty (facts boot-images §2)", " \n", "", "$", "is empty"},
		{"cloud-config", "#cloud-config\nusers: [" + canary + "]\n", "", "$", "cloud-init"},
		{"a script", "#!/bin/sh\n" + canary, "", "$", "cloud-init"},
		{"JSON that is no object", `["` + canary + `"]`, "", "$.variant", "neither"},
		{"cut JSON", `{"ignition":{"version":"3.0.0"},"` + canary, "", "$", "not JSON"},
		{"no version", `{"ignition":{}}`, "", "$.ignition.version", "missing"},
		{"version of another type", `{"ignition":{"version":["` + canary + `"]}}`, "", "$.ignition.version", "type"},
		{"version to come", `{"ignition":{"version":"3.7.0-experimental"}}`, "", "$.ignition.version", "one of"},
		{"1: another", `{"ignitionVersion":2}`, "", "$.ignitionVersion", "is not 1"},
		{"1: type", `{"ignitionVersion":1,"storage":"` + canary + `"}`, "", "$.storage", "type"},
		{"2.5", `{"ignition":{"version":"2.5.0-experimental"}}`, "", "$.ignition.version", "one of"},
		{"3: path", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"` + canary + `"}]}}`, "", "$.storage.files[0].path", "absolute"},
		{"3: source", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"` + canary + `://x"}}]}}`, "", "$.storage.files[0].contents.source", "scheme"},
		{"3: type", `{"ignition":{"version":"3.2.0"},"storage":{"files":"` + canary + `"}}`, "", "$", ""},
		{"3: unit", `{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"` + canary + `"}]}}`, "", "$.systemd.units[0].name", "extension"},
		{"2: path", `{"ignition":{"version":"2.2.0"},"storage":{"files":[{"filesystem":"root","path":"` + canary + `"}]}}`, "", "$.storage.files[0].path", "absolute"},
		{"2: type", `{"ignition":{"version":"2.2.0"},"storage":{"files":{"a":"` + canary + `"}}}`, "", "$.storage.files", "type"},
		{"2: section", `{"ignition":{"version":"2.2.0"},"` + canary + `":{}}`, "", "$", "section"},
		{"2: unit", `{"ignition":{"version":"2.2.0"},"systemd":{"units":[{"name":"` + canary + `"}]}}`, "", "$.systemd.units[0].name", "extension"},
		{"Butane without variant", "version: 1.5.0\nx: " + canary + "\n", "", "$.variant", "missing"},
		{"Butane of tomorrow", "variant: fcos\nversion: 9.9.9\n", "", "$.version", "known"},
		{"Butane: type", "variant: fcos\nversion: 1.5.0\nstorage: " + canary + "\n", "", "$", ""},
		{"Butane: path", "variant: fcos\nversion: 1.5.0\nstorage:\n  files:\n    - path: " + canary + "\n", "", "$.storage.files[0].path", "absolute"},
		{"Butane: the hub's own file", "variant: fcos\nversion: 1.5.0\nstorage:\n  files:\n    - path: /a\n      contents:\n        local: /etc/passwd\n", "", "$.storage.files[0].contents.local", "valid"},
	} {
		got, errs := Check([]byte(row.raw))
		if got.Version != row.version || (len(errs) == 0) != (row.version != "") {
			t.Errorf("%s: version %q, %v", row.name, got.Version, errs)
			continue
		}
		if strings.Contains(errs.Error(), canary) {
			t.Errorf("%s: %v has what is in it", row.name, errs)
		}
		if len(errs) > 0 && (errs[0].Path != row.path || !strings.Contains(errs[0].Message, row.message)) {
			t.Errorf("%s: %q at %s; want %q at %s", row.name, errs[0].Message, errs[0].Path, row.message, row.path)
		}
		if len(errs) == 0 && !json.Valid(got.JSON) {
			t.Errorf("%s: %s", row.name, got.JSON)
		}
	}
	if _, errs := Check(bytes.Repeat([]byte(" "), maxBytes+1)); len(errs) == 0 {
		t.Error("what is too long is taken")
	}
}

// FuzzCheck: what is good is JSON that is good again, and nobody panics.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`{"ignition":{"version":"3.6.0"}}`, `{"ignition":{"version":"2.4.0"},"storage":{"files":[{}]}}`,
		"variant: fcos\nversion: 1.5.0\nstorage: {files: [{path: /a, contents: {inline: x}}]}\n", "a: &a [*a]\nvariant: fcos\nversion: 1.5.0\n", "#!",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, errs := Check(raw)
		if len(errs) > 0 {
			for _, e := range errs {
				if !strings.HasPrefix(e.Path, "$") || e.Message == "" {
					t.Errorf("%+v", e)
				}
			}
			return
		}
		if again, errs := Check(c.JSON); len(errs) > 0 || again.Version != c.Version {
			t.Errorf("%q is good, and then not: %v", raw, errs)
		}
	})
}
