package site

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol/backupfile"
	"rackboot/protocol/resource"
)

// TestHubBackedUp: a backup is made by the API while people write; in another folder it is the hub
// again. What was acknowledged before the backup began is there, the holds that were placed after it are
// adopted from the agent, nothing is installed twice, and secrets are read with the key that is not in
// the backup.
func TestHubBackedUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.hub.Secrets.KeyFile = s.keyFile("key", "5e")
	s.hub.Backup.Plain = true
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.apply(s.claim("n1"))
	secret := account("secret")
	s.apply(secret)
	early := s.place("n2", "early", resource.HoldFenced)
	s.untilServer("n1", "the disk boot after the installation", diskBoot)

	raw, before := s.backedUp()
	lost := s.accepted("n2", "late")
	s.untilHold(lost.Metadata.Name, resource.HoldFenced)
	s.audited("backup", "")
	s.stopHub()

	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	old := s.hub.DataDir
	s.hub.DataDir = filepath.Join(s.dir, "another")
	got, err := hubdaemon.Restore(t.Context(), s.hub, hubdaemon.Restoring{Open: open})
	if err != nil {
		t.Fatal(err)
	}
	if got.Epoch != 2 || got.Manifest.Epoch != 1 || !strings.Contains(strings.Join(got.Manifest.Without, " "), "the key of secrets") {
		t.Errorf("%+v", got)
	}
	if err := os.RemoveAll(old); err != nil {
		t.Fatal(err)
	}
	s.startHub()
	for _, name := range before {
		if _, ok := get[*resource.Rack](s, name); !ok {
			t.Errorf("%s was acknowledged before the backup began, and is missing", name)
		}
	}
	s.untilHold(early.Metadata.Name, resource.HoldFenced)
	s.untilHold(lost.Metadata.Name, resource.HoldFenced)
	s.staysOff(1)
	s.audited("restored", "")
	s.installedOnce()
	if b, ok := get[*resource.BootConfiguration](s, "c-n1"); !ok || b.Status.Provisioned == nil {
		t.Error("the provisioned record is missing")
	}
	if _, err := s.client.Objects.Apply(t.Context(), []resource.Object{secret}, false); err != nil {
		t.Errorf("the secret: %v", err)
	}
	s.exported() // verifies
}

// backedUp makes a backup while others write, and returns the names of racks that were there before.
func (s *site) backedUp() (raw []byte, before []string) {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	var group sync.WaitGroup
	var mu sync.Mutex
	begun := make(chan struct{})
	group.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			rack := &resource.Rack{}
			rack.Metadata.Name = fmt.Sprintf("filler-%d", n)
			rack.Default()
			if _, err := s.client.Objects.Apply(ctx, []resource.Object{rack}, false); err != nil {
				if ctx.Err() == nil {
					s.t.Error(err)
				}
				return
			}
			mu.Lock()
			if before = append(before, rack.Metadata.Name); n == 10 {
				close(begun)
			}
			mu.Unlock()
		}
	})
	<-begun
	mu.Lock()
	names := before
	mu.Unlock()
	var out bytes.Buffer
	err := s.client.Backups.Create(s.t.Context(), &out)
	stop()
	group.Wait()
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := backupfile.Read(bytes.NewReader(out.Bytes()), nil, nil); err != nil {
		s.t.Fatal(err)
	}
	status, err := s.client.Backups.Status(s.t.Context())
	if err != nil || status.Sealed != "plain" || status.Place != "" {
		s.t.Errorf("%+v, %v", status, err)
	}
	return out.Bytes(), names
}
