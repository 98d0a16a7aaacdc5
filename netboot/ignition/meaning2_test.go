package ignition

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// means2 reads specification 2.0 to 2.4, and 1.
func means2(t testing.TB, raw []byte, places map[string]string) []string {
	v := parsed(t, raw)
	if v["ignitionVersion"] != nil {
		return means1(v, places)
	}
	if v.in("ignition").text("version") == "2.0.0" { // no password was none said
		for _, u := range v.in("passwd").all("users") {
			if u.text("passwordHash") == "" {
				delete(u, "passwordHash")
			}
		}
	}
	out := alike(v)
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	old := v.in("ignition").text("version") < "2.3.0"
	inner := func(t testing.TB, raw []byte) []string {
		if strings.HasPrefix(parsed(t, raw).in("ignition").text("version"), "3") {
			return means3(t, raw)
		}
		return means2(t, raw, places)
	}
	config := v.in("ignition", "config")
	for i, r := range config.all("append") {
		out = append(out, includes(t, fmt.Sprintf("append %d", i), r, inner)...)
	}
	if config.in("replace").text("source") != "" {
		out = append(out, includes(t, "replace", config.in("replace"), inner)...)
	}
	out = append(out, units2(v)...)
	st := v.in("storage")
	out = append(out, disks2(st, old)...)
	for _, f := range st.all("filesystems") {
		m := f.in("mount")
		if f.text("name") == "root" || m == nil || strings.HasSuffix(m.text("device"), "/ROOT") {
			continue
		}
		wipe, options := m.or("wipeFilesystem", false), m.words("options")
		if c := m.in("create"); c != nil {
			wipe, options = c.or("force", false), c.words("options")
		}
		say("filesystem %s at %q %s wipe %v label %v uuid %v %v", m.text("device"), places[f.text("name")], m.text("format"), wipe, m.or("label", "any"), m.or("uuid", "any"), options)
	}
	at := func(n value) string { return path.Join("/", places[n.text("filesystem")], n.text("path")) }
	mode := func(n value) any { // the special bits have never been set
		if n["mode"] == nil {
			return 0
		}
		return int(n["mode"].(float64)) % 0o1000
	}
	for _, f := range st.all("files") {
		switch {
		case f["append"] == true && f["mode"] == nil:
			say("file %s mode kept owner %s appended %s", at(f), owner(f), fetched(f.in("contents")))
		case f["append"] == true:
			say("file %s mode %v owner %s appended %s", at(f), mode(f), owner(f), fetched(f.in("contents")))
		default:
			say("file %s mode %v owner %s overwrite %v %s", at(f), mode(f), owner(f), f.or("overwrite", true), fetched(f.in("contents")))
		}
	}
	for _, d := range st.all("directories") {
		say("directory %s mode %v owner %s overwrite %v", at(d), mode(d), owner(d), d.or("overwrite", false))
	}
	for _, l := range st.all("links") {
		say("link %s to %s hard %v owner %s overwrite %v", at(l), l.text("target"), l.or("hard", false), owner(l), l.or("overwrite", false))
	}
	slices.Sort(out)
	return out
}

func units2(v value) (out []string) {
	for _, u := range v.in("systemd").all("units") {
		enabled := u.or("enabled", "as it is")
		if u["enabled"] == nil && u["enable"] == true {
			enabled = true
		}
		out = append(out, unitMeans(u, enabled)...)
	}
	return out
}

func disks2(st value, old bool) (out []string) {
	for _, d := range st.all("disks") {
		out = append(out, fmt.Sprintf("disk %s wipe %v", d.text("device"), d.or("wipeTable", false)))
		for _, p := range d.all("partitions") {
			absent, label := "any", any("any")
			if old {
				absent = "0"
				if p.or("number", 0.0) == 0.0 {
					label = ""
				}
				if p.text("label") == "" { // was nothing said
					delete(p, "label")
				}
			}
			size := func(name string) string {
				if p[name] != nil {
					return bytesOf(p, name, 512, "")
				}
				return bytesOf(p, name+"MiB", 1<<20, absent)
			}
			out = append(out, fmt.Sprintf("partition of %s number %v label %v start %s size %s type %q guid %q wipe %v exists %v", d.text("device"), p.or("number", 0), p.or("label", label),
				size("start"), size("size"), p.text("typeGuid"), p.text("guid"), p.or("wipePartitionEntry", false), p.or("shouldExist", true)))
		}
	}
	return out
}

// means1 reads specification 1. A place is by the device.
func means1(v value, places map[string]string) []string {
	out := append(alike(v), units2(v)...)
	out = append(out, disks2(v.in("storage"), true)...)
	for _, f := range v.in("storage").all("filesystems") {
		place, ok := places[f.text("device")]
		if !ok || place != "/" {
			out = append(out, fmt.Sprintf("filesystem %s at %q %s wipe %v label any uuid any %v", f.text("device"), place, f.text("format"), f.in("create").or("force", false), f.in("create").words("options")))
		}
		for _, n := range f.all("files") {
			out = append(out, fmt.Sprintf("file %s mode %v owner %v:%v overwrite true %q hash none", path.Join("/", place, n.text("path")), n.or("mode", 0), n.or("uid", 0), n.or("gid", 0), n.text("contents")))
		}
	}
	slices.Sort(out)
	return out
}
