package rack

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/netboot"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// neighbour is a machine of the boot segment that has a server's MAC address, and a UUID.
func (b *bench) neighbour(i int, uuid byte) *firmware.Client {
	b.t.Helper()
	mac, err := net.ParseMAC(b.servers[i].MAC)
	if err != nil {
		b.t.Fatal(err)
	}
	c := &firmware.Client{MAC: mac, Server: net.UDPAddrFromAddrPort(b.dhcp), Speed: 20, HTTPTimeout: 10 * time.Second}
	if uuid != 0 {
		c.UUID = [16]byte{0: uuid, 15: uuid}
	}
	return c
}

// storms asks for the boot of server i again and again until the returned function is called,
// which returns what it was given.
func (b *bench) storms(i int, uuid byte) (stop func() (loaded []string)) {
	ctx, cancel := context.WithCancel(b.t.Context())
	var got []string
	var done sync.WaitGroup
	done.Go(func() {
		c := b.neighbour(i, uuid)
		for ctx.Err() == nil {
			if r, err := c.HTTPBoot(ctx); err == nil {
				got = append(got, r.URL)
			}
		}
	})
	return func() []string {
		cancel()
		done.Wait()
		return got
	}
}

// provisioned opens the record of a report.
func (b *bench) provisioned(r resource.ServerReport) (p resource.Provisioned) {
	b.t.Helper()
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), wire.FactProvisioned, r.Provisioned, &p); err != nil {
		b.t.Fatal(err)
	}
	return p
}

// posts reports below a base URL, from an address, and returns the status.
func (b *bench) posts(base, state string, from netip.Addr) int {
	b.t.Helper()
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}).DialContext}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, base+netboot.ReportPath+"/"+state, bytes.NewReader(nil))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestNeighbourAnswersFirst: a neighbour with the server's MAC address and another UUID than
// its BMC shows asks for the boot before the claim comes, and all the time. It is given
// nothing, it is told of, and the server is installed.
func TestNeighbourAnswersFirst(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) { c.Install = 2 * time.Second })
	b.intents[0].UUID = "4c4c4544-0051-3010-8052-b4c04f333333"
	a, _ := b.start(nil)
	b.send(a)
	stop := b.storms(0, 7)
	b.claim(0)
	b.send(a)
	r := b.until("two claimants", 0, has(resource.CondTwoClaimants))
	for _, c := range r.Conditions {
		if c.Code == resource.CondTwoClaimants && !strings.Contains(c.Message, "07000000-0000-0000-0000-000000000007") {
			t.Errorf("the condition does not describe the neighbour: %s", c.Message)
		}
	}
	r = b.until("the disk boot", 0, diskBoot)
	if got := stop(); len(got) > 0 {
		t.Errorf("the neighbour was given %d boots", len(got))
	}
	if p := b.provisioned(r); p.Class != resource.EvidenceReported {
		t.Errorf("the record says %+v", p)
	}
	b.booted(0, 1, 1)
}

// TestNeighbourReports: a neighbour that has read the boot's token reports before the files
// were fetched, and from its own address while the installer runs: neither counts.
func TestNeighbourReports(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 2)
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.send(a)
	b.eventually("the user data in the installer", func() bool { _, d := b.servers[0].Boots.UserData(); return len(d) > 0 })
	base, _ := b.servers[0].Boots.Installing()
	neighbour := netip.MustParseAddr("127.77.0.98")
	for _, state := range []string{"installed", "booted", "failed"} {
		if status := b.posts(base, state, neighbour); status != http.StatusNotFound {
			t.Errorf("%s from another address: %d", state, status)
		}
	}
	b.until("its files were fetched", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	if r, _ := b.report(0); len(r.Provisioned) > 0 {
		t.Errorf("after the neighbour's reports: %+v", r.Attempt)
	}
	finish()
	r := b.until("the disk boot", 0, diskBoot)
	if p := b.provisioned(r); p.Class != resource.EvidenceReported {
		t.Errorf("the record says %+v", p)
	}
	if n := counter(t, b.scraped, "rackboot_agent_image_reports_total", "stranger"); n != 3 {
		t.Errorf("%v reports of strangers were counted", n)
	}
}

