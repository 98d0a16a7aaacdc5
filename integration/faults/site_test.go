package faults

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

// The servers of the first rack. Each is for one kind of wish.
const (
	installed = "n1" // has a claim whose system is on its disk: it runs, and is rebooted
	claimed   = "n2" // claims come and go: each boots it from the network
	unclaimed = "n3" // only holds
)

// site is one hub and its racks, in one bubble. The test's goroutine drives it.
type site struct {
	t    *testing.T
	ctx  context.Context
	log  *slog.Logger
	rng  *rand.Rand // of the test's goroutine
	net  network
	book *book
	// beats are the segments on which agents of one rack hear each other.
	beats beats
	ids   atomic.Uint64

	hubSigner *wire.Signer
	image     registry
	blobs     *blob.Store

	hub      *hub // whom people talk to
	agents   []*agent
	machines map[string]*machine
	keys     int    // of holds that were asked for
	spared   string // a server that people leave alone
	trace    []string
}

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// newSite applies the racks, lets their agents join and brings all of it to where
// nothing is to be done: one claim whose system is installed, and no hold.
func newSite(t *testing.T, seed uint64, racks int, makeNet func(*site) network) *site {
	t.Helper()
	s := &site{
		t: t, ctx: t.Context(), log: quiet(), rng: rand.New(rand.NewPCG(seed, 0)), hubSigner: wire.NewSigner(key("hub")),
		machines: map[string]*machine{},
	}
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		s.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s.book = newBook(s)
	s.net = makeNet(s)
	s.stockImage()
	s.hub = s.newHub("hub", storetest.NewMemory())
	s.hub.start()
	for i := range racks {
		s.addRack(i + 1)
	}
	s.install(installed)
	for _, a := range s.agents {
		a.start()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d; what happened, the last steps, and what was broken:\n%s", seed, strings.Join(append(s.told(), sortedKeys(s.book.problems)...), "\n"))
		}
	})
	return s
}

// stop kills everything, so that the bubble can end.
func (s *site) stop(more ...*hub) {
	for _, h := range append(more, s.hub) {
		if h.process != nil {
			h.kill()
		}
	}
	for _, a := range s.agents {
		if a.process != nil {
			a.kill()
		}
	}
	if n, ok := s.net.(interface{ stop() }); ok {
		n.stop()
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

// addRack applies a rack with its servers and lets an agent join; it does not run
// yet.
func (s *site) addRack(i int) {
	s.t.Helper()
	rack := storetest.Rack(fmt.Sprintf("r%d", i))
	rack.Spec.SoftTimeout = protocol.Duration(30 * time.Second)
	rack.Spec.PollInterval = protocol.Duration(30 * time.Second)
	name := rack.Metadata.Name
	objs := []resource.Object{rack, storetest.Segment("boot-"+name, name), storetest.BMC("b-"+name, name)}
	servers := []string{installed, claimed, unclaimed}
	if i > 1 {
		servers = []string{fmt.Sprintf("m%d", i)}
	}
	for j, sv := range servers {
		o := storetest.Server(sv, "b-"+name, "boot-"+name, fmt.Sprintf("52:54:00:00:%02x:%02x", i, j+1))
		o.Spec.SystemURI = "/redfish/v1/Systems/" + sv
		objs = append(objs, o)
		s.machines[sv] = newMachine(sv, s.book, protocol.PowerOff)
	}
	s.apply(objs...)
	token, err := s.hub.control.Members.NewJoinToken(s.ctx, name, false)
	if err != nil {
		s.t.Fatal(err)
	}
	a := &agent{site: s, rack: name, signer: wire.NewSigner(key("agent " + name))}
	answer, err := s.hub.control.Members.Join(s.ctx, api.JoinRequest{Token: token.Token, Key: a.signer.Public()})
	if err != nil {
		s.t.Fatal(err)
	}
	a.name = answer.Agent
	a.disk.Store(statetest.NewMemory())
	s.agents = append(s.agents, a)
}

func (s *site) apply(objs ...resource.Object) {
	s.t.Helper()
	if _, err := s.hub.store.Sets.Apply(s.ctx, objs, store.ApplyOptions{By: "test"}); err != nil {
		s.t.Fatal(err)
	}
}

// install claims a server whose system an earlier agent of the rack has installed:
// the record is in the hub's store, and the agent believes the echo.
func (s *site) install(server string) {
	s.t.Helper()
	claim := storetest.Claim("c-"+server, server)
	s.apply(claim)
	s.until("the server of "+claim.Metadata.Name, time.Minute, func() bool {
		cl, err := store.Get[*resource.Claim](s.hub.store.Objects, claim.Metadata.Name)
		if err == nil {
			claim = cl
		}
		return err == nil && cl.Status.Server == server
	})
	img := s.image.image
	img.Reference = claim.Spec.Image
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{
		Server:   server,
		Owner:    resource.Owner{Name: claim.Metadata.Name, UID: claim.Metadata.UID},
		BootSpec: resource.BootSpec{Image: img, BootPolicy: claim.Spec.BootPolicy},
	}}
	cfg.Metadata.Name, cfg.Metadata.Generation = claim.Metadata.Name, 1
	p := &resource.Provisioned{
		OwnerUID: cfg.Spec.Owner.UID, Generation: cfg.Metadata.Generation, Server: server,
		ImageDigest: cfg.Spec.Image.Digest, Evidence: protocol.EvidenceInstalled, At: time.Now(),
	}
	signed, err := wire.Seal(s.agents[0].signer, wire.FactProvisioned, p)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.Status.Provisioned, cfg.Status.SignedProvisioned = p, signed
	if err := s.hub.store.Objects.Put(s.ctx, cfg); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) newID() string { return fmt.Sprintf("id%08d", s.ids.Add(1)) }

// wait lets simulated time pass and everything come to rest.
func (s *site) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// until looks every second of simulated time.
func (s *site) until(what string, limit time.Duration, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(limit); ; s.wait(time.Second) {
		synctest.Wait()
		if ok() {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s did not come within %s", what, limit)
		}
	}
}

func (s *site) note(format string, args ...any) {
	s.trace = append(s.trace, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// told is the trace: of what happens all the time, the last 60 only.
func (s *site) told() []string {
	last := len(s.trace) - 60
	return slices.DeleteFunc(slices.Clone(s.trace), func(line string) bool {
		last--
		return last >= 0 && (strings.Contains(line, " deliver ") || strings.Contains(line, " wait ") || strings.Contains(line, " lost: ") || strings.Contains(line, " crash points ") || strings.Contains(line, " heal"))
	})
}

// random is a time up to d.
func (s *site) random(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d))) }

func (s *site) chance(p float64) bool { return s.rng.Float64() < p }
