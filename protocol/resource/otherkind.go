package resource

import "strings"

// otherKinds are kinds of other projects, and what people who know those mean here:
// metal-operator, metal3 and dr-provision.
var otherKinds = []struct {
	name string
	kind Kind
}{
	{"ServerClaim", KindClaim},
	{"ServerMaintenance", KindMaintenance},
	{"ServerBootConfiguration", KindBootConfiguration},
	{"BareMetalHost", KindServer},
	{"Machine", KindServer},
}

// OtherKind finds what a kind of another project is here, by its name or plural.
func OtherKind(s string) (Kind, bool) {
	for _, o := range otherKinds {
		if strings.EqualFold(s, o.name) || strings.EqualFold(s, o.name+"s") {
			return o.kind, true
		}
	}
	return "", false
}
