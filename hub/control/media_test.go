package control

import (
	"context"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// isoRegistry has images of an ISO; of a UKI while wrong is set.
type isoRegistry struct {
	wrong bool
	movingTag
}

func (r *isoRegistry) Resolve(ctx context.Context, ref, arch string) (resource.Image, error) {
	img, err := r.movingTag.Resolve(ctx, ref, arch)
	if !r.wrong {
		img.Artefacts[0].Kind = resource.ArtefactISO
	}
	return img, err
}

// A claim by virtual media is configured when the image has an ISO and the BMC a drive, as
// far as its inventory says; until then it says why not, and nothing is made for it. So it
// is with a maintenance.
func TestClaimByVirtualMedia(t *testing.T) {
	images := &isoRegistry{wrong: true}
	b := newBench(t, images)
	b.apply(storetest.Site()...)
	m := b.modern(b.join("r1"))
	m.caps = message.Capabilities()
	m.connects()
	srv, err := store.Get[*resource.Server](b.store.Objects, "n1")
	if err != nil {
		t.Fatal(err)
	}
	own, err := store.Get[*resource.BMC](b.store.Objects, srv.Spec.BMCRef.Name)
	if err != nil {
		t.Fatal(err)
	}
	inventory := func(drives int) {
		t.Helper()
		inv := &store.Inventory{BMC: own.Metadata.Name, UID: own.Metadata.UID, At: b.now, Systems: []protocol.Inventory{
			{SystemURI: srv.Spec.SystemURI, Media: &protocol.MediaDrives{Boot: drives}},
		}}
		if old := b.store.Inventories.Peek(own.Metadata.Name, own.Metadata.UID); old != nil {
			inv.Made, inv.Revision = old.Made, old.Revision
		}
		if err := b.store.Inventories.Put(ctx(t), inv); err != nil {
			t.Fatal(err)
		}
	}
	c := storetest.Claim("c1", "n1")
	c.Spec.BootPolicy.FirstBoot = resource.FirstBootVirtualMedia
	b.apply(c)
	wants := func(when string, code resource.ConditionCode, part string, configs int) {
		t.Helper()
		b.now = b.now.Add(time.Minute + time.Second)
		b.pass()
		m.listens()
		var d message.RackDoc
		b.opens(m, "rack/0", &d)
		got := b.claim("c1").Status.Conditions
		found := code == ""
		for _, g := range got {
			found = found || g.Code == code && strings.Contains(g.Message, part)
		}
		if !found || b.configs() != configs || (d.Servers[0].Boot != nil) != (configs > 0) {
			t.Errorf("%s: %d configurations, %+v", when, b.configs(), got)
		}
	}
	wants("a UKI", resource.CondImageInvalid, "cannot be booted by VirtualMedia: it has uki, and no iso", 0)
	images.wrong = false
	inventory(0)
	wants("no drive", resource.CondUnsupportedBoot, "has no drive for CD images", 0)
	inventory(1)
	wants("an ISO and a drive", "", "", 1)
}
