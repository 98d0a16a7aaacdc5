package attest_test

import (
	"bytes"
	"encoding/json"
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

// FuzzDecode: whatever is sent, it is read within its bounds, and what is read is written as it was.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"nonce":"AAE=","bank":11,"pcrs":[0,4,7],"new":1}`))
	f.Add([]byte(`{"quote":"AA==","signature":"AA==","pcrs":{"4":"AA=="},"log":"AA==","phases":["ready"]}`))
	f.Add([]byte(`{"pcrs":{"-1":"","99999999999":""}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if a, err := attest.DecodeAsk(raw); err == nil {
			for _, pcr := range a.PCRs {
				if pcr < 0 || pcr > 23 || len(a.Nonce) == 0 {
					t.Errorf("%+v", a)
				}
			}
		}
		ev, err := attest.DecodeEvidence(raw)
		if err != nil && (ev.Quote != nil || ev.Log != nil || ev.PCRs != nil) {
			t.Errorf("an error and evidence: %v", err)
		}
		again, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) <= attest.MaxMessage {
			if _, err := attest.DecodeEvidence(again); err != nil {
				t.Errorf("what was written is not read: %v", err)
			}
		}
	})
}
