package store

import (
	"fmt"
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func refused(t *testing.T, s *Store, want string, objs ...resource.Object) {
	t.Helper()
	_, err := s.Sets.Apply(t.Context(), objs, ApplyOptions{By: "test"})
	if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

func bmcByMAC(name, mac string) *resource.BMC {
	b := storetest.BMC(name, "r1")
	b.Spec.Address, b.Spec.MACAddress, b.Spec.TLS.CA = "", mac, "pem"
	return b
}

func bmcSegment(name string) *resource.Segment {
	s := storetest.Segment(name, "r1")
	s.Spec.Role, s.Spec.BaseURL = resource.SegmentBMC, ""
	return s
}

// Whoever applies a BMC accepts it, and no manifest says otherwise.
func TestApplyAcceptsBMC(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Rack("r1"))
	sneaky := storetest.BMC("b1", "r1")
	sneaky.Spec.CredentialsRef, sneaky.Status.State = "", resource.BMCPending
	refused(t, s, "spec.credentialsRef", sneaky)

	mine := storetest.BMC("b1", "r1")
	mine.Status = resource.BMCStatus{State: resource.BMCPending, AcceptedBy: "root", Address: "https://10.9.9.9"}
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{mine}, ApplyOptions{By: "anna"}); err != nil {
		t.Fatal(err)
	}
	got, _ := Get[*resource.BMC](s.Objects, "b1")
	if got.Status.State != resource.BMCAccepted || got.Status.AcceptedBy != "anna" || got.Status.Address != "" {
		t.Errorf("stored %+v", got.Status)
	}

	found := &resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: "r1"}, MACAddress: "3c:ec:ef:00:00:01"}}
	found.Metadata.Name = "found"
	found.Status = resource.BMCStatus{State: resource.BMCPending, Found: &resource.FoundBMC{MAC: "3c:ec:ef:00:00:01"}, Address: "https://10.7.0.130"}
	if err := s.Objects.Put(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{bmcByMAC("found", "3C-EC-EF-00-00-01")}, ApplyOptions{By: "bert"}); err != nil {
		t.Fatal(err)
	}
	got, _ = Get[*resource.BMC](s.Objects, "found")
	if got.Pending() || got.Status.AcceptedBy != "bert" || got.Status.Address != "https://10.7.0.130" {
		t.Errorf("accepted with a manifest: %+v", got.Status)
	}
	apply(t, s, bmcByMAC("found", "3c:ec:ef:00:00:02"))
	if got, _ = Get[*resource.BMC](s.Objects, "found"); got.Status.Address != "" || got.Status.Found != nil || got.Status.AcceptedBy != "bert" {
		t.Errorf("with another interface: %+v", got.Status)
	}
}

func TestUniqueBMCs(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Rack("r1"), bmcByMAC("a", "3c:ec:ef:00:00:01"))
	const want = `spec.macAddress: MAC address 3c:ec:ef:00:00:01 is already that of BMC "a"`
	refused(t, s, want, bmcByMAC("b", "3c:ec:ef:00:00:01"))
	refused(t, s, "is already that of BMC \"c\"", bmcByMAC("c", "3c:ec:ef:00:00:03"), bmcByMAC("d", "3c:ec:ef:00:00:03"))
	// They may change places in one set.
	apply(t, s, bmcByMAC("b", "3c:ec:ef:00:00:02"))
	apply(t, s, bmcByMAC("a", "3c:ec:ef:00:00:02"), bmcByMAC("b", "3c:ec:ef:00:00:01"))
}

// Nothing boots from a segment of BMCs.
func TestSegmentRoles(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Site()...)
	apply(t, s, bmcSegment("bmcs"))
	n3 := storetest.Server("n3", "b1", "bmcs", "52:54:00:00:00:03")
	refused(t, s, `spec.segmentRef.name: segment "bmcs" is of role bmc, from which nothing boots`, n3)
	refused(t, s, `spec.role: nothing boots from a segment of role bmc, and Server/n1, Server/n2 do; use role both`, bmcSegment("boot"))
	both := storetest.Segment("boot", "r1")
	both.Spec.Role = resource.SegmentBoth
	apply(t, s, both)
}

// What is made by the hub itself changes nothing that is there.
func TestApplyCreate(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Site()...)
	before, _ := Get[*resource.Server](s.Objects, "n1")
	next := storetest.Server("n1", "b1", "boot", "52:54:00:00:00:77")
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{next}, ApplyOptions{Create: true}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("created again: %v", err)
	}
	if after, _ := Get[*resource.Server](s.Objects, "n1"); after.Metadata.Revision != before.Metadata.Revision {
		t.Error("it was changed")
	}
}