// TestObserved: the boot's private token is on a config image beside the network boot. Who
// has the other token, the address and a plausible time reports in vain, and reads no user
// data; the server's own report makes the record, which is observed.
func TestObserved(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) { c.UserData, c.Finish = true, gate })
	b.trusted = true
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.RequireEvidence = b.sealData(0, nil), resource.EvidenceObserved
	b.send(a)
	b.eventually("the user data in the installer", func() bool { _, d := b.servers[0].Boots.UserData(); return len(d) > 0 })
	if _, data := b.servers[0].Boots.UserData(); string(data) != string(content()) {
		t.Errorf("the installer got %q", data)
	}
	url := b.servers[0].Boots.LastURL()
	base := url[:strings.LastIndexByte(url, '/')+1] // what a neighbour reads on the segment
	private, _ := b.servers[0].Boots.Installing()
	if private == base {
		t.Fatal("the token of the segment is the private one")
	}
	lease, err := b.neighbour(0, 0).Plain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status, _, body := b.get(http.MethodGet, base+protocol.FileIgnition, lease.Address); status != http.StatusNotFound || strings.Contains(body, dataCanary) {
		t.Errorf("the user data by the token of the segment: %d", status)
	}
	if status, _, body := b.get(http.MethodGet, private+protocol.FileIgnition, lease.Address); status != http.StatusNotFound || strings.Contains(body, dataCanary) {
		t.Errorf("the user data by the private token in clear: %d", status)
	}
	for _, state := range []string{"installed", "failed"} {
		b.posts(base, state, lease.Address)
	}
	r := b.until("it is not enough", 0, has(resource.CondEvidenceWeak))
	if len(r.Provisioned) > 0 || r.Attempt.State != resource.AttemptFetched {
		t.Errorf("after a report over the segment: %+v", r.Attempt)
	}
	close(gate)
	r = b.until("the disk boot", 0, diskBoot)
	if p := b.provisioned(r); p.Class != resource.EvidenceObserved {
		t.Errorf("the record says %+v", p)
	}
	if has(resource.CondEvidenceWeak)(r) {
		t.Error("it is still said that evidence is not enough")
	}
	b.eventually("empty drives", func() bool { return len(b.drives()) == 0 })
}

// TestSecretsWait: a server whose user data has no way through its BMC is not powered on
// until somebody chose the segment.
func TestSecretsWait(t *testing.T) {
	t.Parallel()
	b := benchWithData(t, 1, 100*time.Millisecond)
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Ignition = b.sealData(0, nil)
	b.send(a)
	r := b.until("the two choices", 0, has(resource.CondSecretsWait))
	if r.Attempt != nil || b.servers[0].BMC.PowerState() != protocol.PowerOff {
		t.Errorf("the server was touched: %+v", r.Attempt)
	}
	b.intents[0].Boot.Secrets = resource.SecretsSegment
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	if _, data := b.servers[0].Boots.UserData(); string(data) != string(content()) {
		t.Errorf("the installer got %q", data)
	}
}

// TestSecretsByURL: the BMC gives firmware an https URL with the private token. Its system
// reads user data and reports by that; on the segment nobody is told a token.
func TestSecretsByURL(t *testing.T) {
	t.Parallel()
	b, gate := privateURLBench(t)
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.RequireEvidence = b.sealData(0, nil), resource.EvidenceObserved
	b.send(a)
	b.eventually("the user data in the installer", func() bool { _, d := b.servers[0].Boots.UserData(); return len(d) > 0 })
	if _, data := b.servers[0].Boots.UserData(); string(data) != string(content()) {
		t.Errorf("the installer got %q", data)
	}
	if r, err := b.neighbour(0, 0).HTTPBoot(t.Context()); err == nil {
		t.Errorf("who asks by DHCP is given %s", r.URL)
	} else if !errors.Is(err, firmware.ErrNoOffer) && protocol.CodeOf(err) == "" {
		t.Error(err)
	}
	private, _ := b.servers[0].Boots.Installing()
	open := strings.Replace(private, "https://"+b.https.String(), "http://"+b.http.String(), 1)
	if status, _, body := b.get(http.MethodGet, open+protocol.FileIgnition, b.http.Addr()); status != http.StatusNotFound || strings.Contains(body, dataCanary) {
		t.Errorf("the user data in clear: %d", status)
	}
	close(gate)
	r := b.until("the disk boot", 0, diskBoot)
	if p := b.provisioned(r); p.Class != resource.EvidenceObserved {
		t.Errorf("the record says %+v", p)
	}
}

// privateURLBench is a server whose firmware trusts the agent's https, and whose BMC takes a
// URL. Its system reads user data, and runs until the channel is closed.
func privateURLBench(t *testing.T) (*bench, chan struct{}) {
	t.Helper()
	roots, gate := x509.NewCertPool(), make(chan struct{})
	b := newBenchOf(t, t.TempDir(), 1, presetOf(t, "SupermicroURI"), func(c *sim.ServerConfig) {
		c.Roots, c.UserData, c.Finish = roots, true, gate
	})
	free, err := sim.FreeAddresses(b.ip, 1)
	if err != nil {
		t.Fatal(err)
	}
	b.https = free[0]
	certs, own := certificateFor(t, net.IP(b.https.Addr().AsSlice()))
	b.certs = certs
	*roots = *own
	b.change = func(s *resource.SegmentIntent) { s.BaseURL = "https://" + b.https.String() }
	return b, gate
}

