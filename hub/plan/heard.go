package plan

import (
	"fmt"

	"rackboot/protocol/resource"
)

// HeardVerdict is what becomes of the architecture that a server's firmware says by DHCP.
type HeardVerdict string

// The verdicts.
const (
	HeardNothing     HeardVerdict = "nothing"
	HeardTake        HeardVerdict = "take"
	HeardContradicts HeardVerdict = "contradicts" // it is named, and not taken
)

// heardRule says what becomes of the architecture that a server's firmware says. known is what spec, BMC
// or a discovery says, else of which its boot configuration's image is. The first row that fits decides.
//
//	heard | known | boots | verdict
//	no    | *     | *     | nothing
//	yes   | other | *     | contradicts
//	yes   | same  | *     | nothing
//	yes   | none  | yes   | nothing
//	yes   | none  | no    | take
//
// DHCP is not authenticated: what is said there counts last, and changes nothing that a server boots
// already. boots is that it has a boot configuration.
func heardRule(heard bool, known string, boots bool) HeardVerdict {
	switch {
	case !heard, known == "same":
		return HeardNothing
	case known == "other":
		return HeardContradicts
	case boots:
		return HeardNothing
	}
	return HeardTake
}

// HeardArchitecture judges what the report of a server says that its firmware is, with the architecture
// that is heard; words name a contradiction.
func HeardArchitecture(f Fleet, s *resource.Server) (v HeardVerdict, heard, words string) {
	if r := f.Reports[s.Metadata.Name]; r != nil {
		heard = r.Architecture
	}
	before := *s
	before.Status.HeardArchitecture = ""
	is, by := before.ArchitectureBy()
	of := "its " + string(by)
	cfg := f.bootOf(s.Metadata.Name)
	if is == "" && cfg != nil {
		is, of = cfg.Spec.Image.Architecture, "the image that it boots"
	}
	known := "none"
	switch is {
	case "":
	case heard:
		known = "same"
	default:
		known = "other"
	}
	if v = heardRule(heard != "", known, cfg != nil); v == HeardContradicts {
		words = fmt.Sprintf("its firmware says %s by DHCP, %s says %s", heard, of, is)
	}
	return v, heard, words
}

// bootOf is what a server boots now, for its maintenance, its claim or a discovery; or nil.
func (f Fleet) bootOf(server string) *resource.BootConfiguration {
	if m := f.MaintenanceOf(server); m != nil {
		if cfg := f.configFor(m.Metadata.UID); cfg != nil {
			return cfg
		}
	}
	if cfg := f.ConfigOf(f.ClaimOf(server)); cfg != nil {
		return cfg
	}
	return f.DiscoveryOf(server)
}
