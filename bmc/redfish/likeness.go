package redfish

import (
	"strings"

	"rackboot/bmc"
)

// likeness is how one property of a system compares with what is known.
type likeness string

const (
	likeSame  likeness = "same"
	likeOther likeness = "other"
	likeOpen  likeness = "open" // one of them says nothing
)

func likenessOf(known, is string) likeness {
	switch {
	case known == "" || is == "":
		return likeOpen
	case known == is:
		return likeSame
	}
	return likeOther
}

// fitsRule reports whether a system is the machine that is looked for. The first row that fits
// decides.
//
//	uuid  | serial | fits
//	other | *      | no
//	*     | other  | no
//	same  | *      | yes
//	*     | same   | yes
//	*     | *      | no
func fitsRule(uuid, serial likeness) bool {
	return uuid != likeOther && serial != likeOther && (uuid == likeSame || serial == likeSame)
}

// fits says so of a system that was read.
func fits(id bmc.SystemID, s *system) bool { return fitsRule(likenesses(id, s)) }

// contradicts reports whether a system shows another UUID or serial number.
func contradicts(id bmc.SystemID, s *system) bool {
	uuid, serial := likenesses(id, s)
	return uuid == likeOther || serial == likeOther
}

func likenesses(id bmc.SystemID, s *system) (uuid, serial likeness) {
	is := strings.ToLower(printable(textOf(s.f["UUID"])))
	if uuidProblem(is) != "" {
		is = ""
	}
	return likenessOf(id.UUID, is), likenessOf(id.Serial, printable(textOf(s.f["SerialNumber"])))
}
