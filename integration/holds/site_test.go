package holds

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/integration/memnet"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

// What the rack and its server are called.
const (
	rackName   = "r1"
	serverName = "n1"
	claimName  = "c1"
)

// pollInterval is the rack's. BMCs send events, but where a row says that they do not.
const pollInterval = 30 * time.Second

// How long the simulated hardware takes.
const (
	post       = 10 * time.Second // from power to the pick of the boot device
	osShutdown = 10 * time.Second
	onDelay    = 2 * time.Second
	offDelay   = time.Second
)

// site is a hub, a rack's agent, and one server with its BMC, in one bubble.
type site struct {
	t         *testing.T
	ctx       context.Context
	log       *slog.Logger
	row       row
	net       *network
	hubSigner *wire.Signer
	image     registry
	blobs     *blob.Store
	ids       atomic.Uint64
	clock     clock

	hub     *hub
	agent   *agent
	bmc     *sim.BMC
	machine *hardware.Simulated
	bmcDoor atomic.Pointer[memnet.Listener]

	base base
	// holds and requests are the ids by the names that the row gives them.
	holds, requests map[string]string
	mark            time.Time
}

// base is where the row begins: what came before is not counted.
type base struct {
	orders, history int
	events, epoch   uint64
}

// clock is the agent's, which may be stepped. No two looks at it are at the same
// moment, as with a real one: what was read after a hold came is told by that.
type clock struct{ off atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.off.Add(1))) }

