package attest

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/netboot/attest/quote"
)

func none(c Code) string {
	if c == "" {
		return "none"
	}
	return string(c)
}

func TestQuoteTable(t *testing.T) {
	yesno := doctable.YesNo()
	doctable.Of(t, "verify.go", "quoteCode").HoldOne(t,
		[][]string{yesno, yesno, doctable.Words(quote.SignedByKey, quote.SignedByOther, quote.SignedByNobody), yesno, yesno, yesno},
		func(in []string) string {
			is := func(i int) bool { return in[i] == "yes" }
			return none(quoteCode(quoteFacts{enrolled: is(0), readable: is(1), signer: quote.Signer(in[2]), asked: is(3), bank: is(4), values: is(5)}))
		})
}

func TestSecureBootTable(t *testing.T) {
	yesno := doctable.YesNo()
	doctable.Of(t, "secureboot.go", "secureBootCode").HoldOne(t,
		[][]string{doctable.Words(stateAbsent, stateOff, stateOn), yesno, yesno},
		func(in []string) string {
			is := func(i int) bool { return in[i] == "yes" }
			return none(secureBootCode(secureBootFacts{state: state(in[0]), late: is(1), ended: is(2)}))
		})
}
