package attest_test

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"
	"testing"

	"rackboot/netboot/attest"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
	"rackboot/netboot/attest/pehash"
	"rackboot/netboot/attest/quotetest"
)

// machine is one that booted: what its log says, what its TPM has, and what was expected. Tests
// change the first as firmware, an operating system or who edits evidence would.
type machine struct {
	t        testing.TB
	signer   quotetest.Signer
	log      *eventlog.Log
	pcrs     map[int][]byte // nil: as the log makes them
	evidence attest.Evidence
	expect   attest.Expectation
	enrolled attest.Enrolment
}

func sum(b string) []byte { s := sha256.Sum256([]byte(b)); return s[:] }

// event is a number in the recorded logs.
func (m *machine) event(number int) *eventlog.Event { return &m.log.Events[number] }

func (m *machine) digest(number int) []byte { return m.event(number).Digest(eventlog.SHA256) }

// unified is a boot of a unified kernel image, with Secure Boot off.
func unified(t testing.TB) *machine {
	m := recorded(t, logtest.Unified)
	m.expect.Images = []attest.Item{{Name: "image", Digest: m.digest(24)}, {Name: "kernel", Digest: m.digest(33), Optional: true}}
	m.expect.BootOption = m.digest(10)
	m.expect.Phases = []string{"enter-initrd", "leave-initrd"}
	for i := 25; i < 33; i += 2 {
		m.expect.Sections = append(m.expect.Sections, pehash.Measured{Name: m.event(i).Text(), NameDigest: m.digest(i), Digest: m.digest(i + 1)})
	}
	return m
}

// chain is a boot by shim and GRUB, with Secure Boot on.
func chain(t testing.TB) *machine {
	m := recorded(t, logtest.ShimGRUB)
	m.expect.SecureBoot = true
	m.expect.Authorities = m.items(7, 24)
	m.expect.Images = []attest.Item{{Name: "shim", Digest: m.digest(25)}, {Name: "GRUB", Digest: m.digest(31)}, {Name: "kernel", Digest: m.digest(42)}}
	m.expect.Commands = m.items(8, 0)
	m.expect.Files = m.items(9, 0)
	return m
}

// items are the events of a PCR from a number on.
func (m *machine) items(pcr, from int) []attest.Item {
	var out []attest.Item
	for i, e := range m.log.Events {
		if e.PCR == pcr && i >= from {
			out = append(out, attest.Item{Name: e.Text(), Digest: e.Digest(eventlog.SHA256)})
		}
	}
	return out
}

func recorded(t testing.TB, name string) *machine {
	t.Helper()
	raw, _ := logtest.Recorded(t, name)
	log, err := eventlog.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Events { // what is changed is not what was recorded
		e := &log.Events[i]
		e.Data = bytes.Clone(e.Data)
		e.Digests = []eventlog.Digest{{Bank: eventlog.SHA256, Value: bytes.Clone(e.Digest(eventlog.SHA256))}}
	}
	s := quotetest.ECDSA(t)
	return &machine{t: t, signer: s, log: log, enrolled: attest.Enrolment{Attestation: s.Key}, expect: attest.Expectation{Nonce: []byte("a nonce of 16 by"), Bank: eventlog.SHA256}}
}

// measure has something measured, by firmware or an operating system, which the log says.
func (m *machine) measure(pcr int, kind eventlog.Type, data, measured string) {
	m.log.Events = append(m.log.Events, eventlog.Event{PCR: pcr, Type: kind, Data: []byte(data), Digests: []eventlog.Digest{{Bank: eventlog.SHA256, Value: sum(measured)}}})
}

// instead has something else measured than was recorded.
func (m *machine) instead(number int, measured string) {
	m.event(number).Digests[0].Value = sum(measured)
}

// extended has the TPM extended without a word in the log.
func (m *machine) extended(pcr int, measured string) {
	m.settle()
	m.pcrs[pcr] = sum(string(m.pcrs[pcr]) + string(sum(measured)))
}

// settle takes the values for those that the TPM has: what is changed afterwards is an edit of
// the evidence.
func (m *machine) settle() {
	if m.pcrs != nil {
		return
	}
	m.pcrs = map[int][]byte{}
	replayed, err := m.parsed().Replay(eventlog.SHA256)
	if err != nil {
		m.t.Fatal(err)
	}
	for pcr, v := range replayed {
		m.pcrs[pcr] = bytes.Clone(v)
	}
}

func (m *machine) parsed() *eventlog.Log {
	log, err := eventlog.Parse(m.written())
	if err != nil {
		m.t.Fatal(err)
	}
	return log
}

func (m *machine) written() []byte {
	return logtest.New(eventlog.SHA256).Append(m.log.Events...).Bytes()
}

// quoted has the TPM quote what was asked for, with everything that it is asked for by default.
func (m *machine) quoted() *machine {
	m.settle()
	pcrs := maps.Clone(m.pcrs)
	maps.DeleteFunc(pcrs, func(pcr int, _ []byte) bool { return !slices.Contains(m.expect.PCRs(), pcr) && pcr > 7 })
	m.evidence.PCRs = pcrs
	m.evidence.Quote, m.evidence.Signature = m.signer.Quote(m.t, m.expect.Nonce, eventlog.SHA256, pcrs)
	return m
}

func (m *machine) verify() attest.Verdict {
	if m.evidence.Quote == nil {
		m.quoted()
	}
	if m.evidence.Log == nil {
		m.evidence.Log = m.written()
	}
	return attest.Verify(m.enrolled, m.evidence, m.expect)
}
