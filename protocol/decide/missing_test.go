package decide

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestMissingIsNotBooted: a server that the newest document leaves out gets no boot
// answer and no boot file, whatever its attempt says.
func TestMissingIsNotBooted(t *testing.T) {
	a := &Attempt{Token: "t", Order: Order{File: "boot.efi", Target: protocol.TargetUefiHTTP}, Stage: Stage{State: resource.AttemptPowerRequested}}
	c := protocol.BootClient{Class: protocol.ClassHTTPClient, Archs: []uint16{16}}
	s := ServeSnapshot{Synced: true, Server: "n1", Architecture: "amd64", Attempt: a}
	if got := Serve(s, c); got.Action != protocol.AnswerBoot || !MayFetch(false, false, a, "t", a.Order.File) {
		t.Fatalf("a server that is there: %+v", got)
	}
	s.Missing = true
	if got := Serve(s, c); got.Action != protocol.AnswerRefuse || got.Token != "" {
		t.Errorf("a missing server: %+v", got)
	}
	if MayFetch(false, true, a, "t", a.Order.File) {
		t.Error("a missing server may fetch its boot file")
	}
}
