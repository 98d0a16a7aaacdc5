package dhcp6

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

func netipPort(a string, port uint16) netip.AddrPort { return netip.AddrPortFrom(addr(a), port) }

// mineMark stands for the address of the machine.
const mineMark = "::"

const none = iana.StatusCode(999) // no status

// topStatus is the status of the whole message, iaStatus that of its first IA_NA.
func topStatus(m *dhcpv6.Message) iana.StatusCode {
	if st := m.Options.Status(); st != nil {
		return st.StatusCode
	}
	return none
}

func iaStatus(m *dhcpv6.Message) iana.StatusCode {
	if ias := m.Options.IANA(); len(ias) > 0 && ias[0].Options.Status() != nil {
		return ias[0].Options.Status().StatusCode
	}
	return none
}

// TestStates: each message from a machine that has an address, and from one that has
// none. MINE is the address of the machine.
func TestStates(t *testing.T) {
	const off, link, free, others = "2001:db8:1::5", "2001:db8::5", "2001:db8::1777", "2001:db8::1888"
	for _, row := range []struct {
		name   string
		kind   dhcpv6.MessageType
		bound  bool
		opts   []opt
		silent bool
		top    iana.StatusCode
		ia     iana.StatusCode
		addr   string // granted; MINE, ANY, or empty
		gone   []string
	}{
		{"RFC 8415 18.3.2: request of the advertised address", dhcpv6.MessageTypeRequest, true, []opt{ours(), ia(1, mineMark)}, false, none, 0, "MINE", nil},
		{"18.3.2: request of an address off the link", dhcpv6.MessageTypeRequest, true, []opt{ours(), ia(1, off)}, false, none, iana.StatusNotOnLink, "", nil},
		{"18.3.2: request of another's address gets one's own", dhcpv6.MessageTypeRequest, true, []opt{ours(), ia(1, others)}, false, none, 0, "MINE", nil},
		{"request without an address", dhcpv6.MessageTypeRequest, false, []opt{ours(), ia(1)}, false, none, 0, "ANY", nil},
		{"request after the offers were lost", dhcpv6.MessageTypeRequest, false, []opt{ours(), ia(1, free)}, false, none, 0, free, nil},
		{"16.4: request of another server", dhcpv6.MessageTypeRequest, true, []opt{with(dhcpv6.OptionServerID, 0, 4, 9), ia(1, mineMark)}, true, 0, 0, "", nil},
		{"16.4: request without a server ID", dhcpv6.MessageTypeRequest, true, []opt{ia(1, mineMark)}, true, 0, 0, "", nil},
		{"16.2: solicit with a server ID", dhcpv6.MessageTypeSolicit, true, []opt{ours(), ia(1)}, true, 0, 0, "", nil},
		{"16.2: solicit without a client ID", dhcpv6.MessageTypeSolicit, true, []opt{without(dhcpv6.OptionClientID), ia(1)}, true, 0, 0, "", nil},
		{"solicit without an IA", dhcpv6.MessageTypeSolicit, false, nil, true, 0, 0, "", nil},
		{"solicit of a prefix only", dhcpv6.MessageTypeSolicit, false, []opt{with(dhcpv6.OptionIAPD, make([]byte, 12)...)}, false, none, none, "", nil},
		{"rapid commit that is not allowed", dhcpv6.MessageTypeSolicit, false, []opt{with(dhcpv6.OptionRapidCommit), ia(1)}, false, none, 0, "ANY", nil},
		{"18.3.4: renew", dhcpv6.MessageTypeRenew, true, []opt{ours(), ia(1, mineMark)}, false, none, 0, "MINE", nil},
		{"18.3.4: renew after the leases were lost", dhcpv6.MessageTypeRenew, false, []opt{ours(), ia(1, free)}, false, none, 0, free, nil},
		{"18.3.4: renew off the link", dhcpv6.MessageTypeRenew, true, []opt{ours(), ia(1, off)}, false, none, 0, "MINE", []string{off}},
		{"18.3.4: renew of what nobody granted", dhcpv6.MessageTypeRenew, false, []opt{ours(), ia(1, link)}, false, none, iana.StatusNoBinding, "", nil},
		{"renew of another's address", dhcpv6.MessageTypeRenew, false, []opt{ours(), ia(1, others)}, false, none, 0, "ANY", []string{others}},
		{"18.3.5: rebind", dhcpv6.MessageTypeRebind, true, []opt{ia(1, mineMark)}, false, none, 0, "MINE", nil},
		{"rebind of one's own among others", dhcpv6.MessageTypeRebind, true, []opt{ia(1, off, mineMark)}, false, none, 0, "MINE", []string{off}},
		{"18.3.5: rebind of another server's lease", dhcpv6.MessageTypeRebind, false, []opt{ia(1, link)}, true, 0, 0, "", nil},
		{"18.3.3: confirm on the link", dhcpv6.MessageTypeConfirm, false, []opt{ia(1, free)}, false, 0, none, "", nil},
		{"18.3.3: confirm off the link", dhcpv6.MessageTypeConfirm, true, []opt{ia(1, free, off)}, false, iana.StatusNotOnLink, none, "", nil},
		{"18.3.3: confirm of nothing", dhcpv6.MessageTypeConfirm, true, []opt{ia(1)}, true, 0, 0, "", nil},
		{"18.3.7: release", dhcpv6.MessageTypeRelease, true, []opt{ours(), ia(1, mineMark)}, false, 0, none, "", nil},
		{"18.3.7: release of two IAs, one not ours", dhcpv6.MessageTypeRelease, true, []opt{ours(), ia(2, free), ia(1, mineMark)}, false, 0, iana.StatusNoBinding, "", nil},
		{"release of a stranger", dhcpv6.MessageTypeRelease, false, []opt{ours(), ia(1, others)}, true, 0, 0, "", nil},
		{"18.3.8: decline", dhcpv6.MessageTypeDecline, true, []opt{ours(), ia(1, mineMark)}, false, 0, none, "", nil},
		{"decline of another's address", dhcpv6.MessageTypeDecline, true, []opt{ours(), ia(1, others)}, true, 0, 0, "", nil},
		{"18.3.6: information request", dhcpv6.MessageTypeInformationRequest, false, nil, false, none, none, "", nil},
		{"18.3.6: to us", dhcpv6.MessageTypeInformationRequest, false, []opt{ours()}, false, none, none, "", nil},
		{"16.12: with an IA", dhcpv6.MessageTypeInformationRequest, false, []opt{ia(1)}, true, 0, 0, "", nil},
		{"a server's message", dhcpv6.MessageTypeReply, true, []opt{ours(), ia(1)}, true, 0, 0, "", nil},
	} {
		w := newWorld(t, lease1())
		other := leasedTo(w, mac2, others)
		mine := ""
		if row.bound {
			mine = w.bind(t, mac1)
		}
		m := w.ask(t, client(row.kind, mac1, replaceMine(row.opts, mine)...))
		if (m == nil) != row.silent {
			t.Errorf("%s: %v", row.name, m)
		}
		if m == nil || row.silent {
			continue
		}
		got := leased(m)
		switch row.addr {
		case "MINE":
			row.addr = mine
		case "ANY":
			if row.addr = got; got == "" || got == other {
				t.Errorf("%s: granted %q", row.name, got)
			}
		}
		var gone []string
		for _, n := range m.Options.IANA() {
			for _, a := range n.Options.Addresses() {
				if a.ValidLifetime == 0 {
					gone = append(gone, a.IPv6Addr.String())
				}
			}
		}
		if got != row.addr || topStatus(m) != row.top || iaStatus(m) != row.ia || !slices.Equal(gone, row.gone) {
			t.Errorf("%s: granted %q, ended %v, status %d, of the IA %d", row.name, got, gone, topStatus(m), iaStatus(m))
		}
		if m.MessageType == dhcpv6.MessageTypeReply && got != "" {
			if l, ok := w.leases.get(got); !ok || l.Client != mac1 || l.MAC != mac1 || l.Server != "s1" || !l.Expires.Equal(w.clock.Add(time.Hour)) {
				t.Errorf("%s: on disk %+v", row.name, l)
			}
		}
	}
}

