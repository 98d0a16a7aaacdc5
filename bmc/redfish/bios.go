package redfish

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// bios are the BIOS settings of a server.
type bios struct {
	there      bool
	attributes attributes
	uri        string
	at         string // where attributes are written
	registry   string // the name of the registry that describes them
}

// readBIOS reads the BIOS attributes, of which a few matter here.
func readBIOS(v *survey) bios {
	uri := linkOf(v.system.f["Bios"])
	o := v.get("Bios", uri)
	if o == nil {
		return bios{}
	}
	return bios{there: true, attributes: attributesOf(o), uri: uri, at: cmp.Or(settingsURI(o.f), uri), registry: o.text("AttributeRegistry")}
}

// attributesOf are the BIOS attributes as text.
func attributesOf(o *object) attributes {
	out := attributes{}
	for name, raw := range fields(o.f["Attributes"]) {
		out[name] = attributeText(raw)
	}
	return out
}

func attributeText(raw json.RawMessage) string {
	if s := textOf(raw); s != "" {
		return printable(s)
	}
	if s := strings.TrimSpace(string(raw)); s != "null" && s != `""` && len(s) < 64 {
		return printable(s)
	}
	return ""
}

// attributes are BIOS attributes by name.
type attributes map[string]string

// find is the attribute of that name, or the first whose name continues it with
// the number of its question (IPv4HTTPSupport_00F5, IPv4HTTPSupport#00F5).
func (a attributes) find(name string) (full, value string, ok bool) {
	if v, ok := a[name]; ok {
		return name, v, true
	}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if rest, is := strings.CutPrefix(k, name); is && (rest[0] == '_' || rest[0] == '#') {
			return k, a[k], true
		}
	}
	return "", "", false
}

// questions are the attribute of that name, or else all whose names continue it with the number of
// their question, which is four digits, sorted.
func (a attributes) questions(name string) (out []string) {
	if _, ok := a[name]; ok {
		return []string{name}
	}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		rest, is := strings.CutPrefix(k, name)
		if !is || len(rest) != 5 || rest[0] != '_' && rest[0] != '#' {
			continue
		}
		if _, err := hex.DecodeString(rest[1:]); err == nil {
			out = append(out, k)
		}
	}
	return out
}
