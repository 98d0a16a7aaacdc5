package control

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const (
	bmcMAC   = "3c:ec:ef:00:00:01"
	bmcName  = "bmc-3cecef000001"
	bmcPrint = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// bmcSite is a site with a segment of BMCs, whose own BMCs have been read.
func bmcSite(t *testing.T, rule *resource.AcceptRule) (*bench, *modern) {
	t.Helper()
	b, m := modernSite(t)
	seg := storetest.Segment("bmcs", "r1")
	seg.Spec.Role, seg.Spec.BaseURL = resource.SegmentBMC, ""
	seg.Spec.BMCs = &resource.SegmentBMCs{MACPrefixes: []string{"3c:ec:ef"}, Accept: rule}
	b.apply(seg)
	b.pass()
	m.tick()
	for _, q := range m.takeAsks() {
		m.answers(q, protocol.Inventory{SystemURI: "/redfish/v1/Systems/1"})
	}
	b.pass()
	m.listens()
	return b, m
}

// tick lets a second pass at the hub.
func (m *modern) tick() {
	m.b.t.Helper()
	m.b.now = m.b.now.Add(time.Second)
	m.b.control.tick()
	m.listens()
}

func (m *modern) takeAsks() []message.Ask {
	out := m.asks
	m.asks = nil
	return out
}

func (m *modern) answers(q message.Ask, systems ...protocol.Inventory) {
	m.b.t.Helper()
	raw, err := json.Marshal(systems)
	if err != nil {
		m.b.t.Fatal(err)
	}
	m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: raw})
}

// finds sends a report that names BMCs, and makes a pass.
func (m *modern) finds(found ...resource.FoundBMC) {
	m.b.t.Helper()
	m.seq++
	m.says(message.LeafReport, message.Report{
		Agent: m.name, Session: m.session, Incarnation: m.incarnation, Seq: m.seq, At: m.b.now, Applied: m.applied, Shards: 1, Nonce: m.nonce, Fence: m.fence, Found: found,
	})
	m.b.pass()
	m.listens()
}

func leased(address string) resource.FoundBMC {
	return resource.FoundBMC{Segment: "bmcs", By: resource.FoundByLease, MAC: bmcMAC, Address: address, Fingerprint: bmcPrint, Vendor: "Supermicro"}
}