// leasedTo puts a lease on disk and starts the server anew.
func leasedTo(w *world, mac, a string) string {
	_ = w.leases.Put(context.Background(), netboot.Lease6{Segment: "rack1", Address: addr(a), Client: mac, MAC: mac, Server: "s2", Expires: w.clock.Add(time.Hour)}) // it is in memory
	w.pool = newPool([]netboot.Lease6{w.leases.leases[addr(a)]}, w.clock)
	return a
}

// replaceMine puts the machine's address for MINE.
func replaceMine(opts []opt, mine string) []opt {
	return append(opts, func(p *reply) {
		for i, o := range p.options {
			n, ok := o.(*dhcpv6.OptIANA)
			if !ok {
				continue
			}
			for _, a := range n.Options.Addresses() {
				if mine != "" && a.IPv6Addr.IsUnspecified() {
					a.IPv6Addr = addr(mine).AsSlice()
				}
			}
			p.options[i] = n
		}
	})
}

// TestUnicast: RFC 8415 section 18.4 for messages that were not sent to a group.
func TestUnicast(t *testing.T) {
	w := newWorld(t, lease1())
	a := w.bind(t, mac1)
	for _, row := range []struct {
		kind dhcpv6.MessageType
		mac  string
		opts []opt
		want iana.StatusCode
	}{
		{dhcpv6.MessageTypeRenew, mac1, []opt{ours(), ia(1, a)}, iana.StatusUseMulticast},
		{dhcpv6.MessageTypeRequest, mac1, []opt{ours(), ia(1, a)}, iana.StatusUseMulticast},
		{dhcpv6.MessageTypeRelease, mac1, []opt{ours(), ia(1, a)}, iana.StatusUseMulticast},
		{dhcpv6.MessageTypeDecline, mac1, []opt{ours(), ia(1, a)}, iana.StatusUseMulticast},
		{dhcpv6.MessageTypeRenew, mac2, []opt{ours(), ia(1, a)}, none},
		{dhcpv6.MessageTypeSolicit, mac1, []opt{ia(1)}, none},
		{dhcpv6.MessageTypeRebind, mac1, []opt{ia(1, a)}, none},
		{dhcpv6.MessageTypeConfirm, mac1, []opt{ia(1, a)}, none},
		{dhcpv6.MessageTypeInformationRequest, mac1, nil, none},
	} {
		out, _ := w.respond(t.Context(), client(row.kind, row.mac, row.opts...).bytes(), netipPort(a, portClient), false)
		if row.want == none {
			if out != nil {
				t.Errorf("%s of %s is answered", row.kind, row.mac)
			}
			continue
		}
		m, err := dhcpv6.MessageFromBytes(out)
		if err != nil || topStatus(m) != row.want || len(m.Options.Options) != 3 {
			t.Errorf("%s: %v %v", row.kind, m, err)
		}
	}
}

