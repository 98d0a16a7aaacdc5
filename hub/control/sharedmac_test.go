package control

import (
	"slices"
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// cards is a host with these addresses, in the order in which firmware tries them.
func cards(macs ...string) protocol.Inventory {
	inv := protocol.Inventory{SystemURI: "/redfish/v1/Systems/1"}
	for _, mac := range macs {
		inv.Interfaces = append(inv.Interfaces, protocol.Interface{MAC: mac})
	}
	return inv
}

// An address that two systems show counts for neither, and refuses none of them; both say so until one
// shows it no more. What somebody applied counts.
func TestMACOfTwoServers(t *testing.T) {
	const shared, first, second = "52:54:00:00:0f:01", "52:54:00:00:00:31", "52:54:00:00:00:32"
	b, m := bmcSite(t, &resource.AcceptRule{CredentialsRef: "local:smc", TrustFirst: true})
	one := leased("https://10.7.0.130")
	two := leased("https://10.7.0.131")
	two.MAC = "3c:ec:ef:00:00:02"
	const oneName, twoName = bmcName, "bmc-3cecef000002"
	shows := map[string]protocol.Inventory{oneName: cards(shared, first), twoName: cards(shared, second)}
	read := func() {
		t.Helper()
		for range 4 { // an agent is asked two things at once
			m.tick()
			for _, q := range m.takeAsks() {
				inv, ok := shows[q.BMC.Name]
				if !ok {
					inv = cards("52:54:00:00:00:01") // n1's
				}
				m.answers(q, inv)
			}
			b.pass()
		}
	}
	intent := func(name string) message.ServerIntent {
		t.Helper()
		servers := b.rack(m).Servers
		i := slices.IndexFunc(servers, func(s message.ServerIntent) bool { return s.Server == name })
		if i < 0 {
			t.Fatalf("%s is not in the document", name)
		}
		return servers[i]
	}
	m.finds(one)
	read()
	if got := intent(oneName); got.BootMAC != shared {
		t.Fatalf("alone: %+v", got)
	}
	m.finds(one, two)
	read()
	for name, own := range map[string][]string{oneName: {first, twoName}, twoName: {second, oneName}} {
		if got := intent(name); got.BootMAC != own[0] || len(got.MACs) != 0 {
			t.Errorf("%s is known by %s %v", name, got.BootMAC, got.MACs)
		}
		said := ""
		for _, c := range b.server(name).Status.Conditions {
			if c.Code == resource.CondMACShared {
				said = c.Message
			}
		}
		if !strings.Contains(said, shared) || !strings.Contains(said, own[1]) {
			t.Errorf("%s says %q", name, said)
		}
	}

	// Somebody says whose it is.
	n := storetest.Server(oneName, oneName, "boot", shared)
	n.Spec.SystemURI, n.Spec.MACs = "/redfish/v1/Systems/1", []string{first}
	b.apply(n)
	b.pass()
	m.listens()
	if got := intent(oneName); got.BootMAC != shared {
		t.Errorf("applied: known by %s %v", got.BootMAC, got.MACs)
	}
	if got := intent(twoName); got.BootMAC != second {
		t.Errorf("the other: known by %s %v", got.BootMAC, got.MACs)
	}

	// The card is another now.
	shows[twoName] = cards(second)
	b.now = b.now.Add(25 * 3600e9)
	m.connects()
	m.finds(one, two)
	read()
	for _, name := range []string{oneName, twoName} {
		if s := b.server(name); len(s.Status.SharedMACs) != 0 || strings.Contains(codes(s.Status.Conditions), "MACShared") {
			t.Errorf("%s still says %+v", name, s.Status.SharedMACs)
		}
	}
}
