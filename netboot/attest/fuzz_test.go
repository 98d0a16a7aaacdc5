package attest_test

import (
	"bytes"
	"testing"

	"rackboot/netboot/attest"
	"rackboot/netboot/attest/eventlog"
)

// FuzzVerify: no log makes Verify fail, and none is attested that does not make the quoted values.
func FuzzVerify(f *testing.F) {
	machines := []*machine{unified(f), chain(f)}
	for i, m := range machines {
		f.Add(m.written(), i == 0, "enter-initrd")
		m.quoted()
	}
	f.Fuzz(func(t *testing.T, raw []byte, first bool, phase string) {
		m := machines[1]
		if first {
			m = machines[0]
		}
		ev := m.evidence
		ev.Log = raw
		if phase != "enter-initrd" {
			ev.Phases = []string{phase}
		}
		v := attest.Verify(m.enrolled, ev, m.expect)
		if !v.Attested() {
			return
		}
		log, err := eventlog.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		got, err := log.Replay(eventlog.SHA256)
		for _, pcr := range v.Quote.PCRs {
			if err != nil || !bytes.Equal(got[pcr], m.pcrs[pcr]) {
				t.Errorf("attested, and PCR %d is %x, not %x: %v", pcr, got[pcr], m.pcrs[pcr], err)
			}
		}
	})
}
