package site

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/approval"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// destructiveKey writes a destructive key into the site's folder.
func (s *site) destructiveKey() (file string) {
	s.t.Helper()
	private, public, err := wire.EncodeKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		s.t.Fatal(err)
	}
	file = filepath.Join(s.dir, "destructive.pem")
	for path, text := range map[string][]byte{file: private, file + ".pub": public} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return file
}

// person makes a client of the hub's file that may break glass.
func (s *site) person(name string) *api.Client {
	s.t.Helper()
	token := name + strings.Repeat("x", 32)
	file := filepath.Join(s.dir, name+".token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.hub.Clients = append(s.hub.Clients, hubdaemon.Client{Name: name, TokenFile: file, Roles: []access.Role{access.Admin}, BreakGlass: true})
	c, err := api.NewClient(api.Config{BaseURL: "https://" + s.hub.API, CA: s.ca(), Token: token})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.CloseIdle)
	return c
}

// pending waits for the approval of a class with so many targets.
func (s *site) pending(class resource.ApprovalClass, targets int) (found resource.ApprovalRequest) {
	s.t.Helper()
	var all []resource.ApprovalRequest
	s.until("the wish for an approval", func() bool {
		var err error
		if all, err = s.client.Approvals.List(s.t.Context()); err != nil {
			return false
		}
		for _, r := range all {
			if r.Class == class && r.State == resource.ApprovalPending && len(r.Targets) == targets {
				found = r
				return true
			}
		}
		return false
	}, func() any { return all })
	return found
}

// TestTwoKeys goes from the stop of a whole rack over two people and the destructive key
// to its proof, through a restart of the hub, and then releases somebody else's hold, by
// the signature of a person. The agent pinned the key when it joined.
func TestTwoKeys(t *testing.T) {
	const servers, bound = 5, 2
	s := newSite(t, servers)
	key := s.destructiveKey()
	s.hub.DestructiveKey = hubdaemon.DestructiveKey{File: key}
	s.hub.Approvals = hubdaemon.Approvals{BulkStop: &hubdaemon.ApprovalRule{Approvers: approval.MaxApprovers}}
	s.startHub()
	s.stopHub()
	alice := s.person("alice")
	s.startHub()
	s.apply(s.manifests()...)
	for _, sv := range s.servers {
		sv.BMC.ExternalOn()
	}
	c := s.firstAgent()
	s.join(c)
	c.BulkStop.Servers = new(bound)
	s.startAgent(c)
	s.until("the agent's stance", func() bool {
		r, ok := get[*resource.Rack](s, rackName)
		return ok && r.Status.Approvals != nil && len(r.Status.Approvals.Keys) == 1 && r.Status.Approvals.BulkStop == bound
	}, func() any { r, _ := get[*resource.Rack](s, rackName); return r.Status })

	var holds []*resource.Hold
	for _, sv := range s.servers {
		h, err := s.client.Holds.Create(t.Context(), sv.Name, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "evacuate", Mode: resource.StopHard}})
		if err != nil {
			t.Fatal(err)
		}
		holds = append(holds, h)
	}
	r := s.pending(resource.ApproveBulkStop, servers-bound)
	off := func() (n int) {
		for _, sv := range s.servers {
			if sv.BMC.PowerState() == protocol.PowerOff {
				n++
			}
		}
		return n
	}
	s.until("the stops that pass without an approval", func() bool { return off() == bound }, func() any { return off() })
	if _, err := alice.Approvals.Grant(t.Context(), r.ID, api.GrantRequest{Version: r.Version}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Approvals.Grant(t.Context(), r.ID, api.GrantRequest{Version: r.Version}); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("who asked grants the second: %v", err)
	}
	if n := off(); n != bound {
		t.Errorf("%d servers are off before it is approved", n)
	}
	s.stopHub()
	bob := s.person("bob")
	s.startHub()
	if r, err := bob.Approvals.Grant(t.Context(), r.ID, api.GrantRequest{Version: r.Version}); err != nil || r.State != resource.ApprovalApproved {
		t.Fatalf("%s, %v", r.State, err)
	}
	for _, h := range holds {
		s.untilHold(h.Metadata.Name, resource.HoldFenced)
	}

	// Now a person has the key.
	s.stopHub()
	s.hub.DestructiveKey = hubdaemon.DestructiveKey{Public: key + ".pub"}
	s.startHub()
	id := holds[0].Metadata.Name
	if _, err := bob.Holds.Release(t.Context(), id, api.ReleaseRequest{BreakGlass: "admin is away"}); err != nil {
		t.Fatal(err)
	}
	r = s.pending(resource.ApproveHoldOverride, 1)
	if h, ok := get[*resource.Hold](s, id); !ok || h.Status.State != resource.StateReleasing {
		t.Errorf("hold %+v", h)
	}
	r, err := bob.Approvals.Grant(t.Context(), r.ID, api.GrantRequest{Version: r.Version})
	if err != nil || r.State != resource.ApprovalGranted {
		t.Fatalf("%s, %v", r.State, err)
	}
	signed, err := wire.Seal(wire.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))), wire.FactApproval, r.Approval)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = bob.Approvals.Sign(t.Context(), r.ID, api.SignRequest{Signed: signed}); err != nil || r.State != resource.ApprovalApproved {
		t.Fatalf("%s, %v", r.State, err)
	}
	s.until("the end of the hold", func() bool { _, there := get[*resource.Hold](s, id); return !there }, func() any {
		h, _ := get[*resource.Hold](s, id)
		return h
	})
	s.until("an event of each approval", func() bool { return s.events(resource.EventApproval) >= 6 }, func() any { return s.events(resource.EventApproval) })
	if time.Until(r.NotAfter) > time.Hour {
		t.Errorf("it counts until %s", r.NotAfter)
	}
}