func (b *bench) bmc(name string) *resource.BMC {
	b.t.Helper()
	o, err := store.Get[*resource.BMC](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(o)
	return o
}

func (b *bench) hasServer(name string) bool {
	_, err := store.Get[*resource.Server](b.store.Objects, name)
	return err == nil
}

func (b *bench) happened(code resource.EventCode) (n int) {
	for _, e := range b.control.Events.After(0, 1000) {
		if e.Code == code {
			n++
		}
	}
	return n
}

func (b *bench) revision() uint64 {
	_, rev, err := b.mem.List(b.t.Context(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	return rev
}

// rack is the agent's RackDoc of shard 0.
func (b *bench) rack(m *modern) (d message.RackDoc) {
	b.t.Helper()
	b.opens(m, "rack/0", &d)
	return d
}

func host(mac string) protocol.Inventory {
	return protocol.Inventory{
		SystemURI: "/redfish/v1/Systems/1", Vendor: "Supermicro", Model: "SYS-1", Architecture: "x86_64",
		Interfaces: []protocol.Interface{{MAC: mac, Sources: []string{"EthernetInterfaces"}}},
		SafeStop:   protocol.SafeStop{Class: protocol.SafeStopShellFirst}, Detection: protocol.Detection{Class: protocol.DetectPoll},
	}
}

// A BMC that was found waits: it is in no document, it is not asked, and what is
// seen of it costs no write.
func TestFoundBMCWaits(t *testing.T) {
	b, m := bmcSite(t, nil)
	before := encodeRack(t, b.rack(m))
	m.finds(leased("https://10.7.0.130"))
	got := b.bmc(bmcName)
	if !got.Pending() || got.Spec.MACAddress != bmcMAC || got.Status.Address != "https://10.7.0.130" || got.Status.Found.Vendor != "Supermicro" || codes(got.Status.Conditions) != "BMCPending" {
		t.Errorf("found %+v", got)
	}
	if msg := got.Status.Conditions[0].Message; !strings.Contains(msg, bmcPrint) {
		t.Errorf("it says %q", msg)
	}
	if n := b.happened(resource.EventFoundBMC); n != 1 {
		t.Errorf("%d events", n)
	}
	rev := b.revision()
	for i := range 5 {
		b.now = b.now.Add(15 * time.Second)
		again := leased("https://10.7.0.130")
		again.At, again.Vendor = b.now, fmt.Sprintf("Vendor %d", i)
		m.finds(again)
		m.tick()
	}
	if b.revision() != rev {
		t.Error("a report of what is known was written")
	}
	if got = b.bmc(bmcName); got.Status.Found.Vendor != "Vendor 4" || !got.Status.Found.At.Equal(b.now.Add(-time.Second)) {
		t.Errorf("seen last: %+v", got.Status.Found)
	}
	if q := m.takeAsks(); len(q) != 0 {
		t.Errorf("it was asked: %+v", q)
	}
	if diff := cmp.Diff(before, encodeRack(t, b.rack(m))); diff != "" {
		t.Errorf("it is in the document: %s", diff)
	}
	// A server that names it is not sent either, and says why.
	b.apply(storetest.Server("n9", bmcName, "boot", "52:54:00:00:00:09"))
	b.pass()
	m.listens()
	if d := b.rack(m); slices.ContainsFunc(d.Servers, func(s message.ServerIntent) bool { return s.Server == "n9" }) {
		t.Error("the server of a BMC that waits is in the document")
	}
	if s := b.server("n9"); !strings.Contains(codes(s.Status.Conditions), "BMCPending") {
		t.Errorf("the server says %q", codes(s.Status.Conditions))
	}
	if _, err := b.control.Inventory.Probe(ctx(t), bmcName, ""); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("it can be probed: %v", err)
	}
}

func encodeRack(t *testing.T, d message.RackDoc) string {
	t.Helper()
	d.Head, d.IssuedAt = protocol.Head{}, time.Time{}
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// An old BMC is used by its TLS only where it was accepted so, and says so as long as it is.
func TestOldBMC(t *testing.T) {
	b, m := bmcSite(t, nil)
	m.finds(leased("https://10.7.0.130"))
	accept := api.AcceptBMC{CredentialsRef: "local:smc", Fingerprint: bmcPrint, LegacyTLS: true}
	if _, err := b.control.Inventory.AcceptBMC(ctx(t), bmcName, accept, "admin"); err != nil {
		t.Fatal(err)
	}
	accept.LegacyTLS = false
	if _, err := b.control.Inventory.AcceptBMC(ctx(t), bmcName, accept, "admin"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("accepted again with another TLS: %v", err)
	}
	b.pass()
	m.tick()
	asks := m.takeAsks()
	if len(asks) != 1 || !asks[0].BMC.LegacyTLS {
		t.Fatalf("asked %+v", asks)
	}
	m.answers(asks[0], host("52:54:00:00:00:31"))
	b.pass()
	m.listens()
	if got := b.bmc(bmcName); codes(got.Status.Conditions) != "BMCLegacyTLS" {
		t.Errorf("it says %+v", got.Status.Conditions)
	}
	got := b.bmc(bmcName)
	got.Spec.TLS.Legacy = false
	b.apply(got)
	b.pass()
	m.listens()
	if got := b.bmc(bmcName); codes(got.Status.Conditions) != "" {
		t.Errorf("without it: %+v", got.Status.Conditions)
	}
}

// Once accepted its inventory is asked for, a Server is made of it, and both travel;
// the address follows the lease.
func TestAcceptedBMC(t *testing.T) {
	b, m := bmcSite(t, nil)
	m.finds(leased("https://10.7.0.130"))
	for _, wrong := range []api.AcceptBMC{{CredentialsRef: "local:smc"}, {Fingerprint: bmcPrint}, {CredentialsRef: "local:smc", Fingerprint: "sha256:1"}} {
		if _, err := b.control.Inventory.AcceptBMC(ctx(t), bmcName, wrong, "admin"); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	accept := api.AcceptBMC{CredentialsRef: "local:smc", Fingerprint: bmcPrint}
	for range 2 { // idempotent
		if _, err := b.control.Inventory.AcceptBMC(ctx(t), bmcName, accept, "admin"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.control.Inventory.AcceptBMC(ctx(t), bmcName, api.AcceptBMC{CredentialsRef: "local:other", Fingerprint: bmcPrint}, "admin"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("accepted again with other credentials: %v", err)
	}
	if n := b.happened(resource.EventAcceptedBMC); n != 1 {
		t.Errorf("%d events", n)
	}
	b.pass()
	m.tick()
	asks := m.takeAsks()
	want := message.BMCIntent{Name: bmcName, Address: "https://10.7.0.130", CredentialsRef: "local:smc", Fingerprint: bmcPrint}
	if len(asks) != 1 || asks[0].Kind != message.AskInventory || asks[0].BMC != want || !asks[0].NotAfter.Equal(b.now.Add(3*time.Minute)) {
		t.Fatalf("asked %+v", asks)
	}
	m.answers(asks[0], host("52:54:00:00:00:31"))
	b.pass()
	m.listens()
	s := b.server(bmcName)
	if s.Spec.BootMAC != "52:54:00:00:00:31" || s.Spec.SegmentRef.Name != "boot" || s.Metadata.Labels["rackboot/from"] != "inventory" || s.Status.SafeStop != protocol.SafeStopShellFirst || s.Status.Detection != protocol.DetectPoll || !strings.Contains(s.Status.Detects, "goes unseen") {
		t.Errorf("made %+v", s)
	}
	got := b.bmc(bmcName)
	if got.Status.AcceptedBy != "admin" || len(got.Status.Inventory) != 1 || !got.Status.InventoryAt.Equal(b.now) || !slices.Equal(got.Status.Servers, []string{bmcName}) || len(got.Status.Conditions) != 0 {
		t.Errorf("the BMC is %+v", got.Status)
	}
	m.finds(leased("https://10.7.0.131"))
	d := b.rack(m)
	i := slices.IndexFunc(d.Servers, func(s message.ServerIntent) bool { return s.Server == bmcName })
	if i < 0 || d.Servers[i].BMC.Address != "https://10.7.0.131" {
		t.Errorf("the document has %+v", d.Servers)
	}
	for _, seg := range d.Rack.Segments {
		want := 0
		if seg.Role == resource.SegmentBMC {
			want = 1
		}
		if len(seg.BMCMACs) != want {
			t.Errorf("segment %s has the MAC addresses %v", seg.Name, seg.BMCMACs)
		}
	}
	// The hub starts again: what decides was stored.
	b.restart()
	if got := b.bmc(bmcName); got.Pending() || got.Status.Address != "https://10.7.0.131" || len(got.Status.Inventory) != 1 {
		t.Errorf("after a restart it is %+v", got.Status)
	}
}

func TestAcceptRule(t *testing.T) {
	b, m := bmcSite(t, &resource.AcceptRule{CredentialsRef: "local:smc", TrustFirst: true})
	m.finds(leased("https://10.7.0.130"))
	got := b.bmc(bmcName)
	if got.Pending() || got.Status.AcceptedBy != "segment/bmcs" || got.Spec.TLS.Fingerprint != bmcPrint || b.happened(resource.EventAcceptedBMC) != 1 {
		t.Errorf("it is %+v, %+v", got.Spec, got.Status)
	}
	// Another certificate at that address changes nothing.
	other := leased("https://10.7.0.130")
	other.Fingerprint = strings.Replace(bmcPrint, "0", "f", 1)
	m.finds(other)
	if got := b.bmc(bmcName); got.Spec.TLS.Fingerprint != bmcPrint {
		t.Errorf("the pin is %s now", got.Spec.TLS.Fingerprint)
	}
}

// A manifest under the MAC address of one that waits is the same BMC.
func TestAppliedBMCIsTheFoundOne(t *testing.T) {
	b, m := bmcSite(t, nil)
	m.finds(leased("https://10.7.0.130"))
	own := storetest.BMC("rack1-smc", "r1")
	own.Spec.Address, own.Spec.MACAddress, own.Spec.TLS.Fingerprint = "", bmcMAC, bmcPrint
	b.apply(own)
	b.pass()
	m.finds(leased("https://10.7.0.130"))
	if _, err := store.Get[*resource.BMC](b.store.Objects, bmcName); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("the found one is still there: %v", err)
	}
	if got := b.bmc("rack1-smc"); got.Pending() || got.Status.AcceptedBy != "test" || got.Status.Address != "https://10.7.0.130" {
		t.Errorf("the applied one is %+v", got.Status)
	}
}

// However the hub dies, each Server is made once; one that somebody deleted is not
// made again, whatever is read later.
func TestServersAreMadeOnce(t *testing.T) {
	b, m := bmcSite(t, &resource.AcceptRule{CredentialsRef: "local:smc", TrustFirst: true})
	m.finds(leased("https://10.7.0.130"))
	m.tick()
	m.answers(m.takeAsks()[0], host("52:54:00:00:00:31"))
	b.dies("hub.bmc.server", func() { b.pass() })
	b.pass()
	uid := b.server(bmcName).Metadata.UID
	b.pass()
	if now := b.server(bmcName).Metadata.UID; now != uid {
		t.Errorf("made again: %s, was %s", now, uid)
	}
	if _, err := b.store.Delete(ctx(t), resource.KindServer, bmcName); err != nil {
		t.Fatal(err)
	}
	b.pass()
	m.connects()
	b.now = b.now.Add(25 * time.Hour)
	m.finds(leased("https://10.7.0.130"))
	read := 0
	for range 3 { // an agent is asked two things at once
		m.tick()
		for _, q := range m.takeAsks() {
			if q.BMC.Name == bmcName {
				read++
				m.answers(q, host("52:54:00:00:00:31"))
				continue
			}
			m.answers(q, protocol.Inventory{SystemURI: "/redfish/v1/Systems/1"})
		}
	}
	b.pass()
	if b.hasServer(bmcName) || read != 1 {
		t.Error("the server that was deleted came back")
	}
	// With the BMC what was read of it goes.
	if _, err := b.store.Delete(ctx(t), resource.KindBMC, bmcName); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if e, err := b.mem.Get(ctx(t), "inventory."+bmcName); err == nil {
		t.Errorf("left: %s", e.Value)
	}
}

// Whatever a hub had written when it died is there, and the rest comes after.
func TestBMCsAfterACrash(t *testing.T) {
	b, m := bmcSite(t, nil)
	b.dies("hub.bmc.found", func() { m.finds(leased("https://10.7.0.130")) })
	if !b.bmc(bmcName).Pending() {
		t.Error("the found one is not there")
	}
	accept := api.AcceptBMC{CredentialsRef: "local:smc", Fingerprint: bmcPrint}
	b.dies("hub.bmc.accepted", func() {
		_, err := b.control.Inventory.AcceptBMC(ctx(t), bmcName, accept, "admin")
		t.Errorf("it lives: %v", err)
	})
	if got := b.bmc(bmcName); got.Pending() || got.Status.AcceptedBy != "admin" {
		t.Errorf("it is %+v", got.Status)
	}
	if _, err := b.control.Inventory.AcceptBMC(ctx(t), bmcName, accept, "admin"); err != nil {
		t.Errorf("once more: %v", err)
	}
	m.connects()
	r := off("n1")
	r.Identity = "new"
	m.reports(r)
	b.dies("hub.server.accepted", func() {
		_, err := b.control.Inventory.AcceptServer(ctx(t), "n1", api.AcceptServer{Identity: "new"}, "admin")
		t.Errorf("it lives: %v", err)
	})
	if got := b.server("n1").Status.AcceptedIdentity; got != "new" {
		t.Errorf("the identity is %q", got)
	}
}

// The enrolment that was shown is forgotten, travels in the rack's document, and stays after a restart; nothing
// else is taken.
func TestReEnrolServer(t *testing.T) {
	b, m := bmcSite(t, nil)
	m.connects()
	refused := func(enrolment string, code protocol.Code) {
		t.Helper()
		_, err := b.control.Inventory.ReEnrolServer(ctx(t), "n1", api.ReEnrolServer{Enrolment: enrolment}, "admin")
		if protocol.CodeOf(err) != code || protocol.HintOf(err) == "" {
			t.Errorf("%q: %v, hint %q", enrolment, err, protocol.HintOf(err))
		}
	}
	refused("e1", protocol.CodeUnavailable)
	m.reports(off("n1"))
	refused("e1", protocol.CodeConflict)
	refused("", protocol.CodeConflict)
	r := off("n1")
	r.TPM = &resource.TPMReport{Enrolment: "e1", Endorsement: "sha256:00", Origin: resource.TPMVouched}
	m.reports(r)
	refused("e0", protocol.CodeConflict)
	b.dies("hub.server.reenrolled", func() {
		_, err := b.control.Inventory.ReEnrolServer(ctx(t), "n1", api.ReEnrolServer{Enrolment: "e1"}, "admin")
		t.Errorf("it lives: %v", err)
	})
	m.connects()
	b.pass()
	m.listens()
	if got := b.rack(m).Servers[0]; got.Server != "n1" || got.ForgetTPM != "e1" {
		t.Errorf("it travels as %+v", got)
	}
	m.reports(off("n1")) // the agent has forgotten it
	if s, err := b.control.Inventory.ReEnrolServer(ctx(t), "n1", api.ReEnrolServer{Enrolment: "e1"}, "admin"); err != nil || s.Status.ForgetTPM != "e1" {
		t.Errorf("once more: %v", err)
	}
	b.apply(storetest.Site()...)
	if s := b.server("n1"); s.Status.ForgetTPM != "e1" {
		t.Errorf("after an apply it is %q", s.Status.ForgetTPM)
	}
}

// An inventory never changes a Server that somebody applied; what differs is said.
func TestInventoryChangesNoServer(t *testing.T) {
	b, m := bmcSite(t, nil)
	before := b.server("n1")
	b.now = b.now.Add(25 * time.Hour)
	m.connects()
	m.tick()
	for _, q := range m.takeAsks() {
		m.answers(q, host("52:54:00:00:00:77"))
	}
	b.pass()
	after := b.server("n1")
	if before.Metadata.Revision != after.Metadata.Revision || !strings.Contains(codes(after.Status.Conditions), "BMCInventory") {
		t.Errorf("n1 is %+v with %q", after.Spec, codes(after.Status.Conditions))
	}
	// What cannot be made is said at the BMC: the MAC address is n1's.
	got := b.bmc("b1")
	if len(got.Status.Conditions) != 0 {
		t.Errorf("b1 says %+v", got.Status.Conditions)
	}
}

// Whatever was agreed on before, a Server or an inventory that is another is compared again.
func TestInventoryIsComparedAgain(t *testing.T) {
	b, m := bmcSite(t, nil)
	const one, other = "52:54:00:00:00:01", "52:54:00:00:00:77"
	for i, step := range []struct {
		server, inventory string // empty: it stays what it is
		differs           bool
	}{
		{one, one, false}, {"", "", false}, {other, "", true}, {"", "", true}, {"", other, false}, {one, "", true}, {"", one, false}, {"", other, true},
	} {
		if step.server != "" {
			b.apply(storetest.Server("n1", "b1", "boot", step.server))
		}
		if step.inventory != "" {
			b.now = b.now.Add(25 * time.Hour)
			m.connects()
			m.tick()
			for _, q := range m.takeAsks() {
				m.answers(q, host(step.inventory))
			}
		}
		for range 2 {
			b.pass()
			if got := strings.Contains(codes(b.server("n1").Status.Conditions), "BMCInventory"); got != step.differs {
				t.Errorf("step %d: it differs is %t", i, got)
			}
		}
	}
}

// A Server that the store would not have is said at the BMC, and made when it can be.
func TestServerThatCannotBeMade(t *testing.T) {
	b, m := bmcSite(t, &resource.AcceptRule{CredentialsRef: "local:smc", TrustFirst: true})
	m.finds(leased("https://10.7.0.130"))
	m.tick()
	m.answers(m.takeAsks()[0], host("52:54:00:00:00:01")) // n1's
	b.pass()
	got := b.bmc(bmcName)
	if b.hasServer(bmcName) || codes(got.Status.Conditions) != "BMCInventory" || !strings.Contains(got.Status.Conditions[0].Message, "52:54:00:00:00:01 (server n1)") {
		t.Errorf("the BMC says %+v", got.Status.Conditions)
	}
	since := got.Status.Conditions[0].Since
	b.now = b.now.Add(time.Minute)
	b.pass()
	if again := b.bmc(bmcName).Status.Conditions[0].Since; !again.Equal(since) {
		t.Errorf("it is so since %s, was since %s", again, since)
	}
	b.apply(storetest.Server("n1", "b1", "boot", "52:54:00:00:00:11"))
	b.pass()
	if got := b.bmc(bmcName); !b.hasServer(bmcName) || len(got.Status.Conditions) != 0 {
		t.Errorf("the BMC says %+v", got.Status.Conditions)
	}
}

// The identity that an operator accepts is the one that was shown, and travels.
func TestAcceptServer(t *testing.T) {
	b, m := modernSite(t)
	say := func(identity string) {
		r := off("n1")
		r.Identity = identity
		m.reports(r)
		b.pass()
		m.listens()
	}
	if _, err := b.control.Inventory.AcceptServer(ctx(t), "n1", api.AcceptServer{Identity: "x"}, "admin"); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("not read yet: %v", err)
	}
	say("new")
	if _, err := b.control.Inventory.AcceptServer(ctx(t), "n1", api.AcceptServer{Identity: "old"}, "admin"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("another one: %v", err)
	}
	if b.rack(m).Servers[0].Identity != "" {
		t.Error("an identity travels that nobody accepted")
	}
	for range 2 {
		if _, err := b.control.Inventory.AcceptServer(ctx(t), "n1", api.AcceptServer{Identity: "new"}, "admin"); err != nil {
			t.Fatal(err)
		}
	}
	b.pass()
	m.listens()
	if got := b.rack(m).Servers[0]; got.Server != "n1" || got.Identity != "new" {
		t.Errorf("it travels as %+v", got)
	}
	b.restart()
	b.apply(storetest.Site()...) // a manifest does not take it away
	if s := b.server("n1"); s.Status.AcceptedIdentity != "new" {
		t.Errorf("after a restart it is %q", s.Status.AcceptedIdentity)
	}
}