func (c *clock) step(d time.Duration) { c.off.Add(int64(d)) }

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// newSite brings a site to what the row has given.
func newSite(t *testing.T, r row) *site {
	t.Helper()
	s := &site{
		t: t, ctx: t.Context(), row: r, log: slog.New(slog.DiscardHandler), net: newNetwork(), hubSigner: wire.NewSigner(key("hub")),
		holds: map[string]string{}, requests: map[string]string{},
	}
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		s.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	t.Cleanup(s.stop)
	s.stockImage()
	s.startBMC()
	s.startHub()
	s.apply(s.resources()...)
	s.agent = &agent{site: s, signer: wire.NewSigner(key("agent")), disk: statetest.NewMemory()}
	token, err := s.hub.by("").Agents.NewToken(s.ctx, rackName, protoapi.TokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.hub.control.Members.Join(s.ctx, protoapi.JoinRequest{Token: token.Token, Key: s.agent.signer.Public()})
	if err != nil {
		t.Fatal(err)
	}
	s.agent.name = answer.Agent
	s.bringUp()
	return s
}

// stop ends everything, so that the bubble can end.
func (s *site) stop() {
	if s.agent != nil {
		s.agent.stop()
	}
	if s.hub != nil {
		s.hub.cancel()
		s.hub.wg.Wait()
		s.net.leave("hub")
	}
	if s.bmc != nil {
		if err := s.bmc.Close(); err != nil {
			s.t.Error(err)
		}
	}
	if err := s.blobs.Close(); err != nil {
		s.t.Error(err)
	}
}

func (s *site) stockImage() {
	file := []byte("MZ a unified kernel image")
	sum := sha256.Sum256(file)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	s.image.image = resource.Image{Digest: digest, Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: digest, Size: int64(len(file))}}}
	var err error
	if s.blobs, err = blob.Open(blob.Config{Dir: s.t.TempDir()}); err != nil {
		s.t.Fatal(err)
	}
	if err := s.blobs.Write(s.ctx, digest, int64(len(file)), bytes.NewReader(file)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) startBMC() {
	p, err := s.row.Given.BMC.personality()
	if err != nil {
		s.t.Fatal(err)
	}
	s.machine = hardware.NewSimulated(hardware.SimulatedConfig{Post: post, Shutdown: osShutdown, Order: []protocol.BootTarget{protocol.TargetHdd}})
	if !s.row.Given.FirstBoot {
		s.machine.Disk().Install("sha256:installed")
	}
	s.bmc, err = sim.New(sim.Config{
		Machine: s.machine, Personality: p, Username: username, Password: password, Logger: s.log,
		Listen: func() (net.Listener, error) {
			l := memnet.Listen("bmc.example:443")
			s.bmcDoor.Store(l)
			return l, nil
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) resources() []resource.Object {
	rack := storetest.Rack(rackName)
	rack.Spec.PollInterval = protocol.Duration(pollInterval)
	if d := s.row.Given.SoftTimeout; d != 0 {
		rack.Spec.SoftTimeout = protocol.Duration(d)
	}
	if d := s.row.Given.SettleWindow; d != 0 {
		rack.Spec.SettleWindow = protocol.Duration(d)
	}
	b := storetest.BMC("b1", rackName)
	b.Spec.Address, b.Spec.CredentialsRef = s.bmc.Address(), "local:bmc"
	b.Spec.TLS.Fingerprint = s.bmc.Fingerprint()
	server := storetest.Server(serverName, "b1", "boot", "52:54:00:00:00:01")
	server.Spec.SystemURI, server.Spec.DisablePowerOff = s.bmc.Hosts()[0].URI(), s.row.Given.DisablePowerOff
	server.Spec.KeepPowerRestorePolicy = s.row.Given.KeepRestore
	return []resource.Object{rack, storetest.Segment("boot", rackName), b, server}
}

func (s *site) apply(objs ...resource.Object) {
	s.t.Helper()
	if _, err := s.hub.by("").Objects.Apply(s.ctx, objs, false); err != nil {
		s.t.Fatal(err)
	}
}

// claim makes the server's claim want a power.
func (s *site) claim(want resource.Power) {
	s.t.Helper()
	c := storetest.Claim(claimName, serverName)
	c.Spec.Power = want
	s.apply(c)
}

// install makes the claim's configuration one whose system an earlier agent of the rack
// has installed: the record is in the hub's store, and the agent believes the echo.
func (s *site) install() {
	s.t.Helper()
	var claim *resource.Claim
	s.until("the claim's server", time.Minute, func() bool {
		var err error
		claim, err = store.Get[*resource.Claim](s.hub.store.Objects, claimName)
		return err == nil && claim.Status.Server == serverName
	})
	img := s.image.image
	img.Reference = claim.Spec.Image
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{
		Server:   serverName,
		Owner:    resource.Owner{Name: claimName, UID: claim.Metadata.UID},
		BootSpec: resource.BootSpec{Image: img, BootPolicy: claim.Spec.BootPolicy},
	}}
	cfg.Metadata.Name, cfg.Metadata.Generation = claimName, 1
	p := &resource.Provisioned{
		OwnerUID: cfg.Spec.Owner.UID, Generation: cfg.Metadata.Generation, Server: serverName,
		ImageDigest: cfg.Spec.Image.Digest, Evidence: protocol.EvidenceInstalled, At: time.Now(),
	}
	signed, err := wire.Seal(s.agent.signer, wire.FactProvisioned, p)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.Status.Provisioned, cfg.Status.SignedProvisioned = p, signed
	if err := s.hub.store.Objects.Put(s.ctx, cfg); err != nil {
		s.t.Fatal(err)
	}
}

// bringUp starts the agent and waits until the server is where the row begins.
func (s *site) bringUp() {
	s.t.Helper()
	g := s.row.Given
	if g.Claim != "" {
		s.claim(g.Claim)
		if !g.FirstBoot {
			s.install()
		}
	}
	ready := func() bool { return s.report() != nil && s.report().Observation.Power == g.Power }
	switch {
	case g.FirstBoot:
		s.agent.start()
		s.until("the first boot", 10*time.Minute, func() bool {
			r := s.report()
			return r != nil && r.Attempt != nil && r.Attempt.Since.Add(post/2).Before(time.Now()) && s.bmc.PowerState() == protocol.PowerOn
		})
	case g.Power == protocol.PowerOn && g.Claim == resource.WantOn:
		s.agent.start()
		s.until("the running server", 10*time.Minute, func() bool {
			if s.machine.State() != hardware.Running {
				return false
			}
			r := s.report()
			return r.Observation.Power == g.Power && r.Attempt != nil && r.Attempt.State == resource.AttemptSucceeded
		})
	default:
		if g.Power == protocol.PowerOn {
			s.bmc.ExternalOn()
			s.until("the running server", 10*time.Minute, func() bool { return s.machine.State() == hardware.Running })
		}
		if g.Power == protocol.PowerOn && g.Claim == resource.WantOff || g.Power == protocol.PowerOff && g.Claim == resource.WantOn {
			s.begin() // what the agent does about it is the row's
			s.agent.start()
			return
		}
		s.agent.start()
		s.until("the first read", 10*time.Minute, ready)
	}
	s.wait(10 * time.Second) // the board is read, and the hub's time known
	s.begin()
}

// begin is where counting begins.
func (s *site) begin() {
	s.base = base{orders: len(s.agent.orders.since(0)), history: len(s.bmc.History())}
	for _, e := range s.hub.control.Events.After(0, 1<<20) {
		s.base.events = e.Index
	}
	if r := s.report(); r != nil {
		s.base.epoch = r.PowerEpoch
	}
	s.mark = time.Now()
}

func (s *site) newID() string { return fmt.Sprintf("01holdvectors%013d", s.ids.Add(1)) }

// wait lets simulated time pass and everything come to rest.
func (s *site) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// until looks every second of simulated time.
func (s *site) until(what string, limit time.Duration, ok func() bool) {
	s.t.Helper()
	if !s.within(limit, ok) {
		s.t.Fatalf("%s did not come within %s\n%s", what, limit, s.story())
	}
}

func (s *site) within(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ; s.wait(time.Second) {
		synctest.Wait()
		if ok() {
			return true
		}
		if !time.Now().Before(end) {
			return false
		}
	}
}

// server is the server as the hub prints it.
func (s *site) server() *resource.Server {
	s.t.Helper()
	sv, err := protoapi.Get[*resource.Server](s.ctx, s.hub.by(""), serverName)
	if err != nil {
		s.t.Fatal(err)
	}
	return sv
}

// report is the newest report of the server that the hub has.
func (s *site) report() *resource.ServerReport { return s.server().Status.Report }
