package resource

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
)

// EvidenceAttested is the strongest: observed, and the server's enrolled TPM has proved that it booted what was served, and
// nothing else. It stands apart, because it is of discoveries only, and no word that can be required.
const EvidenceAttested = EvidenceClass("attested")

// EvidenceClasses lists the classes of claims, which can be required, the weakest first.
func EvidenceClasses() []EvidenceClass { return []EvidenceClass{EvidenceReported, EvidenceObserved} }

// Or is the class of what was recorded before there were classes.
func (c EvidenceClass) Or() EvidenceClass {
	if c == "" {
		return EvidenceReported
	}
	return c
}

// Meets reports whether evidence of the class is enough where at least the other is
// required; none required is met by all.
func (c EvidenceClass) Meets(required EvidenceClass) bool {
	return c.Or() == EvidenceObserved || c.Or() == EvidenceAttested || required.Or() == EvidenceReported
}

// checkEvidence reports a class that there is not; none is the default.
func checkEvidence(f *fields, path string, c EvidenceClass) {
	if c != "" {
		oneOf(f, path, c, EvidenceClasses()...)
	}
}
