package redfish

import (
	"encoding/json"
	"strings"

	"rackboot/protocol"
)

// attributeEntry is what an attribute registry says of a BIOS attribute (DSP0268,
// AttributeRegistry).
type attributeEntry struct {
	readOnly bool
	secret   bool
	values   []string // of an enumeration; nil: anything
}

// attributeRegistry is what is said of each, by full name; nil where it could not be read.
type attributeRegistry map[string]attributeEntry

// maxAllowed bounds the values of one attribute.
const maxAllowed = 64

// partRegistry is the part that a problem with the registry is of.
const partRegistry = "AttributeRegistry"

// readRegistry finds the registry by its name (Bios.AttributeRegistry) and reads it. It is often broken, and never
// needed: what is wrong with it is a problem in the survey, and nothing is said of any attribute then.
func readRegistry(v *survey, name string) attributeRegistry {
	if name == "" {
		return nil
	}
	root := v.get(partRegistry, rootURI)
	if root == nil || root.link("Registries") == "" {
		return nil
	}
	uris, err := members(v.c, root.link("Registries"))
	if err != nil {
		v.problem(partRegistry, err)
		return nil
	}
	for _, uri := range uris {
		if !isRegistry(uri, name) {
			continue
		}
		file := v.get(partRegistry, uri)
		if file == nil {
			return nil
		}
		if o := v.get(partRegistry, registryAt(file)); o != nil {
			return registryOf(o)
		}
		return nil
	}
	v.problem(partRegistry, protocol.Errorf(protocol.CodeNotFound, v.c.op, "the BMC does not list the registry %.80s of its BIOS attributes", printable(name)))
	return nil
}

// isRegistry says whether a registry's path is of that name: its last part is it, in any case (iLO),
// or without the version (BiosAttributeRegistry of BiosAttributeRegistry.v1_0_3).
func isRegistry(uri, name string) bool {
	uri = strings.TrimSuffix(uri, "/")
	last := uri[strings.LastIndexByte(uri, '/')+1:]
	short, _, _ := strings.Cut(name, ".")
	return strings.EqualFold(last, name) || strings.EqualFold(last, short)
}

// registryAt is the path of the registry itself: in English, or in the first language that there is.
func registryAt(file *object) (at string) {
	for _, raw := range rawsOf(file.f["Location"]) {
		l := fields(raw)
		uri := textOf(l["Uri"])
		if uri == "" {
			continue
		}
		if at == "" || strings.HasPrefix(strings.ToLower(textOf(l["Language"])), "en") {
			at = uri
		}
	}
	return at
}

// registryOf reads the entries one by one: one that is odd hides no other.
func registryOf(o *object) attributeRegistry {
	out := attributeRegistry{}
	for _, raw := range rawsOf(fields(o.f["RegistryEntries"])["Attributes"]) {
		f := fields(raw)
		name := textOf(f["AttributeName"])
		if name == "" {
			continue
		}
		out[name] = attributeEntry{
			readOnly: string(f["ReadOnly"]) == "true" || string(f["Immutable"]) == "true",
			secret:   textOf(f["Type"]) == "Password",
			values:   allowedOf(f["Value"]),
		}
	}
	return out
}

// allowedOf are the values of an enumeration. Of more than there is room for, nothing is said.
func allowedOf(raw json.RawMessage) (out []string) {
	for _, v := range rawsOf(raw) {
		if name := printable(textOf(fields(v)["ValueName"])); name != "" {
			out = append(out, name)
		}
	}
	if len(out) > maxAllowed {
		return nil
	}
	return out
}
