package site

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// rotated waits for the end of the change of a BMC's account, and returns it.
func (s *site) rotated(bmc string, before string) *resource.Rotation {
	s.t.Helper()
	var r *resource.Rotation
	s.until("the end of the change of "+bmc, func() bool {
		v, ok := get[*resource.BMC](s, bmc)
		if ok {
			r = v.Status.Rotation
		}
		return r != nil && r.ID != before && r.State != resource.RotationUnderWay && r.State != resource.RotationPromoted
	}, func() any { return r })
	return r
}

// TestAccountLife is the life of a BMC's account: the factory's, one of its own, two
// other passwords, and one that the BMC takes and does not keep. Nothing that is
// answered, logged or measured has a password.
func TestAccountLife(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	spy := s.spy()
	s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	c.Metrics = spy.agent
	s.join(c)
	stopAgent := s.startAgent(c)
	s.provision()
	sim, name := s.servers[0].BMC, "b-n1"
	rotate := func(r api.RotateBMC) error {
		_, err := s.client.BMCs.Rotate(t.Context(), name, r)
		return err
	}
	if err := rotate(api.RotateBMC{}); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Fatalf("a local account: %v", err)
	}
	if err := rotate(api.RotateBMC{Own: true}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Fatalf("no user: %v", err)
	}
	if err := rotate(api.RotateBMC{Own: true, User: "rackboot", Drop: resource.DropDisable}); err != nil {
		t.Fatal(err)
	}
	last := s.rotated(name, "")
	if last.State != resource.RotationDone || last.Reason != "" {
		t.Fatalf("own: %+v", last)
	}
	if v, _ := get[*resource.BMC](s, name); v.Spec.CredentialsRef != "secret:bmc-"+name {
		t.Errorf("the BMC has %s", v.Spec.CredentialsRef)
	}
	if sim.Logs("admin", "secret") {
		t.Error("the factory's account still logs in")
	}
	passwords := []string{sim.Password("rackboot")}
	for range 2 {
		if err := rotate(api.RotateBMC{}); err != nil {
			t.Fatal(err)
		}
		last = s.rotated(name, last.ID)
		if last.State != resource.RotationDone || sim.Logs("rackboot", passwords[len(passwords)-1]) {
			t.Fatalf("%+v, and the old one logs in: %v", last, sim.Logs("rackboot", passwords[len(passwords)-1]))
		}
		passwords = append(passwords, sim.Password("rackboot"))
	}
	s.reboot("n1")

	// A BMC that lies: the former stays, and people are told.
	sim.Adjust(func(p *bmcsim.Personality) { p.Account.KeepsOld = true })
	if err := rotate(api.RotateBMC{}); err != nil {
		t.Fatal(err)
	}
	last = s.rotated(name, last.ID)
	if last.State != resource.RotationFailed {
		t.Fatalf("a lie: %+v", last)
	}
	var told []resource.ConditionState
	s.until("people are told", func() bool {
		v, _ := get[*resource.BMC](s, name)
		told = v.Status.Conditions
		return has(told, resource.CondRotationFailed)
	}, func() any { return told })
	sim.Adjust(func(p *bmcsim.Personality) { p.Account.KeepsOld = false })
	s.reboot("n1")
	spy.look()
	stopAgent()
	s.stopHub()
	spy.without(passwords...)
}

// without looks for passwords in the log and in all files, as they are and in base64.
func (y *spy) without(passwords ...string) {
	t := y.site.t
	t.Helper()
	log := []byte(y.log.String())
	for _, p := range passwords {
		if len(p) != resource.DefaultNewPassword {
			t.Fatalf("a password has %d characters", len(p))
		}
		for _, form := range []string{p, base64.StdEncoding.EncodeToString([]byte(p))} {
			if bytes.Contains(log, []byte(form)) {
				t.Error("a password is in the log")
			}
			err := filepath.WalkDir(y.site.dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(path)
				if err == nil && bytes.Contains(data, []byte(form)) {
					t.Errorf("a password is in %s", path)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
