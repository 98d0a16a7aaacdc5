package rack

import (
	"crypto/ed25519"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"rackboot/agent/installed"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// TestUpgradeWaits: an agent that is ordered to run another release in the middle of a boot waits until that has ended well; then
// the trial is on disk, and the agent ends.
func TestUpgradeWaits(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) { c.Install = 3 * time.Second })
	publisher := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	program := []byte("another release")
	signed, err := agentpackage.Sign(agentpackage.Manifest{
		Version: "2.0.0", Protocol: protocol.Version, MadeAt: time.Now(),
		Binaries: []agentpackage.Binary{{Architecture: runtime.GOARCH, SHA256: wire.Digest(program), Size: int64(len(program))}},
	}, publisher)
	if err != nil {
		t.Fatal(err)
	}
	b.uploaded = uploads{wire.Digest(program): program}
	dir := installed.Dir(b.dir)
	b.upgrades.Keys, b.upgrades.Dir = []ed25519.PublicKey{publisher.Public().(ed25519.PublicKey)}, dir
	b.upgrades.Launched = &installed.Launched{Dir: dir, Place: installed.Packaged, Digest: wire.Digest([]byte("this one"))}
	a, stop := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the boot", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	b.upgrade = &message.UpgradeIntent{Order: "01order", Manifest: signed, NotAfter: time.Now().Add(time.Hour)}
	b.send(a)
	b.eventually("the upgrade waits for the boot", func() bool {
		m, _ := b.newest()
		return m.Upgrade != nil && m.Upgrade.Order == "01order" && m.Upgrade.Stage == message.UpgradeWaiting && m.Upgrade.Code == message.UpgradeWaitsAttempt
	})
	if m, _ := b.newest(); !strings.Contains(m.Upgrade.Message, b.servers[0].Name) {
		t.Errorf("%+v", m.Upgrade)
	}
	b.eventually("the trial", func() bool {
		r, err := (installed.Files{Dir: dir}).Read()
		return err == nil && r.Trial != nil && r.Trial.Order == "01order"
	})
	if stop(); !b.upgraded {
		t.Error("the agent has not ended for it")
	}
	if r, ok := b.report(0); !ok || r.Attempt == nil || r.Attempt.State != resource.AttemptSucceeded {
		t.Errorf("the server's last report is %+v", r)
	}
	if raw, err := os.ReadFile((installed.Files{Dir: dir}).Program(installed.SlotA)); err != nil || string(raw) != string(program) {
		t.Errorf("the slot has %q (%v)", raw, err)
	}
}
