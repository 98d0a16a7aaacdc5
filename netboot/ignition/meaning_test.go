package ignition

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// What configurations mean, as sentences that do not depend on the specification. They
// are read from the documents configuration-v2_*.md and configuration-v3_1.md, and share
// nothing with what they judge. One entry in places says where the files of a filesystem
// of specification 2 are, by its name.

type value map[string]any

func parsed(t testing.TB, raw []byte) value {
	t.Helper()
	var v value
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

func (v value) in(keys ...string) value {
	for _, k := range keys {
		v, _ = v[k].(map[string]any)
	}
	return v
}

func (v value) all(key string) (out []value) {
	list, _ := v[key].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	return out
}

// or is what the field says, or what its absence means.
func (v value) or(key string, absent any) any {
	if got, ok := v[key]; ok && got != nil {
		return got
	}
	return absent
}

func (v value) words(key string) (out []string) {
	list, _ := v[key].([]any)
	for _, e := range list {
		out = append(out, e.(string))
	}
	return out
}

// set is a list whose order and repeats mean nothing.
func (v value) set(key string) []string {
	out := v.words(key)
	slices.Sort(out)
	return slices.Compact(out)
}

func (v value) text(key string) string { s, _ := v[key].(string); return s }

// data is what a source has: itself where it is in the URL.
func data(source string) string {
	rest, ok := strings.CutPrefix(source, "data:")
	if !ok {
		return source
	}
	kind, body, _ := strings.Cut(rest, ",")
	if strings.HasSuffix(kind, "base64") {
		raw, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return "unreadable"
		}
		return fmt.Sprintf("%q", raw)
	}
	raw, err := url.PathUnescape(body)
	if err != nil {
		return "unreadable"
	}
	return fmt.Sprintf("%q", raw)
}

func fetched(r value) string {
	out := data(r.text("source")) + " hash " + fmt.Sprint(r.in("verification").or("hash", "none"))
	if r.text("compression") == "gzip" {
		out += " gzip"
	}
	for _, h := range r.all("httpHeaders") {
		out += " header " + h.text("name") + ": " + h.text("value")
	}
	return out
}

func owner(n value) string {
	return fmt.Sprint(n.in("user").or("id", n.in("user").or("name", 0)), ":", n.in("group").or("id", n.in("group").or("name", 0)))
}

// alike are the sentences of what both specifications say in the same words.
func alike(v value) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	ign := v.in("ignition")
	say("timeouts %v %v", ign.in("timeouts").or("httpResponseHeaders", "default"), ign.in("timeouts").or("httpTotal", "default"))
	say("proxy %q %q %v", ign.in("proxy").text("httpProxy"), ign.in("proxy").text("httpsProxy"), ign.in("proxy").set("noProxy"))
	var cas []string
	for _, ca := range ign.in("security", "tls").all("certificateAuthorities") {
		cas = append(cas, "authority "+fetched(ca))
	}
	slices.Sort(cas)
	out = append(out, slices.Compact(cas)...)
	for _, u := range v.in("passwd").all("users") {
		say("user %s hash %v keys %v uid %v gecos %q home %q %v primary %q groups %v %v %v shell %q %v", u.text("name"), u.or("passwordHash", "none"), u.set("sshAuthorizedKeys"),
			u.or("uid", "next"), u.text("gecos"), u.text("homeDir"), u.or("noCreateHome", false), u.text("primaryGroup"), u.set("groups"), u.or("noUserGroup", false), u.or("noLogInit", false), u.text("shell"), u.or("system", false))
	}
	for _, g := range v.in("passwd").all("groups") {
		say("group %s %v %q %v", g.text("name"), g.or("gid", "next"), g.text("passwordHash"), g.or("system", false))
	}
	for _, r := range v.in("storage").all("raid") {
		say("raid %s %s %v spares %v %v", r.text("name"), r.text("level"), r.words("devices"), r.or("spares", 0), r.words("options"))
	}
	return out
}

