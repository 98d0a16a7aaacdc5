package decide

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A boot may have a second token that goes to the server through its BMC, and over ways that
// nobody else reads: what comes with it comes from the server, or from who owns its BMC. The
// first one is told on the boot segment to whoever asks there.

// Through is how a boot's private token goes through the BMC.
type Through string

// The ways.
const (
	ThroughNothing Through = ""       // it has none
	ThroughURL     Through = "url"    // in the URL of the first file, which is https
	ThroughMedium  Through = "medium" // on the config image in a virtual drive
)

// Private is which ways a server has for a private token.
type Private struct {
	URL    bool // firmware can be given an https URL through the BMC
	Medium bool // the BMC inserts images, and fetches them over a way that nobody else reads
	Sealed bool // the server asks the agent by HTTPS
	// Diverted says who may have a server of the segment load another file than the agent's:
	// what runs then reads the drive. Empty is nobody who is known.
	Diverted string
}

// medium reports whether a config image may be in a drive: beside a boot from the network,
// nobody else may choose what reads it.
func (p Private) medium(first resource.FirstBoot) bool {
	return p.Medium && (p.Diverted == "" || first == resource.FirstBootVirtualMedia)
}

// lacks says what a server would need for a first boot to have a private token.
func (p Private) lacks(first resource.FirstBoot) string {
	if p.Medium && p.Diverted != "" {
		return p.Diverted + ", and could have the server run what reads the secret from its drive: take it off the segment, and 70 minutes after it was last told of the server boots; or boot by VirtualMedia, or by HttpBootUri with an https baseURL of the Segment"
	}
	drive := "a BMC that inserts virtual media which it fetches by https, or over a segment that the agent's file calls trustedMedia"
	if first == resource.FirstBootUefiHTTP {
		return drive + ", or one that takes HttpBootUri, and an https baseURL of the Segment"
	}
	return drive
}

// needs is what of a boot needs a private token.
type needs string

const (
	needsNothing  needs = "nothing"
	needsEvidence needs = "evidence" // more than reported evidence is required
	needsSecrets  needs = "secrets"  // it has user data, and nobody chose the segment for it
)

func needsOf(b *message.BootIntent) needs {
	switch {
	case b.Ignition != nil && b.Secrets != resource.SecretsSegment:
		return needsSecrets
	case b.RequireEvidence.Or() != resource.EvidenceReported:
		return needsEvidence
	}
	return needsNothing
}

// throughRule says how a private token goes through the BMC; nothing where it cannot. The
// first row that fits decides.
//
//	needed | first boot   | url | medium | refused | diverted | through
//	no     | *            | *   | *      | *       | *        | nothing
//	yes    | VirtualMedia | *   | yes    | *       | *        | medium
//	yes    | VirtualMedia | *   | no     | *       | *        | nothing
//	yes    | UefiHttp     | yes | *      | no      | *        | url
//	yes    | UefiHttp     | yes | no     | yes     | *        | url
//	yes    | UefiHttp     | yes | yes    | yes     | yes      | url
//	yes    | *            | *   | yes    | *       | no       | medium
//	yes    | *            | *   | yes    | *       | yes      | nothing
//	yes    | *            | *   | no     | *       | *        | nothing
//
// refused is that the attempt before went by the URL and the BMC or its firmware did not
// take it. The URL comes first: all files of the boot come by it, and no drive is needed.
// diverted is that somebody may have the server load another file. By the URL firmware
// verifies who sends it.
func throughRule(needed bool, first resource.FirstBoot, p Private, refused bool) Through {
	switch {
	case !needed:
	case first == resource.FirstBootUefiHTTP && p.URL && (!refused || !p.medium(first)):
		return ThroughURL
	case p.medium(first):
		return ThroughMedium
	}
	return ThroughNothing
}

// secretsRule says how the user data of a boot goes to the server. The first row that fits
// decides.
//
//	needs    | user data | goes
//	secrets  | *         | bmc
//	evidence | yes       | segment
//	nothing  | yes       | segment
//	*        | no        | nothing
func secretsRule(n needs, userData bool) resource.SecretsWay {
	switch {
	case n == needsSecrets:
		return resource.SecretsBMC
	case userData:
		return resource.SecretsSegment
	}
	return ""
}
