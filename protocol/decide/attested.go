package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// provable is what keeps a boot from being attested, as far as that is known before it begins. Whether the
// server has a TPM, and what an image's stub measures, is known afterwards.
type provable string

const (
	provableYes    provable = "yes"
	provableNever  provable = "never"  // it is no discovery: TPMs are not asked in it
	provableChain  provable = "chain"  // what its loaders start is not known
	provableOpenly provable = "openly" // the agent is not asked by HTTPS
)

// provableRule says whether a boot can be attested that has to be. The first row that fits
// decides.
//
//	required | discovery | unified | sealed | provable
//	no       | *         | *       | *      | yes
//	yes      | no        | *       | *      | never
//	yes      | yes       | no      | *      | chain
//	yes      | yes       | yes     | no     | openly
//	yes      | yes       | yes     | yes    | yes
//
// unified is that firmware itself starts a unified kernel image whose digest is known, sealed that the agent is asked by HTTPS.
func provableRule(required, discovery, unified, sealed bool) provable {
	switch {
	case !required:
		return provableYes
	case !discovery:
		return provableNever
	case !unified:
		return provableChain
	case !sealed:
		return provableOpenly
	}
	return provableYes
}

// provable says whether the boot of the intent can be attested, if it has to be.
func (gr grants) provable() provable {
	b, unified := gr.s.Intent.Boot, false
	if c := gr.s.Chain; c != nil {
		_, unified = c.Unified()
	}
	return provableRule(!resource.EvidenceObserved.Meets(b.RequireEvidence), discovering(gr.s.Intent), unified, gr.s.Private.Sealed)
}

// lacksEvidence says why the evidence that is required cannot be had.
func (gr grants) lacksEvidence() string {
	if gr.through() == ThroughNothing {
		return gr.s.Private.lacks(gr.s.Intent.Boot.BootPolicy.FirstBoot)
	}
	switch gr.provable() {
	case provableNever:
		return "attested evidence is of discoveries only"
	case provableChain:
		return "attested evidence needs an image that is a unified kernel image, which firmware starts itself; this one boots by " + string(gr.s.Chain.Kind)
	case provableOpenly:
		return "attested evidence needs an https baseURL of the Segment, by which the server's TPM is asked"
	case provableYes:
	}
	return ""
}

// tooWeak says why the last report of the attempt's image was not enough, if that was so; empty if it was not.
func (a *Attempt) tooWeak() string {
	switch {
	case a.unheeded(ReportUnattested):
		return a.Stage.Unattested + ": the server's TPM has not proved the boot, and attested evidence is required"
	case a.unheeded(ReportWeak):
		return unheededFor[ReportWeak]
	}
	return ""
}

// weakRule says why a report is not enough; empty is that it is. The first row that fits decides.
//
//	class    | required | failed | verdict
//	*        | none     | *      | take
//	*        | reported | *      | take
//	reported | *        | *      | weak
//	observed | observed | *      | take
//	observed | attested | yes    | take
//	observed | attested | no     | unattested
//	attested | observed | *      | take
//	attested | attested | *      | take
//
// A failure proves nothing, and no TPM is asked for it: that nobody else says it is enough.
func weakRule(class, required resource.EvidenceClass, failed bool) ReportVerdict {
	switch {
	case class.Meets(required), failed && class.Meets(required.AtMost(resource.EvidenceObserved)):
		return ReportTake
	case class.Meets(resource.EvidenceObserved):
		return ReportUnattested
	}
	return ReportWeak
}

// weak reports whether a report is not enough by what is required, and notes that.
func (he heard) weak(e Event) bool {
	in, a := he.s.Intent, he.d.rec.Attempt
	if in == nil || in.Boot == nil {
		return false
	}
	why := weakRule(a.class(e), in.Boot.RequireEvidence, e.Kind == protocol.EvidenceFailed)
	if why == ReportTake {
		return false
	}
	if why == ReportUnattested && a.knows(e.Token) && a.Stage.Unattested != e.Unattested {
		a.Stage.Unattested, he.d.dirty = e.Unattested, true
	}
	he.unheeded(Event{Report: why, Token: e.Token, At: e.At})
	return true
}
