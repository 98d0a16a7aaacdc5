package attest

import (
	"bytes"
	"maps"
	"slices"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/quote"
	"rackboot/netboot/attest/tpmkey"
)

// Verify says what evidence proves, for who is enrolled and against what is expected. It never
// trusts what no digest covers; it is a function of its arguments, and safe to call at once.
func Verify(e Enrolment, ev Evidence, x Expectation) Verdict {
	v := Verdict{}
	code := v.hear(e, ev, x)
	if code != "" {
		v.add(Difference{Code: code, PCR: -1, Event: -1, Name: detail(code, x), Seen: seenOf(code, v.Quote)})
		return v
	}
	for _, pcr := range x.PCRs() {
		if !slices.Contains(v.Quote.PCRs, pcr) {
			v.add(Difference{Code: NotQuoted, PCR: pcr, Event: -1})
		}
	}
	log, err := eventlog.Parse(ev.Log)
	var replayed eventlog.PCRs
	if err == nil {
		replayed, err = log.Replay(x.Bank)
	}
	if err != nil {
		v.add(Difference{Code: UnreadableLog, PCR: -1, Event: -1})
		return v
	}
	b := boot{x: x, events: map[int][]event{}}
	b.read(log)
	phased := b.phases(&replayed, ev.Phases)
	v.judged = true
	v.values = maps.Clone(ev.PCRs)
	maps.DeleteFunc(v.values, func(pcr int, _ []byte) bool { return !slices.Contains(v.Quote.PCRs, pcr) })
	for _, pcr := range v.Quote.PCRs {
		if pcr == 11 && !phased {
			continue // that was the difference
		}
		if pcr <= eventlog.MaxReplayed && bytes.Equal(replayed[pcr], ev.PCRs[pcr]) {
			b.judge(pcr)
			continue
		}
		d := Difference{Code: LogDoesNotReplay, PCR: pcr, Event: -1, Expected: ev.PCRs[pcr]}
		if pcr <= eventlog.MaxReplayed {
			d.Seen = replayed[pcr]
		}
		b.add(d)
	}
	v.Differences = append(v.Differences, b.found...)
	slices.SortStableFunc(v.Differences, func(a, b Difference) int { return a.PCR - b.PCR })
	return v
}

func (v *Verdict) add(d Difference) { v.Differences = append(v.Differences, d) }

// hear reads the quote, and says why it does not count; "" that it does.
func (v *Verdict) hear(e Enrolment, ev Evidence, x Expectation) Code {
	f := quoteFacts{enrolled: e.Attestation != nil && len(x.Nonce) > 0 && len(x.Images) > 0}
	if f.enrolled {
		if q, err := quote.Parse(ev.Quote); err == nil {
			h, _ := e.Attestation.SigningHash() // without one it has signed nothing
			v.Quote = q
			v.Counted = bytes.Equal(q.Signer, e.Attestation.QualifiedName(tpmkey.Endorsement))
			f = quoteFacts{
				enrolled: true, readable: true, signer: q.SignedBy(e.Attestation, ev.Quote, ev.Signature),
				asked: q.Asked(x.Nonce), bank: q.Bank == x.Bank, values: h.Available() && q.Of(ev.PCRs, h),
			}
		}
	}
	return quoteCode(f)
}

// quoteFacts are what the rule sees of a quote.
type quoteFacts struct {
	enrolled bool // there is a key to hold it against, and something is expected
	readable bool
	signer   quote.Signer
	asked    bool // it has our nonce
	bank     bool // it is of the bank that was asked for
	values   bool // it is of the values that came with it
}

// quoteCode is why a quote does not count. The first row that fits decides.
//
//	enrolled | readable | signer | asked | bank | values | code
//	no       | *        | *      | *     | *    | *      | not-enrolled
//	yes      | no       | *      | *     | *    | *      | unreadable-quote
//	yes      | yes      | other  | *     | *    | *      | wrong-key
//	yes      | yes      | nobody | *     | *    | *      | bad-signature
//	yes      | yes      | key    | no    | *    | *      | wrong-nonce
//	yes      | yes      | key    | yes   | no   | *      | unknown-bank
//	yes      | yes      | key    | yes   | yes  | no     | wrong-values
//	yes      | yes      | key    | yes   | yes  | yes    | none
func quoteCode(f quoteFacts) Code {
	switch {
	case !f.enrolled:
		return NotEnrolled
	case !f.readable:
		return UnreadableQuote
	case f.signer == quote.SignedByOther:
		return WrongKey
	case f.signer != quote.SignedByKey:
		return BadSignature
	case !f.asked:
		return WrongNonce
	case !f.bank:
		return UnknownBank
	case !f.values:
		return WrongValues
	}
	return ""
}

// detail and seenOf say what there is to see of a quote that does not count.
func detail(c Code, x Expectation) string {
	if c == UnknownBank {
		return x.Bank.String()
	}
	return ""
}

func seenOf(c Code, q quote.Quote) []byte {
	switch c {
	case WrongKey, BadSignature:
		return q.Signer
	case WrongNonce:
		return q.Nonce
	default:
		return nil
	}
}
