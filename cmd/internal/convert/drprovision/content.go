package drprovision

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/cmd/internal/convert"
)

// part is one object of a bundle or list.
type part struct {
	*convert.Object
	section, name string
}

// The sections that are converted, in the order in which they are.
func sections() []string { return []string{"templates", "params", "profiles", "bootenvs", "machines"} }

// Convert reads bundles, and lists or single objects as drpcli prints them.
func Convert(c *convert.Conversion, files []convert.File) error {
	var parts []part
	for _, f := range files {
		docs, err := convert.Read(f)
		if err != nil {
			return err
		}
		for i, d := range docs {
			parts = append(parts, parted(c, f.Name, fmt.Sprintf("document %d", i+1), d)...)
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return rank(a.section) - rank(b.section) })
	r := &room{c: c, templates: map[string]string{}}
	for _, p := range parts {
		if id := p.Field("ID").Text(); p.section == "templates" && id != "" {
			r.templates[id] = convert.Name(id)
		}
	}
	for _, p := range parts {
		r.part(p)
		p.Close()
	}
	r.finish()
	return nil
}

func rank(section string) int {
	if i := slices.Index(sections(), section); i >= 0 {
		return i
	}
	return len(sections())
}

// parted takes a document apart: a bundle, a list, or one object.
func parted(c *convert.Conversion, file, place string, v any) []part {
	switch v := v.(type) {
	case []any:
		var out []part
		for i, e := range v {
			out = append(out, parted(c, file, fmt.Sprintf("%s item %d", place, i+1), e)...)
		}
		return out
	case map[string]any:
		if all, is := v["sections"].(map[string]any); is {
			rest := maps.Clone(v)
			delete(rest, "sections")
			o := c.Object(file, "bundle", rest)
			o.Field("meta").NoEqual(convert.AssetData)
			o.Close()
			var out []part
			for _, section := range slices.Sorted(maps.Keys(all)) {
				out = append(out, sectioned(c, file, section, all[section])...)
			}
			return out
		}
		return []part{{c.Object(file, nameOf(v, place), v), sectionOf(v), ""}}
	}
	o := c.Object(file, place, v)
	o.Refuse(convert.BadValue)
	o.Close()
	return nil
}

func sectioned(c *convert.Conversion, file, section string, v any) []part {
	all, is := v.(map[string]any)
	if !is {
		o := c.Object(file, section, v)
		o.Refuse(convert.BadValue)
		o.Close()
		return nil
	}
	var out []part
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, part{c.Object(file, section+"/"+name, all[name]), section, name})
	}
	return out
}

// sectionOf is which kind an object is that stands by itself, by fields that only that kind has.
func sectionOf(m map[string]any) string {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { _, is := m[n]; return !is })
	}
	switch {
	case has("HardwareAddrs"), has("Uuid", "BootEnv"):
		return "machines"
	case has("OS", "Name"):
		return "bootenvs"
	case has("ID", "Contents"):
		return "templates"
	case has("Schema", "Name"):
		return "params"
	case has("Params", "Name"):
		return "profiles"
	}
	return ""
}

func nameOf(m map[string]any, place string) string {
	section := sectionOf(m)
	for _, k := range []string{"Name", "ID"} {
		if s, is := m[k].(string); is && s != "" && section != "" {
			return section + "/" + s
		}
	}
	return place
}

// room is one conversion.
type room struct {
	c         *convert.Conversion
	templates map[string]string // names of Templates by the ids of dr-provision
	wants     []want
}

// want is a reference that is looked up when everything was read.
type want struct{ from, field, to string }

// finish names the references to what the input does not have.
func (r *room) finish() {
	have := map[string]bool{}
	for _, w := range r.wants {
		have[w.to] = r.c.There(w.to)
	}
	for _, w := range r.wants {
		if !have[w.to] {
			r.c.Need(w.from, w.field, convert.NeedsOther)
		}
	}
}

func (r *room) part(p part) {
	switch p.section {
	case "templates":
		r.template(p)
	case "params":
		r.param(p)
	case "profiles":
		r.profile(p)
	case "bootenvs":
		r.bootEnv(p)
	case "machines":
		r.machine(p)
	case "tasks", "stages", "workflows", "jobs", "blueprints", "triggers", "work_orders", "contexts":
		p.Whole().NoEqual(convert.Workflow)
	case "subnets", "reservations", "leases", "interfaces":
		p.Whole().NoEqual(convert.NetworkService)
	case "prefs", "users", "roles", "tenants", "plugins", "plugin_providers", "content":
		p.Whole().NoEqual(convert.NotManaged)
	default:
		p.Whole().NoEqual(convert.UnknownKind)
	}
}

// kept marks what dr-provision keeps of every object by itself.
func kept(p part) {
	for _, f := range []string{"Validated", "Available", "Errors", "ReadOnly", "Bundle", "Endpoint", "Partial", "Key"} {
		p.Field(f).NoEqual(convert.Observed)
	}
	meta := p.Field("Meta")
	for _, k := range meta.Keys() {
		meta.Field(k).NoEqual(convert.AssetData)
	}
}

// name is the object's name: that of a field, or its key in the bundle.
func (p part) named(field string) string {
	if s := p.Field(field).Text(); s != "" {
		return s
	}
	return p.name
}

// trimmed is a path without slashes at its beginning: dr-provision takes both for the root of what is served.
func trimmed(f convert.Field, to string) string {
	s := strings.TrimLeft(f.Text(), "/")
	f.Spelled(s, to)
	return s
}

// trimmedEach is the same of the paths of a list.
func trimmedEach(f convert.Field, to string) []string {
	var out []string
	for _, it := range f.Items() {
		out = append(out, trimmed(it, to))
	}
	return out
}