// TestNeighbourIsTheServer: where somebody chose the segment, a neighbour that is quicker than
// the server, and sends no UUID as some firmware does, is given its boot file and its user
// data, and may say that it is installed. The record says that it was reported.
func TestNeighbourIsTheServer(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) { c.UserData, c.Post = true, 2*time.Minute })
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.send(a)
	b.eventually("the power-on", func() bool { return b.servers[0].BMC.PowerState() == protocol.PowerOn })
	n := b.neighbour(0, 0)
	var loaded firmware.Result
	b.eventually("the neighbour's boot", func() (ok bool) {
		var err error
		loaded, err = n.HTTPBoot(t.Context())
		return err == nil
	})
	n.From = loaded.Address
	base := loaded.URL[:strings.LastIndexByte(loaded.URL, '/')+1]
	if _, data, err := n.UserData(t.Context(), base); err != nil || string(data) != string(content()) {
		t.Errorf("user data %q, %v", data, err)
	}
	b.eventually("the report is taken", func() bool {
		return n.Report(t.Context(), base, protocol.ProbeReport{State: protocol.ProbeInstalled}) == nil
	})
	r := b.until("the record", 0, func(r resource.ServerReport) bool { return len(r.Provisioned) > 0 })
	if p := b.provisioned(r); p.Class != resource.EvidenceReported {
		t.Errorf("the record says %+v", p)
	}
}

// TestBMCIsItsServer: whoever owns a server's BMC reads its private token, and may report by it
// before the image has run it; not for another server, and not before the files were sent.
func TestBMCIsItsServer(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	b := newBenchOf(t, t.TempDir(), 2, bmcsim.Plain(), func(c *sim.ServerConfig) { c.UserData, c.Finish = true, gate })
	b.trusted = true
	a, _ := b.start(nil)
	for i := range 2 {
		b.claim(i)
		b.intents[i].Boot.Ignition, b.intents[i].Boot.RequireEvidence = b.sealData(i, nil), resource.EvidenceObserved
	}
	b.send(a)
	for i := range 2 {
		b.eventually("the user data in the installer", func() bool { _, d := b.servers[i].Boots.UserData(); return len(d) > 0 })
	}
	private, _ := b.servers[0].Boots.Installing()
	if status := b.posts(private, "installed", b.http.Addr()); status != http.StatusNoContent {
		t.Errorf("its own report: %d", status)
	}
	r := b.until("its record", 0, func(r resource.ServerReport) bool { return len(r.Provisioned) > 0 })
	if p := b.provisioned(r); p.Class != resource.EvidenceObserved || p.Server != b.servers[0].Name || p.Secrets != resource.SecretsBMC {
		t.Errorf("the record says %+v", p)
	}
	if a, in := r.Attempt, b.intents[0]; a == nil || a.OwnerUID != in.Owner.UID || a.Generation != in.Boot.Generation || a.Secrets != resource.SecretsBMC {
		t.Errorf("the attempt says %+v", a)
	}
	if r, _ := b.report(1); len(r.Provisioned) > 0 {
		t.Error("the other server is provisioned too")
	}
	close(gate)
	b.until("the other's disk boot", 1, diskBoot)
}

// TestLyingImage: an image says that it is installed and has written nothing. The record says
// which bytes were sent and who reported, not what they did; what the server boots then is
// seen.
func TestLyingImage(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) {
		c.Live = func() protocol.ProbeReport { return protocol.ProbeReport{State: protocol.ProbeBooted} }
	})
	b.trusted = true
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.RequireEvidence = resource.EvidenceObserved
	b.send(a)
	b.eventually("the image runs", func() bool { base, _ := b.servers[0].Boots.Installing(); return base != "" })
	private, _ := b.servers[0].Boots.Installing()
	b.eventually("it lies", func() bool { return b.posts(private, "installed", b.http.Addr()) == http.StatusNoContent })
	r := b.until("its record", 0, func(r resource.ServerReport) bool { return len(r.Provisioned) > 0 })
	if p := b.provisioned(r); p.Class != resource.EvidenceObserved || p.ImageDigest != b.image.Digest {
		t.Errorf("the record says %+v", p)
	}
	if b.servers[0].Disk.Digest() != "" {
		t.Fatalf("something was installed: %s", b.servers[0].Disk.Digest())
	}
	b.until("it still runs what it was not to", 0, has(resource.CondUnexpectedPower))
}

// TestEchoOfTheHub: a hub that makes a record by itself, which no agent of the rack signed,
// has nobody boot a disk by it: the server is installed by its grant.
func TestEchoOfTheHub(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	in := &b.intents[0]
	made, err := wire.Seal(b.hub, wire.FactProvisioned, resource.Provisioned{
		OwnerUID: in.Owner.UID, Generation: in.Boot.Generation, Server: in.Server, ServerUID: in.UID, ImageDigest: b.image.Digest,
		Evidence: protocol.EvidenceInstalled, At: time.Now(), Attempt: "made", Class: resource.EvidenceObserved,
	})
	if err != nil {
		t.Fatal(err)
	}
	in.Boot.Provisioned = made
	b.send(a)
	r := b.until("the disk boot after the installation", 0, diskBoot)
	if p := b.provisioned(r); p.Class != resource.EvidenceReported || p.Attempt == "made" {
		t.Errorf("the record says %+v", p)
	}
	b.booted(0, 1, 1)
}
