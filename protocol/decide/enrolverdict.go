package decide

import "rackboot/protocol/resource"

// EnrolVerdict is what becomes of a TPM that a booted image offers.
type EnrolVerdict string

// The verdicts.
const (
	EnrolTake    EnrolVerdict = "take"
	EnrolUnknown EnrolVerdict = "unknown"  // no boot has the token, or none that runs
	EnrolHeld    EnrolVerdict = "held"     // the server is held, or is no more in the rack's document
	EnrolImage   EnrolVerdict = "image"    // the boot is no discovery: somebody else's image may run
	EnrolSegment EnrolVerdict = "segment"  // the token did not go through the BMC: a neighbour may have it
	EnrolOpenly  EnrolVerdict = "openly"   // it came in clear, so that a neighbour may have read the token
	EnrolEarly   EnrolVerdict = "early"    // the image cannot run yet
	EnrolTwo     EnrolVerdict = "disputed" // two machines say that they are the server
)

// EnrolVerdicts lists the verdicts.
func EnrolVerdicts() []EnrolVerdict {
	return []EnrolVerdict{EnrolTake, EnrolUnknown, EnrolHeld, EnrolImage, EnrolSegment, EnrolOpenly, EnrolEarly, EnrolTwo}
}

// Enrol decides about a TPM that is offered by who has a token of an attempt. sealed says that it
// came by HTTPS.
func Enrol(held, missing bool, a *Attempt, token string, sealed bool) EnrolVerdict {
	s := reportNone
	switch {
	case !accepting(a, token) || !a.Network():
	case a.takesReport(token):
		s = reportOpen
	default:
		s = reportEarly
	}
	return enrolRule(s, held || missing, s != reportNone && a.Order.Purpose == resource.PurposeDiscovery, a.isPrivate(token), sealed, a != nil && a.Claimants.Second != nil)
}

// enrolRule is the table of TPMs that are offered. The first row that fits decides.
//
//	boot  | held | discovery | private | sealed | disputed | verdict
//	none  | *    | *         | *       | *      | *        | unknown
//	*     | yes  | *         | *       | *      | *        | held
//	*     | no   | no        | *       | *      | *        | image
//	*     | no   | yes       | no      | *      | *        | segment
//	*     | no   | yes       | yes     | no     | *        | openly
//	*     | no   | yes       | yes     | yes    | yes      | disputed
//	early | no   | yes       | yes     | yes    | no       | early
//	open  | no   | yes       | yes     | yes    | no       | take
//
// private is that the token went through the BMC. A report needs no more; a key that is enrolled is
// believed ever after, so that two machines that say they are the server are too many.
func enrolRule(s reportStage, held, discovery, private, sealed, disputed bool) EnrolVerdict {
	switch {
	case s == reportNone:
		return EnrolUnknown
	case held:
		return EnrolHeld
	case !discovery:
		return EnrolImage
	case !private:
		return EnrolSegment
	case !sealed:
		return EnrolOpenly
	case disputed:
		return EnrolTwo
	case s == reportEarly:
		return EnrolEarly
	}
	return EnrolTake
}
