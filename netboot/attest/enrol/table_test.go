package enrol

import (
	"testing"

	"rackboot/internal/doctable"
)

func word(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func TestKeyTables(t *testing.T) {
	yesno := doctable.YesNo()
	columns := [][]string{yesno, yesno, yesno, yesno, yesno}
	for function, rule := range map[string]func(facts) Fault{"attestationFault": attestationFault, "endorsementFault": endorsementFault} {
		doctable.Of(t, "keys.go", function).HoldOne(t, columns, func(in []string) string {
			is := func(i int) bool { return in[i] == "yes" }
			return word(string(rule(facts{own: is(0), restricted: is(1), signs: is(2), decrypts: is(3), algorithm: is(4)})))
		})
	}
}

func TestCertificateTable(t *testing.T) {
	yesno := doctable.YesNo()
	doctable.Of(t, "certificate.go", "originOf").HoldOne(t, [][]string{yesno, yesno, yesno, yesno, yesno, yesno}, func(in []string) string {
		is := func(i int) bool { return in[i] == "yes" }
		return string(originOf(certificateFacts{readable: is(0), key: is(1), authority: is(2), current: is(3), chain: is(4), chainEver: is(5)}))
	})
}
