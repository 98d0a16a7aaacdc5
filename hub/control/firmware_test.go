package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestFirmwareWork(t *testing.T) {
	b, m := modernSite(t)
	mark := func(d time.Duration, reason string) error {
		_, err := b.control.Outbound.Firmware.Mark(ctx(t), "n1", api.FirmwareRequest{For: protocol.Duration(d), Reason: reason}, "admin")
		return err
	}
	for name, err := range map[string]error{
		"longer than a day": mark(24*time.Hour+1, "BIOS"), "negative": mark(-1, "BIOS"), "no reason": mark(time.Hour, " "),
		"a long reason": mark(time.Hour, strings.Repeat("x", 1025)),
	} {
		if protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.control.Outbound.Firmware.Mark(ctx(t), "n9", api.FirmwareRequest{}, "admin"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("no such server: %v", err)
	}
	if err := mark(0, ""); err != nil || b.happened(resource.EventFirmwareWork) != 0 {
		t.Errorf("nothing was marked: %v", err)
	}
	travels := func() *resource.FirmwareWork {
		t.Helper()
		b.pass()
		m.listens()
		return b.rack(m).Servers[0].Firmware
	}
	since := b.now
	b.dies("hub.server.firmware", func() { _ = mark(time.Hour, "BIOS") })
	m.connects()
	b.apply(storetest.Site()...) // a manifest does not take it away
	if w := travels(); w == nil || w.By != "admin" || w.Reason != "BIOS" || !w.NotAfter.Equal(since.Add(time.Hour)) {
		t.Fatalf("it travels as %+v", w)
	}
	b.now = b.now.Add(30 * time.Minute)
	if err := mark(2*time.Hour, "BIOS and BMC"); err != nil {
		t.Fatal(err)
	}
	if w := travels(); w == nil || !w.Since.Equal(since) || !w.NotAfter.Equal(b.now.Add(2*time.Hour)) {
		t.Fatalf("marked again it travels as %+v", w)
	}
	if s := b.server("n1"); s.Status.Firmware == nil {
		t.Error("nobody sees it")
	}
	b.now = b.now.Add(2*time.Hour - time.Nanosecond)
	if travels() == nil {
		t.Error("it ended early")
	}
	b.control.sleep()
	b.control.Outbound.Firmware.Due(b.now)
	if b.control.wake.Racks.Waiting() != 0 {
		t.Error("a pass too early")
	}
	b.now = b.now.Add(time.Nanosecond)
	b.control.Outbound.Firmware.Due(b.now)
	if b.control.wake.Racks.Waiting() != 1 {
		t.Error("its end makes no pass")
	}
	if s := b.server("n1"); s.Status.Firmware != nil {
		t.Error("a mark that is over is shown")
	}
	b.dies("hub.server.firmware-over", func() { b.pass() })
	m.connects()
	if w := travels(); w != nil {
		t.Errorf("a mark that is over travels: %+v", w)
	}
	if err := mark(time.Hour, "BIOS"); err != nil {
		t.Fatal(err)
	}
	if err := mark(0, "done"); err != nil {
		t.Fatal(err)
	}
	if w := travels(); w != nil {
		t.Errorf("a mark that was ended travels: %+v", w)
	}
	b.control.sleep()
	b.control.Outbound.Firmware.Due(b.now.Add(24 * time.Hour))
	if b.control.wake.Racks.Waiting() != 0 {
		t.Error("there is nothing to end")
	}
}

// An agent that knows no terms is sent the hold all the same, and people are told.
func TestTermsOfAnOldAgent(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	m := b.modern(b.join("r1"))
	m.caps = few()
	m.connects()
	h := storetest.Hold("o", "k", "n1")
	h.Spec.TTL, h.Spec.OnExpiry = protocol.Duration(time.Hour), resource.ExpiryRelease
	if _, err := b.store.Holds.Create(ctx(t), h); err != nil {
		t.Fatal(err)
	}
	b.pass()
	m.listens()
	var d message.HoldDoc
	b.opens(m, message.LeafHold, &d)
	if len(d.Holds) != 1 || d.Holds[0].TTL.D() != time.Hour {
		t.Fatalf("the agent is told %+v", d)
	}
	m.reports(off("n1"), off("n2"))
	s := b.server("n1")
	if codes(s.Status.Conditions) != "AgentTooOld" || !strings.Contains(s.Status.Conditions[0].Message, "time to live of hold") {
		t.Errorf("%+v", s.Status.Conditions)
	}
	if s := b.server("n2"); codes(s.Status.Conditions) != "" {
		t.Errorf("n2: %+v", s.Status.Conditions)
	}
}