func TestInventories(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	apply(t, s, storetest.Rack("r1"), storetest.BMC("b1", "r1"))
	put := func(uid string, revision uint64, systems int) error {
		v := &Inventory{BMC: "b1", UID: uid, Systems: make([]protocol.Inventory, systems), Revision: revision}
		return s.Inventories.Put(t.Context(), v)
	}
	if err := put("u1", 0, 1); err != nil {
		t.Fatal(err)
	}
	first := s.Inventories.Peek("b1", "u1")
	if first == nil || len(first.Systems) != 1 || first != s.Inventories.Peek("b1", "u1") {
		t.Errorf("got %+v, and it is decoded each time", first)
	}
	if s.Inventories.Peek("b1", "u2") != nil || s.Inventories.Peek("b2", "u1") != nil {
		t.Error("another BMC has its inventory")
	}
	if err := put("u1", 0, 2); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("over what was not read: %v", err)
	}
	if err := put("u1", first.Revision, 2); err != nil {
		t.Error(err)
	}
	if err := put("u2", 0, 3); err != nil {
		t.Errorf("of the next BMC of the name: %v", err)
	}
	if err := put("u2", s.Inventories.Peek("b1", "u2").Revision, 5000); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("too large: %v", err)
	}
	if got := open(t, mem).Inventories.Peek("b1", "u2"); got == nil || len(got.Systems) != 3 {
		t.Errorf("after a restart: %+v", got)
	}
	if err := s.Inventories.Sweep(t.Context()); err != nil || s.Inventories.Peek("b1", "u2") != nil {
		t.Errorf("left though there is another BMC of its name: %v", err)
	}
	b, err := Get[*resource.BMC](s.Objects, "b1")
	if err != nil {
		t.Fatal(err)
	}
	if err := put(b.Metadata.UID, 0, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Inventories.Sweep(t.Context()); err != nil || s.Inventories.Peek("b1", b.Metadata.UID) == nil {
		t.Errorf("swept with its BMC there: %v", err)
	}
	if _, err := s.Delete(t.Context(), resource.KindBMC, "b1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Inventories.Sweep(t.Context()); err != nil || s.Inventories.Peek("b1", b.Metadata.UID) != nil {
		t.Errorf("left when its BMC went: %v", err)
	}
}

// What is asked for again and again of an inventory is known of all, however few stay decoded, and those of one model share it.
func TestTheSafetyOfInventoriesIsKept(t *testing.T) {
	s := open(t, storetest.NewMemory())
	const bmcs = 100
	for i := range bmcs {
		v := &Inventory{BMC: fmt.Sprintf("b%d", i), UID: "u", Systems: []protocol.Inventory{
			{SystemURI: "/1", Detection: protocol.Detection{Reason: "no log"}, Model: strings.Repeat("m", maxDecodedBytes/50)},
			{SystemURI: "/2", Detection: protocol.Detection{Reason: fmt.Sprint(i)}},
		}}
		if err := s.Inventories.Put(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	first := s.Inventories.Safety("b0", "u", "/1")
	for i := range bmcs {
		name := fmt.Sprintf("b%d", i)
		if is := s.Inventories.Safety(name, "u", "/1"); is == nil || is != first || is.Detection.Reason != "no log" {
			t.Errorf("%s: %+v", name, is)
		}
		if is := s.Inventories.Safety(name, "u", "/2"); is == nil || is.Detection.Reason != fmt.Sprint(i) {
			t.Errorf("%s: the second system: %+v", name, is)
		}
	}
	if s.Inventories.Safety("b0", "u", "/3") != nil || s.Inventories.Safety("b0", "u", "") != nil || s.Inventories.Safety("b0", "v", "/1") != nil || s.Inventories.Safety("none", "u", "/1") != nil {
		t.Error("there is none")
	}
	d := s.Inventories.decoded
	bytes := 0
	for _, v := range d.decoded {
		bytes += v.bytes
	}
	if n := len(d.decoded); n < 10 || n > 50 || d.bytes != bytes || bytes > maxDecodedBytes {
		t.Errorf("%d are decoded, of %d bytes; %d are counted", n, bytes, d.bytes)
	}
	v := *s.Inventories.Peek("b0", "u")
	v.Systems = []protocol.Inventory{{SystemURI: "/1", Detection: protocol.Detection{Reason: "other"}}}
	if err := s.Inventories.Put(t.Context(), &v); err != nil {
		t.Fatal(err)
	}
	if is := s.Inventories.Safety("b0", "u", ""); is == nil || is.Detection.Reason != "other" || first.Detection.Reason != "no log" {
		t.Errorf("after a new one: %+v", is)
	}
	s.Inventories.decoded.drop("b0")
	if d.drop("b0"); d.bytes < 0 {
		t.Error("what is dropped twice counts twice")
	}
}