// TestDecisionHolds: UEFI HTTP boot takes the URL from the ADVERTISE, and the REQUEST
// has another transaction ID (RFC 8415 section 16.1).
func TestDecisionHolds(t *testing.T) {
	w := newWorld(t, boot1())
	url := func(kind dhcpv6.MessageType, x byte, opts ...opt) string {
		m := w.ask(t, client(kind, mac1, append(opts, httpClient(), ia(1), xid(x))...))
		if m == nil {
			return "silence"
		}
		return m.Options.BootFileURL()
	}
	const one, two = "http://[2001:db8::1]/b/tok/uki.efi", "http://[2001:db8::1]/b/new/uki.efi"
	step := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	step("solicit", url(dhcpv6.MessageTypeSolicit, 1), one)
	w.resolver.set(protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "new", File: "uki.efi"})
	step("repeated", url(dhcpv6.MessageTypeSolicit, 1), one)
	step("request", url(dhcpv6.MessageTypeRequest, 2, ours()), one)
	step("next boot", url(dhcpv6.MessageTypeSolicit, 3), two)
	step("its request", url(dhcpv6.MessageTypeRequest, 4, ours()), two)
	w.resolver.set(protocol.BootAnswer{Action: protocol.AnswerSilence})
	w.clock = w.clock.Add(leasing.FreezeFor)
	step("renew later", url(dhcpv6.MessageTypeRenew, 5, ours()), "silence")
	w.resolver.set(boot1())
	step("silence is not kept", url(dhcpv6.MessageTypeRenew, 5, ours()), one)
}

// TestKnownToUnknown: an answer of an earlier exchange does not outlive the next one's
// for a machine that stopped being ours.
func TestKnownToUnknown(t *testing.T) {
	w := newWorld(t, boot1())
	w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, httpClient(), ia(1), xid(1)))
	w.resolver.set(protocol.BootAnswer{Action: protocol.AnswerRefuse})
	w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, httpClient(), ia(1), xid(2)))
	m := w.ask(t, client(dhcpv6.MessageTypeRequest, mac1, httpClient(), ours(), ia(1), xid(3)))
	if got := m.Options.BootFileURL(); got != "http://[2001:db8::1]/b/refused/refused.efi" {
		t.Errorf("request: %s", got)
	}
}
