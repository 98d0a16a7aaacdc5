package resource

import "slices"

// EvidenceClass is how strong the evidence is that a boot ended well. A boot segment is
// hostile: whoever is on it can send what a server sends.
type EvidenceClass string

// The classes, the weakest first.
const (
	// EvidenceReported: somebody said so over the boot segment, who had the token of the boot
	// and an address that the agent had leased to the server.
	EvidenceReported EvidenceClass = "reported"
	// EvidenceObserved: a token said so that had gone to the server through its BMC, over a
	// way that nobody else reads, and the agent has served the files to their end.
	EvidenceObserved EvidenceClass = "observed"
	// EvidenceAttested: observed, and the server's enrolled TPM has proved that it booted what was
	// served, and nothing else. It is of discoveries only.
	EvidenceAttested EvidenceClass = "attested"
)

// EvidenceClasses lists the classes, the weakest first: each is enough where one before it is required.
func EvidenceClasses() []EvidenceClass {
	return []EvidenceClass{EvidenceReported, EvidenceObserved, EvidenceAttested}
}

// EvidenceOf lists the classes that a boot for a purpose can have, the weakest first. TPMs are
// asked in discoveries only, whose image is the site's own.
func EvidenceOf(p Purpose) []EvidenceClass {
	if p == PurposeDiscovery {
		return EvidenceClasses()
	}
	return []EvidenceClass{EvidenceReported, EvidenceObserved}
}

// Or is the class of what was recorded before there were classes.
func (c EvidenceClass) Or() EvidenceClass {
	if c == "" {
		return EvidenceReported
	}
	return c
}

// Meets reports whether evidence of the class is enough where at least the other is
// required. None required is reported. A class that this release does not know is no evidence, and where it is
// required nothing is enough.
//
//	class    | required | meets
//	reported | reported | yes
//	observed | reported | yes
//	observed | observed | yes
//	attested | reported | yes
//	attested | observed | yes
//	attested | attested | yes
//	*        | *        | no
func (c EvidenceClass) Meets(required EvidenceClass) bool {
	ranks := EvidenceClasses()
	least := slices.Index(ranks, required.Or())
	return least >= 0 && slices.Index(ranks, c.Or()) >= least
}

// AtMost is the class, or the other where that is the weaker one. What nobody chose stays so.
func (c EvidenceClass) AtMost(most EvidenceClass) EvidenceClass {
	if most.Meets(c) {
		return c
	}
	return most
}

// checkEvidence reports a class that there is not, or that a boot for the purpose cannot have; none is the default.
func checkEvidence(f *fields, path string, c EvidenceClass, p Purpose) {
	if c == "" {
		return
	}
	if c == EvidenceAttested && !slices.Contains(EvidenceOf(p), c) {
		f.Add(path, "attested is of discoveries, and what a %s boots can be observed at most: give it to the rack, and observed here", p)
		return
	}
	oneOf(f, path, c, EvidenceOf(p)...)
}
