package rack

import (
	"slices"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/bmc/sim/tree"
	"rackboot/integration/sim"
	"rackboot/netboot/image"
	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// twoDrives is Plain with two virtual drives.
func twoDrives() bmcsim.Personality {
	p := bmcsim.Plain()
	p.Tree = tree.TwoDrives()
	return p
}

// byMedia claims server i with an ISO that its BMC inserts.
func (b *bench) byMedia(i int) {
	b.t.Helper()
	b.pushISO(isotest.New("BOOTX64.EFI").Bytes(make([]byte, 6<<20)...))
	b.claim(i)
	b.intents[i].Boot.BootPolicy.FirstBoot = resource.FirstBootVirtualMedia
	b.grant(i)
}

// pushISO makes an ISO the bench's image.
func (b *bench) pushISO(content []byte) {
	b.t.Helper()
	ref, err := b.reg.behind.PushLayer("demo/iso:1", "application/vnd.rackboot.image.iso", content)
	if err != nil {
		b.t.Fatal(err)
	}
	ref = strings.Replace(ref, b.reg.behind.Addr, strings.TrimPrefix(b.reg.proxy.URL, "http://"), 1)
	if b.image, err = image.Resolve(b.t.Context(), ref, "amd64", image.Options{}); err != nil {
		b.t.Fatal(err)
	}
}

// drives are what the virtual drives of server 0 hold.
func (b *bench) drives() (images []string) {
	h := b.servers[0].BMC.Hosts()[0]
	for _, slot := range h.Slots() {
		if m := h.Media(slot); m != "" {
			images = append(images, m)
		}
	}
	return images
}

// checkOrder checks that the image was inserted before the override, and that before On.
func (b *bench) checkOrder() {
	b.t.Helper()
	at := map[string]int{}
	history := b.servers[0].BMC.History()
	for i, h := range history {
		what := h.What + " " + h.Detail
		if h.What == bmcsim.RecordMedia {
			what = h.What + " " + h.Detail[strings.LastIndexByte(h.Detail, '/')+1:]
		}
		if _, seen := at[what]; !seen {
			at[what] = i + 1
		}
	}
	if in, armed, on := at["media boot.iso"], at["patch Cd Once"], at["reset On"]; in == 0 || armed < in || on < armed {
		b.t.Errorf("inserted at %d, armed at %d, On at %d of %+v", in, armed, on, history)
	}
}

// TestVirtualMedia is a first boot by virtual media, with a BMC that reads parts of the
// image as its host wants them and one that reads it whole before.
func TestVirtualMedia(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"in parts": false, "whole": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := twoDrives()
			p.Media.Keeps = keeps
			b := newBench(t, 1, p)
			a, _ := b.start(nil)
			b.byMedia(0)
			b.send(a)
			r := b.until("the disk boot after the installation", 0, diskBoot)
			var prov resource.Provisioned
			if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), wire.FactProvisioned, r.Provisioned, &prov); err != nil {
				t.Fatal(err)
			}
			if prov.ImageDigest != b.image.Digest || prov.Evidence != protocol.EvidenceInstalled {
				t.Errorf("provisioned says %+v", prov)
			}
			if iso, _ := b.image.Artefact(resource.ArtefactISO); b.servers[0].Disk.Digest() != iso.Digest {
				t.Errorf("installed %s, the image's ISO is %s", b.servers[0].Disk.Digest(), iso.Digest)
			}
			b.booted(0, 1, 1)
			if _, _, refused, inst := b.servers[0].Boots.Counts(); inst != 1 || refused != 0 {
				t.Errorf("%d installations, %d refused", inst, refused)
			}
			// The config image said where to report; no lease was asked for.
			if base, leased := b.servers[0].Boots.Installing(); leased.IsValid() || !strings.HasPrefix(base, "http://"+b.http.String()+"/b/") {
				t.Errorf("the installer was told %q, leased %v", base, leased)
			}
			b.checkOrder()
			b.eventually("empty drives", func() bool { return len(b.drives()) == 0 })
			url := b.servers[0].Boots.LastURL()
			if !strings.HasSuffix(url, "/boot.iso") {
				t.Errorf("the BMC was given %q", url)
			}
			if base, _ := b.servers[0].Boots.Installing(); strings.HasPrefix(url, base) {
				t.Error("the image has the token of the report")
			}
			status, _, _ := b.get("GET", url, b.http.Addr())
			if status != 404 {
				t.Errorf("after the end the image is answered %d", status)
			}
		})
	}
}

// A BMC with one drive boots, and the booted system learns by DHCP where to report.
func TestVirtualMediaOneDrive(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) { c.Install = time.Second })
	a, _ := b.start(nil)
	b.byMedia(0)
	b.send(a)
	b.until("it is said", 0, has(resource.CondNoConfigDrive))
	r := b.until("the disk boot", 0, diskBoot)
	if _, leased := b.servers[0].Boots.Installing(); !leased.IsValid() || len(r.Provisioned) == 0 || has(resource.CondNoConfigDrive)(r) {
		t.Errorf("leased %v, %+v", leased, r)
	}
	b.eventually("empty drives", func() bool { return len(b.drives()) == 0 })
}

