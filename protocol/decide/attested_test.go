package decide

import (
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestProvableTable(t *testing.T) {
	doctable.Of(t, "attested.go", "provableRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(provableRule(is(in[0]), is(in[1]), is(in[2]), is(in[3])))
	})
}

func TestWeakTable(t *testing.T) {
	classes := doctable.Words(resource.EvidenceClasses()...)
	doctable.Of(t, "attested.go", "weakRule").HoldOne(t, [][]string{classes, append(classes, "none"), doctable.YesNo()}, func(in []string) string {
		required := resource.EvidenceClass(in[1])
		if required == "none" {
			required = ""
		}
		return string(weakRule(resource.EvidenceClass(in[0]), required, is(in[2])))
	})
	if got := weakRule(resource.EvidenceAttested, "sworn", false); got == ReportTake {
		t.Error("what nobody knows is required, and attested is enough")
	}
}

// attestedWorld is a discovery that has to be attested.
func attestedWorld(t *testing.T, attempts int, p Private, proof tpmProof) *world {
	w := newWorld(t)
	w.private, w.proof = p, proof
	w.discover(attempts, false)
	w.intent.Boot.RequireEvidence = resource.EvidenceAttested
	w.poke()
	return w
}

// Whoever's TPM has proved the boot is discovered. Who has not is not: its code is named by the condition, the attempt, and
// what is said when the discovery is given up.
func TestAttestedRequired(t *testing.T) {
	way := Private{Medium: true, Sealed: true}
	w := attestedWorld(t, 1, way, tpmProof{attested: true})
	w.until("discovered", func() bool { r := w.record(); return r.discovered("discovery-1") })
	if s := w.record().Attempt.Stage; s.Class != resource.EvidenceAttested || s.Unattested != "" || w.has(resource.CondEvidenceWeak) {
		t.Errorf("%s, %q, %+v", s.Class, s.Unattested, w.conds)
	}
	for _, code := range []string{"no-quote", "wrong-key"} {
		w := attestedWorld(t, 2, way, tpmProof{code: code})
		w.until("its report is not enough", func() bool { return w.has(resource.CondEvidenceWeak) })
		if words := w.words(resource.CondEvidenceWeak); !strings.HasPrefix(words, code+": ") {
			t.Errorf("%s: the condition says %q", code, words)
		}
		w.until("given up", func() bool { return w.has(resource.CondDiscoveryFailed) })
		a := w.record().Attempt
		if r := w.record(); r.discovered("discovery-1") || a.Stage.State != resource.AttemptFailed || a.Stage.Unattested != code || a.Stage.Class != "" {
			t.Errorf("%s: %+v", code, a.Stage)
		}
		if words := w.words(resource.CondDiscoveryFailed); !strings.Contains(words, "2 of 2 attempts; the last: NoReport: ") || !strings.Contains(words, code) {
			t.Errorf("%s: given up with %q", code, words)
		}
	}
}

// What its TPM proves afterwards counts: the report comes again.
func TestAttestedSecondTime(t *testing.T) {
	w := attestedWorld(t, 1, Private{Medium: true, Sealed: true}, tpmProof{code: "no-nonce"})
	w.m.live = true // it stays On after its report
	w.until("its report is not enough", func() bool { return w.has(resource.CondEvidenceWeak) })
	w.proof.code = "wrong-nonce"
	w.report()
	if words := w.words(resource.CondEvidenceWeak); w.record().Attempt.Stage.Unattested != "wrong-nonce" {
		t.Errorf("another code: %q, %+v", words, w.record().Attempt.Stage)
	}
	w.proof = tpmProof{attested: true}
	w.report()
	if r := w.record(); !r.discovered("discovery-1") || r.Attempt.Stage.Class != resource.EvidenceAttested || r.Attempt.Stage.Unattested != "" {
		t.Errorf("%+v", r.Attempt.Stage)
	}
}

// An image that says over the BMC that it cannot go on ends its boot: no TPM is asked for that.
func TestAttestedFails(t *testing.T) {
	w := newWorld(t)
	w.private, w.fails = Private{Medium: true, Sealed: true}, true
	w.discover(1, false)
	w.intent.Boot.RequireEvidence = resource.EvidenceAttested
	w.poke()
	w.until("it has failed", func() bool {
		a := w.record().Attempt
		return a != nil && a.Stage.State == resource.AttemptFailed
	})
	if s := w.record().Attempt.Stage; s.Ending.Code != resource.AttemptImageFailed || w.has(resource.CondEvidenceWeak) {
		t.Errorf("%+v, %+v", s, w.conds)
	}
}

// A server of which it is known that its boot cannot be attested is not powered on, and it is said what it lacks.
func TestAttestedCannotBe(t *testing.T) {
	way := Private{Medium: true, Sealed: true}
	for _, row := range []struct {
		name   string
		way    Private
		change func(*world)
		want   string
	}{
		{"no way through the BMC", Private{Sealed: true}, func(*world) {}, "virtual media"},
		{"in clear", Private{Medium: true}, func(*world) {}, "https baseURL"},
		{"a claim", way, func(w *world) { w.intent.Owner.Kind, w.intent.Boot.Owner.Kind = "", "" }, "discoveries only"},
		{"loaders", way, func(w *world) { w.loaders = true }, "unified kernel image"},
	} {
		w := newWorld(t)
		w.private = row.way
		w.discover(1, false)
		w.intent.Boot.RequireEvidence = resource.EvidenceAttested
		row.change(w)
		w.poke()
		w.run(30 * time.Minute)
		if words := w.words(resource.CondEvidenceWaits); !strings.Contains(words, row.want) || w.m.power != protocol.PowerOff || w.record().Attempt != nil {
			t.Errorf("%s: %q, %s, %+v", row.name, words, w.m.power, w.conds)
		}
	}
}

// words are the message of a condition; empty where it is not so.
func (w *world) words(code resource.ConditionCode) string {
	for _, c := range w.conds {
		if c.Code == code {
			return c.Message
		}
	}
	return ""
}
