package control

import (
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// What is in force is the agent's word, and stays when a change is refused and when
// nothing is made any more.
func TestEnvInForce(t *testing.T) {
	b, m := bootedEnv(t)
	for _, row := range []struct {
		says    *resource.EnvReport
		env, os string
		conds   string
	}{
		{nil, "", "", ""},
		{&resource.EnvReport{State: resource.EnvBuilding, Wanted: "sha256:x"}, "", "", ""},
		{&resource.EnvReport{State: resource.EnvRefused, Wanted: "sha256:x", Message: "no kernel"}, "", "", string(resource.CondBootEnvRefused)},
		{&resource.EnvReport{State: resource.EnvReady, BootEnv: "debian", OS: "debian-12", Source: resource.EnvFromProxy}, "debian", "debian-12", string(resource.CondRemoteRepo)},
		{&resource.EnvReport{State: resource.EnvRefused, BootEnv: "debian", OS: "debian-12", Wanted: "sha256:y", Message: "no kernel"}, "debian", "debian-12", string(resource.CondBootEnvRefused)},
		{&resource.EnvReport{State: resource.EnvReady, BootEnv: "other", OS: "debian-13"}, "other", "debian-13", ""},
		{nil, "other", "debian-13", ""},
	} {
		r := resource.ServerReport{Server: "n1", OwnerUID: b.claim("c1").Metadata.UID, Observation: protocol.Observation{Power: protocol.PowerOff}, Env: row.says}
		m.reports(r)
		b.settles(m)
		s, err := store.Get[*resource.Server](b.store.Objects, "n1")
		if err != nil {
			t.Fatal(err)
		}
		b.control.Status.Decorate(s)
		if s.Status.BootEnv != row.env || s.Status.OS != row.os {
			t.Errorf("%+v: %q, %q", row.says, s.Status.BootEnv, s.Status.OS)
		}
		got := codes(s.Status.Conditions)
		for _, code := range []resource.ConditionCode{resource.CondBootEnvRefused, resource.CondRemoteRepo} {
			if strings.Contains(got, string(code)) != (row.conds == string(code)) {
				t.Errorf("%+v: conditions %q", row.says, got)
			}
		}
	}
}

// A released server shows nothing of the environment that it had.
func TestEnvReleased(t *testing.T) {
	b, m := bootedEnv(t)
	uid := b.claim("c1").Metadata.UID
	shown := func() (string, string) {
		s, err := store.Get[*resource.Server](b.store.Objects, "n1")
		if err != nil {
			t.Fatal(err)
		}
		return s.Status.BootEnv, s.Status.OS
	}
	says := func(r resource.ServerReport) {
		r.Server, r.OwnerUID, r.Power, r.Observation.Power = "n1", uid, protocol.PowerOff, protocol.PowerOff
		m.reports(r)
		b.settles(m)
	}
	env := &resource.EnvReport{State: resource.EnvReady, BootEnv: "debian", OS: "debian-12"}
	says(resource.ServerReport{Env: env})
	if name, os := shown(); name != "debian" || os != "debian-12" {
		t.Fatalf("in force is %q, %q", name, os)
	}
	if _, err := b.store.Delete(ctx(t), resource.KindClaim, "c1"); err != nil {
		t.Fatal(err)
	}
	says(resource.ServerReport{})
	if name, _ := shown(); name != "debian" {
		t.Error("it is forgotten before the server is released")
	}
	says(resource.ServerReport{Released: true})
	b.settles(m)
	if name, os := shown(); name != "" || os != "" {
		t.Errorf("a released server shows %q, %q", name, os)
	}
}

// A description says whether it can be used, and for how many servers it is.
func TestEnvDescriptionStatus(t *testing.T) {
	b, _ := bootedEnv(t)
	for name, servers := range map[string]int{"debian": 1, "other": 0} {
		e, err := store.Get[*resource.BootEnv](b.store.Objects, name)
		if err != nil {
			t.Fatal(err)
		}
		b.control.Status.Decorate(e)
		if !e.Status.Valid || e.Status.Servers != servers || len(e.Status.Errors) > 0 {
			t.Errorf("%s: %+v", name, e.Status)
		}
	}
	e := debianEnv("wrong", func(s *resource.BootEnvSpec) { s.Kernel = "/x" })
	b.control.Status.Decorate(e)
	if e.Status.Valid || len(e.Status.Errors) != 1 {
		t.Errorf("%+v", e.Status)
	}
}

// What a server would be served is shown with where each value is from, and no secret.
func TestRenderEnv(t *testing.T) {
	b, _ := bootedEnv(t)
	all, err := b.control.Status.RenderEnv(ctx(t), "n1", "", "")
	if err != nil || all.BootEnv != "debian" || all.Source != resource.EnvFromISO || all.From != "debian.iso" || len(all.Files) != 1 || all.Files[0].Content != "" {
		t.Fatalf("%+v, %v", all, err)
	}
	if p := all.Files[0].Params; len(p) != 1 || p[0].Param != "root/password" || p[0].Source != "profile global" || !p[0].Secret {
		t.Errorf("%+v", p)
	}
	if boot := all.Boots[0]; boot.Refused != "" || !strings.HasSuffix(boot.Kernel, "/boot/linux") || boot.CommandLine == "" {
		t.Errorf("%+v", boot)
	}
	one, err := b.control.Status.RenderEnv(ctx(t), "n1", "", all.Files[0].Path)
	if err != nil || len(one.Files) != 1 || one.Files[0].Content != "first ********" {
		t.Errorf("%+v, %v", one, err)
	}
	for _, row := range []struct {
		server, env, path string
		want              protocol.Code
	}{
		{"gone", "", "", protocol.CodeNotFound},
		{"n2", "", "", protocol.CodeConflict},
		{"n2", "gone", "", protocol.CodeNotFound},
		{"n2", "debian", "", ""},
		{"n1", "", "gone", protocol.CodeNotFound},
		{"n1", "broken", "", protocol.CodeInvalid},
	} {
		if _, err := b.control.Status.RenderEnv(ctx(t), row.server, row.env, row.path); protocol.CodeOf(err) != row.want {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

// The next claim, which has the server before the agent has heard of the first one's end, is shown
// nothing of its environment, nor of its boot and its image's report.
func TestNextOwnerSeesNothing(t *testing.T) {
	b, m := bootedEnv(t)
	uid := b.claim("c1").Metadata.UID
	former := resource.ServerReport{
		Server: "n1", OwnerUID: uid, Power: protocol.PowerOff, Observation: protocol.Observation{Power: protocol.PowerOff},
		Env:     &resource.EnvReport{State: resource.EnvReady, BootEnv: "debian", OS: "debian-12"},
		Attempt: &resource.AttemptReport{ID: "a", State: resource.AttemptSucceeded, OwnerUID: uid},
		Image:   &protocol.ImageReport{State: protocol.ProbeInstalled, OwnerUID: uid, Digest: "sha256:x", Bytes: 2, Inventory: &protocol.HostInventory{}},
	}
	shown := func() resource.ServerStatus {
		t.Helper()
		s, err := store.Get[*resource.Server](b.store.Objects, "n1")
		if err != nil {
			t.Fatal(err)
		}
		b.control.Status.Decorate(s)
		return s.Status
	}
	m.reports(former)
	b.settles(m)
	if s := shown(); s.BootEnv != "debian" || s.BootEnvOf != uid || s.Report.Attempt == nil || s.Report.Image.State == "" {
		t.Fatalf("of the claim: %+v", s)
	}
	if _, err := b.store.Delete(ctx(t), resource.KindClaim, "c1"); err != nil {
		t.Fatal(err)
	}
	former.Released = true
	m.reports(former)
	b.settles(m)
	next := envClaim("other")
	next.Head().Metadata.Name = "c2"
	b.apply(next)
	b.settles(m) // the agent's last word is of the first claim
	s := shown()
	if s.Claim != "c2" || s.BootEnv != "" || s.OS != "" || s.Report.Attempt != nil || s.Report.Env != nil || s.Report.Released || s.Report.Image == nil || s.Report.Image.State != "" {
		t.Errorf("of the next claim: %+v, %+v", s, s.Report)
	}
	for _, c := range s.Conditions {
		if c.Code == resource.CondRemoteRepo || c.Code == resource.CondBootEnvRefused {
			t.Errorf("of the next claim: %+v", c)
		}
	}
}