// What somebody else has inserted stays, and the boot goes on when it is ejected.
func TestVirtualMediaOccupied(t *testing.T) {
	t.Parallel()
	const theirs = "http://198.51.100.1/rescue.iso"
	b := newBench(t, 1, twoDrives())
	h := b.servers[0].BMC.Hosts()[0]
	h.Insert(h.Slots()[1], theirs)
	a, _ := b.start(nil)
	b.byMedia(0)
	b.send(a)
	r := b.until("it is said", 0, has(resource.CondMediaOccupied))
	if d := b.drives(); !slices.Equal(d, []string{theirs}) || r.Observation.Power != protocol.PowerOff || b.servers[0].BMC.Override().Armed() {
		t.Errorf("drives %q, %+v", d, r.Observation)
	}
	h.Insert(h.Slots()[1], "")
	b.until("the disk boot", 0, diskBoot)
}

// The hub and the registry are gone once the boot has begun (P1, P7).
func TestVirtualMediaOffline(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, twoDrives())
	a, _ := b.start(nil)
	b.byMedia(0)
	b.send(a)
	b.until("begun", 0, func(r resource.ServerReport) bool { return r.Attempt != nil })
	b.link.mute(true)
	b.reg.down.Store(true)
	b.until("the disk boot", 0, diskBoot)
	b.eventually("empty drives", func() bool { return len(b.drives()) == 0 })
}

// User data is in the config image only where what the BMC fetches is private.
func TestVirtualMediaUserData(t *testing.T) {
	t.Parallel()
	for name, trusted := range map[string]bool{"trusted": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, twoDrives())
			b.trusted = trusted
			a, _ := b.start(nil)
			b.byMedia(0)
			b.intents[0].Boot.Ignition = b.sealData(0, nil)
			if !trusted {
				b.intents[0].Boot.Secrets = resource.SecretsSegment
			}
			b.send(a)
			b.until("the disk boot", 0, diskBoot)
			if _, data := b.servers[0].Boots.UserData(); (string(data) == string(content())) != trusted {
				t.Errorf("the config image had %q", data)
			}
		})
	}
}

// An image that has no ISO is not tried, and a server whose BMC has no drive is left Off.
func TestVirtualMediaUnsupported(t *testing.T) {
	t.Parallel()
	cisco, ok := bmcsim.Preset("CiscoNoMode")
	if !ok {
		t.Fatal("no such preset")
	}
	b := newBench(t, 1, cisco)
	a, _ := b.start(nil)
	b.byMedia(0)
	b.send(a)
	r := b.until("it failed", 0, has(resource.CondFirstBootFailed))
	if r.Attempt.Code != resource.AttemptMediaRefused || slices.Contains(b.resets(0), "On") {
		t.Errorf("%+v, resets %v", r.Attempt, b.resets(0))
	}
	b.push([]byte("MZ no ISO"))
	b.claim(0)
	in := &b.intents[0]
	in.Owner.UID, in.Boot.Owner.UID = "claim-2", "claim-2"
	in.Boot.BootPolicy.FirstBoot = resource.FirstBootVirtualMedia
	b.grant(0)
	b.send(a)
	b.until("nothing fits", 0, has(resource.CondNoBootChain))
}

// A maintenance by virtual media, and back to the claim.
func TestMaintenanceByVirtualMedia(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, twoDrives())
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the claim's disk boot", 0, diskBoot)
	claim := b.intents[0]

	b.byMedia(0)
	in := &b.intents[0]
	boot := *in.Boot
	in.Owner.Name, in.Owner.UID, in.Owner.Kind, in.PowerCycle = "m1", "m-uid", resource.PurposeMaintenance, true
	boot.Owner.Name, boot.Owner.UID, boot.Owner.Kind = in.Owner.Name, in.Owner.UID, in.Owner.Kind
	in.Boot = &boot
	b.grant(0)
	b.send(a)
	b.until("the report of the maintenance image", 0, func(r resource.ServerReport) bool {
		return r.OwnerUID == "m-uid" && r.Attempt != nil && r.Attempt.State == resource.AttemptSucceeded && r.Attempt.Intended == protocol.TargetCd &&
			r.Observation.Power == protocol.PowerOff
	})
	b.eventually("empty drives", func() bool { return len(b.drives()) == 0 })
	in.Power, in.Releasing, in.Boot = resource.WantOff, true, nil
	b.send(a)
	b.until("the server is given back", 0, func(r resource.ServerReport) bool { return r.OwnerUID == "m-uid" && r.Released })
	b.intents[0] = claim
	b.send(a)
	b.until("the claim's disk boot again", 0, func(r resource.ServerReport) bool { return r.OwnerUID == "claim-uid" && diskBoot(r) })
}
