package ignition

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"rackboot/protocol"
)

// config2 is what is checked of specification 2: the rest of a config has to be JSON of
// the right kind, and is the server's to judge.
type config2 struct {
	Storage struct {
		Disks       []json.RawMessage `json:"disks"`
		Raid        []json.RawMessage `json:"raid"`
		Filesystems []struct {
			Name string `json:"name"`
		} `json:"filesystems"`
		Files       []node2 `json:"files"`
		Directories []node2 `json:"directories"`
		Links       []node2 `json:"links"`
	} `json:"storage"`
	Systemd struct {
		Units []struct {
			Name     string `json:"name"`
			Contents string `json:"contents"`
		} `json:"units"`
	} `json:"systemd"`
	Networkd struct {
		Units []struct {
			Name     string `json:"name"`
			Contents string `json:"contents"`
		} `json:"units"`
	} `json:"networkd"`
	Passwd struct {
		Users []struct {
			Name string   `json:"name"`
			Keys []string `json:"sshAuthorizedKeys"`
		} `json:"users"`
		Groups []struct {
			Name string `json:"name"`
		} `json:"groups"`
	} `json:"passwd"`
}

type node2 struct {
	Filesystem string `json:"filesystem"`
	Path       string `json:"path"`
}

// schema2 are the sections of specification 2.4. One that it does not know is refused:
// every version of Ignition drops it without a word on the host.
var schema2 = []string{"ignition", "storage", "systemd", "networkd", "passwd"}

// unitEndings are of systemd.unit(5); those of networkd are of systemd.network(5).
var unitEndings = []string{".service", ".socket", ".device", ".mount", ".automount", ".swap", ".target", ".path", ".timer", ".snapshot", ".slice", ".scope"}

var networkEndings = []string{".link", ".netdev", ".network"}

func check2(raw []byte) (out protocol.FieldErrors) {
	var sections map[string]json.RawMessage
	if errs := decode(raw, &sections); errs != nil {
		return errs
	}
	for name := range sections {
		if !slices.Contains(schema2, name) {
			return wrong("$", "has a section that the specification does not know; there are "+strings.Join(schema2, ", "))
		}
	}
	var c config2
	if errs := decode(raw, &c); errs != nil {
		return errs
	}
	add := func(path, message string) { out = append(out, protocol.FieldError{Path: path, Message: message}) }
	for name, nodes := range map[string][]node2{"files": c.Storage.Files, "directories": c.Storage.Directories, "links": c.Storage.Links} {
		for i, n := range nodes {
			at := fmt.Sprintf("$.storage.%s[%d]", name, i)
			if n.Filesystem == "" {
				add(at+".filesystem", "is missing")
			}
			if !path.IsAbs(n.Path) {
				add(at+".path", "path not absolute")
			}
		}
	}
	for i, u := range c.Systemd.Units {
		if !slices.Contains(unitEndings, path.Ext(u.Name)) {
			add(fmt.Sprintf("$.systemd.units[%d].name", i), "invalid systemd unit extension")
		}
	}
	for i, u := range c.Networkd.Units {
		if !slices.Contains(networkEndings, path.Ext(u.Name)) {
			add(fmt.Sprintf("$.networkd.units[%d].name", i), "is not .link, .netdev or .network")
		}
	}
	for i, u := range c.Passwd.Users {
		if u.Name == "" {
			add(fmt.Sprintf("$.passwd.users[%d].name", i), "is missing")
		}
	}
	for i, g := range c.Passwd.Groups {
		if g.Name == "" {
			add(fmt.Sprintf("$.passwd.groups[%d].name", i), "is missing")
		}
	}
	slices.SortFunc(out, func(a, b protocol.FieldError) int { return strings.Compare(a.Path, b.Path) })
	return out
}
