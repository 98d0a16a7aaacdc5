package convert

// Fate is what became of a field of the input.
type Fate string

// The fates.
const (
	Taken   Fate = "taken"   // it is in the manifests as it was
	Changed Fate = "changed" // it is in the manifests in another form, which the code names
	NoEqual Fate = "noEqual" // Rackboot has nothing for it; the code says what to do instead
	Refused Fate = "refused" // it is wrong or cannot work; the code says why
)

// Fates lists the fates.
func Fates() []Fate { return []Fate{Taken, Changed, NoEqual, Refused} }

// Finding is what became of one field.
type Finding struct {
	// File is the name of the file as it was given, Object what is in it: BareMetalHost/n1, or line 3.
	File   string `json:"file"`
	Object string `json:"object"`
	// Field is the path of the field: spec.bmc.address. Empty is the whole object. A finding counts for
	// all that is below its field, but for what has one of its own.
	Field string `json:"field,omitempty"`
	Fate  Fate   `json:"fate"`
	// Code says how, why, or what to do; empty of a field that was taken.
	Code Code `json:"code,omitempty"`
	// To are the fields that it went to: server/n1 spec.bootMAC.
	To []string `json:"to,omitempty"`
}

// Need is what a manifest lacks because the input did not have it. rackctl apply refuses the manifest, or
// something waits, until somebody gives it.
type Need struct {
	Object string `json:"object"` // bmc/n1-bmc
	Field  string `json:"field"`  // spec.tls
	Code   Code   `json:"code"`
}

// Report is what became of all of the input.
type Report struct {
	Findings []Finding `json:"findings"`
	Needs    []Need    `json:"needs"`
	// Written are the resources that the manifests have: server/n1.
	Written []string `json:"written"`
}

// Outcome is how whole a conversion is.
type Outcome string

// The outcomes, the best first.
const (
	Whole    Outcome = "whole"    // everything was taken, or says nothing that somebody wrote
	Lacking  Outcome = "lacking"  // a field has no equal, or a manifest lacks something
	Rejected Outcome = "rejected" // a field or an object was refused
)

// Outcome says how whole the conversion is. A refused field weighs more than one without an equal; what
// the other tool only observed weighs nothing.
func (r Report) Outcome() Outcome {
	out := Whole
	if len(r.Needs) > 0 {
		out = Lacking
	}
	for _, f := range r.Findings {
		switch {
		case f.Fate == Refused:
			return Rejected
		case f.Fate == NoEqual && f.Code != Observed:
			out = Lacking
		}
	}
	return out
}