func unitMeans(u value, enabled any) (out []string) {
	out = append(out, fmt.Sprintf("unit %s enabled %v mask %v %q", u.text("name"), enabled, u.or("mask", false), u.text("contents")))
	for _, d := range u.all("dropins") {
		out = append(out, fmt.Sprintf("drop-in %s/%s %q", u.text("name"), d.text("name"), d.text("contents")))
	}
	return out
}

// means3 reads specification 3.0 to 3.5.
func means3(t testing.TB, raw []byte) []string {
	v := parsed(t, raw)
	out := alike(v)
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	config := v.in("ignition", "config")
	for i, r := range config.all("merge") {
		out = append(out, includes(t, fmt.Sprintf("append %d", i), r, means3)...)
	}
	if config.in("replace").text("source") != "" {
		out = append(out, includes(t, "replace", config.in("replace"), means3)...)
	}
	for _, u := range v.in("systemd").all("units") {
		out = append(out, unitMeans(u, u.or("enabled", "as it is"))...)
	}
	st := v.in("storage")
	for _, d := range st.all("disks") {
		say("disk %s wipe %v", d.text("device"), d.or("wipeTable", false))
		for _, p := range d.all("partitions") {
			say("partition of %s number %v label %v start %s size %s type %q guid %q wipe %v exists %v", d.text("device"), p.or("number", 0), p.or("label", "any"),
				bytesOf(p, "startMiB", 1<<20, "any"), bytesOf(p, "sizeMiB", 1<<20, "any"), p.text("typeGuid"), p.text("guid"), p.or("wipePartitionEntry", false), p.or("shouldExist", true))
		}
	}
	for _, f := range st.all("filesystems") {
		say("filesystem %s at %q %s wipe %v label %v uuid %v %v", f.text("device"), f.text("path"), f.text("format"), f.or("wipeFilesystem", false), f.or("label", "any"), f.or("uuid", "any"), f.words("options"))
	}
	for _, f := range st.all("files") {
		if appended := f.all("append"); len(appended) > 0 {
			for _, a := range appended {
				say("file %s mode %v owner %s appended %s", f.text("path"), f.or("mode", "kept"), owner(f), fetched(a))
			}
			continue
		}
		say("file %s mode %v owner %s overwrite %v %s", f.text("path"), f.or("mode", 0o644), owner(f), f.or("overwrite", false), fetched(f.in("contents")))
	}
	for _, d := range st.all("directories") {
		say("directory %s mode %v owner %s overwrite %v", d.text("path"), d.or("mode", 0o755), owner(d), d.or("overwrite", false))
	}
	for _, l := range st.all("links") {
		say("link %s to %s hard %v owner %s overwrite %v", l.text("path"), l.text("target"), l.or("hard", false), owner(l), l.or("overwrite", false))
	}
	slices.Sort(out)
	return out
}

// bytesOf is a size of a partition.
func bytesOf(p value, field string, unit float64, absent string) string {
	n, ok := p[field].(float64)
	if !ok {
		return absent
	}
	return fmt.Sprintf("%.0f", n*unit)
}

// includes are the sentences of a configuration in a configuration.
func includes(t testing.TB, how string, r value, means func(testing.TB, []byte) []string) (out []string) {
	source := r.text("source")
	if !strings.HasPrefix(source, "data:") {
		return []string{how + " " + fetched(r)}
	}
	raw := data(source)
	var inner string
	if _, err := fmt.Sscanf(raw, "%q", &inner); err != nil {
		t.Fatalf("%s: %v", how, err)
	}
	for _, s := range means(t, []byte(inner)) {
		out = append(out, how+": "+s)
	}
	hash := r.in("verification").text("hash")
	return append(out, fmt.Sprintf("%s: hash %v fits %v", how, hash != "", hash != "" && hashFits(hash, []byte(inner))))
}
