package site

import (
	"testing"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestMoveBootEnv: what describes boot environments moves with the fleet, under its UIDs, so
// that a server which one has installed stays installed by the record of its agent.
func TestMoveBootEnv(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
	s.startHub()
	s.apply(s.manifests()...)
	param := &resource.Param{Spec: resource.ParamSpec{Name: "mirror", Schema: map[string]any{"type": "string"}}}
	param.Metadata.Name = "mirror"
	param.Default()
	s.apply(append(envObjects("deb.example"), param)...)
	if err := s.upload("Demo.tar", "EFI/Linux.efi", envUKI); err != nil {
		t.Fatal(err)
	}
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)
	claim := s.claim("n1")
	claim.Spec.Image, claim.Spec.BootEnv = "", &resource.Ref{Name: "demo-1-install"}
	s.apply(claim)
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	s.until("the provisioned record", func() bool {
		b, ok := get[*resource.BootConfiguration](s, claim.Metadata.Name)
		return ok && b.Installed()
	}, func() any { return "none" })
	stop()
	uids := func() map[string]string {
		out := map[string]string{}
		for _, k := range []resource.Kind{resource.KindParam, resource.KindTemplate, resource.KindProfile, resource.KindBootEnv} {
			list, err := s.client.Objects.List(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range list {
				out[string(k)+"/"+o.Head().Metadata.Name] = o.Head().Metadata.UID
			}
		}
		return out
	}
	was, e := uids(), s.export()
	rack, err := s.client.Export(t.Context(), nil, "r1")
	if err != nil || len(rack.Objects) != len(e.Objects) {
		t.Errorf("of the rack alone there are %d objects of %d, %v", len(rack.Objects), len(e.Objects), err)
	}

	s.anotherHub(false)
	s.take(e, api.AcceptAllKeys)
	now := uids()
	if len(was) != 4 || len(now) != len(was) {
		t.Errorf("there were %v, there are %v", was, now)
	}
	for name, uid := range was {
		if now[name] != uid {
			t.Errorf("%s was %s, and is %s", name, uid, now[name])
		}
	}
	for _, r := range s.take(e, api.AcceptAllKeys).Results {
		if r.Outcome != api.ImportUnchanged {
			t.Errorf("again: %s %s %s: %s", r.Kind, r.Name, r.Outcome, r.Message)
		}
	}
	cl, _ := get[*resource.Claim](s, claim.Metadata.Name)
	cfg, ok := get[*resource.BootConfiguration](s, claim.Metadata.Name)
	if !ok || !cfg.Installed() || cfg.Spec.BootEnv != "demo-1-install" || has(cl.Status.Conditions, resource.CondNeedsDecision) || has(cl.Status.Conditions, resource.CondReprovisionRequired) {
		t.Errorf("the claim says %+v, its configuration %+v", cl.Status.Conditions, cfg)
	}
}
