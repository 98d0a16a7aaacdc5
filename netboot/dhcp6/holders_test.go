package dhcp6

import (
	"slices"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

// TestHolders replays OVMF 2025.02 where router advertisements have the flag M: the
// IPv6 driver asks for an address of its own beside HTTP boot, gets the same, and
// releases it before the boot file is loaded.
func TestHolders(t *testing.T) {
	w := newWorld(t, boot1())
	var ended []netboot.Lease6
	w.cfg.Ended = func(l netboot.Lease6) { ended = append(ended, l) }
	a := w.bind(t, mac1, httpClient()) // IAID 1
	driver := []opt{ours(), ia(2, a)}
	if m := w.ask(t, client(dhcpv6.MessageTypeRequest, mac1, driver...)); leased(m) != a {
		t.Fatalf("the driver gets %v, HTTP boot had %s", m, a)
	}
	released := func(opts ...opt) bool {
		t.Helper()
		if m := w.ask(t, client(dhcpv6.MessageTypeRelease, mac1, opts...)); m == nil || topStatus(m) != 0 {
			t.Fatalf("release: %v", m)
		}
		l, ok := w.leases.get(a)
		return !ok || !w.clock.Before(l.Expires)
	}
	if released(driver...) || len(ended) > 0 || w.pool.Count(leasing.Leased, w.clock) != 1 {
		t.Fatalf("the driver's RELEASE ended the lease of HTTP boot: %+v", ended)
	}
	if b := w.bind(t, mac2); b == a {
		t.Fatal("another machine has the address of HTTP boot")
	}
	if !released(ours(), ia(1, a)) || len(ended) != 1 || ended[0].Address != addr(a) || ended[0].Client != mac1 {
		t.Fatalf("after the last RELEASE: %+v", ended)
	}

	// One that ran out does not hold it, and after a restart nobody knows them.
	w.bind(t, mac1)
	w.clock = w.clock.Add(30 * time.Minute)
	w.ask(t, client(dhcpv6.MessageTypeRequest, mac1, driver...))
	w.clock = w.clock.Add(31 * time.Minute)
	if !released(driver...) {
		t.Error("an IA whose time is over holds the address")
	}
	w.bind(t, mac1)
	w.restart(t)
	if !released(driver...) {
		t.Error("after a restart the address cannot be released")
	}
}

// TestEnded: each way in which a machine loses its address is told once.
func TestEnded(t *testing.T) {
	for _, row := range []struct {
		name string
		lose func(w *world, a string)
	}{
		{"released", func(w *world, a string) { w.ask(t, client(dhcpv6.MessageTypeRelease, mac1, ours(), ia(1, a))) }},
		{"declined", func(w *world, a string) { w.ask(t, client(dhcpv6.MessageTypeDecline, mac1, ours(), ia(1, a))) }},
		{"moved by another pool", func(w *world, _ string) {
			w.resolver.mu.Lock()
			w.resolver.seg.PoolFrom, w.resolver.seg.PoolTo = addr("2001:db8::2000"), addr("2001:db8::2fff")
			w.resolver.mu.Unlock()
			w.bind(t, mac1, xid(77))
		}},
	} {
		w := newWorld(t, lease1())
		var ended []string
		w.cfg.Ended = func(l netboot.Lease6) { ended = append(ended, l.Address.String()) }
		a := w.bind(t, mac1)
		row.lose(w, a)
		if !slices.Equal(ended, []string{a}) {
			t.Errorf("%s: told of %v, want %s", row.name, ended, a)
		}
	}
}

// TestHoldersAreBounded: a client that makes up IAIDs is remembered by the newest.
func TestHoldersAreBounded(t *testing.T) {
	var h holders
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i := range 100 {
		h.grant(holder{byte(i)}, at.Add(time.Duration(i)*time.Second))
	}
	if len(h) != maxHolders {
		t.Fatalf("%d holders", len(h))
	}
	if _, ok := h[holder{99}]; !ok || h.release(holder{99}, at.Add(99*time.Second)) {
		t.Error("the newest is not among them, or another one has not ended")
	}
}
