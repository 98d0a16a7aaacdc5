package brokers

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	hubcluster "rackboot/hub/cluster"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol/resource"
)

// TestStoreOnOtherHost: a hub that had its store on NATS servers from the start is checked, is backed up, and is lost with
// its host. Another one with a copy of a few files goes on: what was held is held, and the agent takes its orders.
func TestStoreOnOtherHost(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	s := newSite(t, 0, embedded)
	s.hub.Store.NATS = &hubcluster.Config{Replicas: nodes}
	for _, sv := range c.nodes {
		s.hub.Store.NATS.URLs = append(s.hub.Store.NATS.URLs, "nats://"+sv.addr)
	}
	s.hub.Backup.Plain = true
	s.startHub()
	if _, err := s.client.Objects.Apply(t.Context(), s.manifests(), false); err != nil {
		t.Fatal(err)
	}
	s.join()
	s.startAgent()
	s.running("the disk boot after the installation")
	kept := s.hold("kept")
	s.word(kept, resource.HoldFenced)
	s.stopHub()
	s.sound()

	first := s.hub.DataDir
	s.hub.DataDir = filepath.Join(s.dir, "other")
	if err := os.MkdirAll(s.hub.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pki", "hub.pub", "ca.pem"} {
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", filepath.Join(first, name), s.hub.DataDir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	s.startHub()
	s.word(kept, resource.HoldFenced)
	s.word(s.hold("there"), resource.HoldFenced)
	s.stopHub()
	s.sound()

	if epoch, err := hubdaemon.RaiseEpoch(t.Context(), s.hub); err != nil || epoch < 2 {
		t.Fatalf("epoch %d, %v", epoch, err)
	}
	s.startHub()
	s.word(s.hold("again"), resource.HoldFenced)
	copied := s.backup()
	s.stopHub()
	s.robbed(kept)

	// The backup makes a folder, which goes on without the servers.
	s.hub.DataDir, s.hub.Store.NATS = filepath.Join(s.dir, "restored"), nil
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(copied)), nil }
	if _, err := hubdaemon.Restore(t.Context(), s.hub, hubdaemon.Restoring{Open: open}); err != nil {
		t.Fatal(err)
	}
	s.startHub()
	s.word(kept, resource.HoldFenced)
	s.word(s.hold("folder"), resource.HoldFenced)
}

// sound looks at the hub's folder and store.
func (s *site) sound() {
	s.t.Helper()
	found, err := hubdaemon.Check(s.t.Context(), s.hub, hubdaemon.CheckOptions{Work: s.t.TempDir(), Deep: true})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range found {
		s.t.Errorf("%s, at %s: %s; %s", f.Code, f.Where, f.What, f.Do)
	}
}

// backup is a copy of the hub that runs.
func (s *site) backup() []byte {
	s.t.Helper()
	var out bytes.Buffer
	if err := s.client.Backups.Create(s.t.Context(), &out); err != nil {
		s.t.Fatal(err)
	}
	return out.Bytes()
}

// robbed has somebody who may write on the servers take a hold out of the store, which the hub that begins to serve
// there must notice.
func (s *site) robbed(hold string) {
	s.t.Helper()
	conn, err := natsgo.Connect(strings.Join(s.hub.Store.NATS.URLs, ","))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		s.t.Fatal(err)
	}
	stream, err := js.Stream(s.t.Context(), "rackboot")
	if err != nil {
		s.t.Fatal(err)
	}
	info, err := stream.Info(s.t.Context(), jetstream.WithSubjectFilter("rackboot.>"))
	if err != nil {
		s.t.Fatal(err)
	}
	taken := 0
	for subject := range info.State.Subjects {
		if strings.Contains(subject, hold) {
			taken++
			if err := stream.Purge(s.t.Context(), jetstream.WithPurgeSubject(subject)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	found, err := hubdaemon.Check(s.t.Context(), s.hub, hubdaemon.CheckOptions{Work: s.t.TempDir()})
	if err != nil {
		s.t.Fatal(err)
	}
	if taken == 0 || !slices.ContainsFunc(found, func(f hubdaemon.Finding) bool {
		return f.Code == hubdaemon.FoundLostKey && strings.Contains(f.Where, hold)
	}) {
		s.t.Errorf("%d subjects were taken, and this was found: %+v", taken, found)
	}
}
