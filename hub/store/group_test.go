package store

import (
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func serverGroup(name string, change ...func(*resource.ServerGroup)) *resource.ServerGroup {
	g := &resource.ServerGroup{Spec: resource.ServerGroupSpec{Selector: resource.Selector{MatchLabels: map[string]string{"row": "7"}}, Catalogue: "stable"}}
	g.Metadata.Name = name
	g.Default()
	for _, c := range change {
		c(g)
	}
	return g
}

func claimFrom(group string) *resource.Claim {
	c := storetest.Claim("c1", "n1")
	c.Spec.Image, c.Spec.ImageFrom = "", &resource.ImageFrom{Group: group}
	c.Spec.BootPolicy = resource.BootPolicy{}
	c.Default()
	return c
}

func managed(change func(*resource.ManagedBootImages)) *resource.ManagedBootImages {
	m := &resource.ManagedBootImages{Spec: resource.ManagedBootImagesSpec{Mode: resource.OptInPartial, Selector: &resource.Selector{MatchLabels: map[string]string{"managed": "yes"}}}}
	m.Metadata.Name = resource.ManagedBootImagesName
	change(m)
	return m
}

// facts/boot-images §5 rows 1, 2 and 3: aliases, no empty selector, one instruction,
// unsupported architecture and boot mode.
func TestGroupAdmission(t *testing.T) {
	s, _ := withVault(t)
	apply(t, s, storetest.Site()...)
	for want, obj := range map[string]resource.Object{
		"give at least one label, or one of matchExpressions; for every group say mode All": managed(func(m *resource.ManagedBootImages) { m.Spec.Selector = nil }),
		"for every group say mode":                 managed(func(m *resource.ManagedBootImages) { m.Spec.Selector.MatchLabels = nil }),
		"so that no two can contradict":            managed(func(m *resource.ManagedBootImages) { m.Metadata.Name = "second" }),
		"is for mode Partial":                      managed(func(m *resource.ManagedBootImages) { m.Spec.Mode = resource.OptInAll }),
		"another name of selector":                 managed(func(m *resource.ManagedBootImages) { m.Spec.MatchSelector = m.Spec.Selector }),
		`"riscv64" is not one of amd64, arm64`:     serverGroup("g1", func(g *resource.ServerGroup) { g.Spec.Architectures = []string{"riscv64"} }),
		"Reboot is for bootPolicy.boot: Network":   serverGroup("g1", func(g *resource.ServerGroup) { g.Spec.Rollout.Strategy = resource.RolloutReboot }),
		`"Floppy" is not one of`:                   serverGroup("g1", func(g *resource.ServerGroup) { g.Spec.BootPolicy.FirstBoot = "Floppy" }),
		`Secret "none" does not exist`:             serverGroup("g1", stubOf("none", false)),
		"is of type bmc-credentials, not ignition": serverGroup("g1", stubOf("bmc", false)),
		`ServerGroup "nobody" does not exist`:      claimFrom("nobody"),
	} {
		objs := []resource.Object{obj}
		if strings.Contains(want, "bmc-credentials") {
			objs = append(objs, bmcSecret("bmc", "x"))
		}
		refused(t, s, want, objs...)
	}
	alias := managed(func(m *resource.ManagedBootImages) { m.Spec.Mode = "Enabled"; m.Spec.Selector = nil })
	apply(t, s, alias)
	if m, err := Peek[*resource.ManagedBootImages](s.Objects, "default"); err != nil || m.Spec.Mode != resource.OptInAll {
		t.Errorf("%+v, %v", m, err)
	}
}

func stubOf(secret string, manage bool) func(*resource.ServerGroup) {
	return func(g *resource.ServerGroup) {
		g.Spec.Stub = &resource.StubSpec{SecretRef: resource.Ref{Name: secret}, Manage: manage}
	}
}

// A group's status is the hub's: nobody applies it, and what is found when it is printed
// is not stored.
func TestGroupStatus(t *testing.T) {
	s, _ := withVault(t)
	g := serverGroup("g1")
	g.Status.Revision = 9
	apply(t, s, g)
	own, err := Get[*resource.ServerGroup](s.Objects, "g1")
	if err != nil || own.Status.Revision != 0 {
		t.Fatalf("%+v, %v", own, err)
	}
	own.Status.Revision, own.Status.Counts, own.Status.Enrolment, own.Status.Skew, own.Status.StubLimit = 3, &resource.GroupCounts{Servers: 1}, &resource.Enrolment{}, "old", "3.4.0"
	if err := s.Objects.Put(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	g.Status.Revision = 7
	apply(t, s, g)
	if own, _ = Get[*resource.ServerGroup](s.Objects, "g1"); own.Status.Revision != 3 || own.Status.Counts != nil || own.Status.Enrolment != nil || own.Status.Skew != "" || own.Status.StubLimit != "" {
		t.Errorf("%+v", own.Status)
	}
}

// Row 21: revisions are only added, and made by the hub.
func TestRevisionsAreAppendOnly(t *testing.T) {
	s, _ := withVault(t)
	r := &resource.GroupRevision{Spec: resource.GroupRevisionSpec{Group: "g1", Number: 1, Cause: resource.CauseCatalogue}}
	r.Metadata.Name = "g1-1"
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{r}, ApplyOptions{}); err == nil || !strings.Contains(err.Error(), "is made by the hub") {
		t.Errorf("%v", err)
	}
	if err := s.Objects.Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Status.Verified = true
	if err := s.Objects.Put(t.Context(), r); err != nil {
		t.Errorf("its result is written: %v", err)
	}
	changed := *r
	changed.Spec.Reason = "I never did that"
	wantCode(t, s.Objects.Put(t.Context(), &changed), protocol.CodeInvalid)
	misnamed := &resource.GroupRevision{Spec: resource.GroupRevisionSpec{Group: "g1", Number: 3}}
	misnamed.Metadata.Name = "g1-2"
	wantCode(t, s.Objects.Put(t.Context(), misnamed), protocol.CodeInvalid)
	_, err := s.Delete(t.Context(), resource.KindGroupRevision, "g1-1")
	wantCode(t, err, protocol.CodeUnsupported)
}

// A claim of a group's image says the group's policy; the group stays while it is named,
// and may get another policy.
func TestClaimOfGroup(t *testing.T) {
	s, _ := withVault(t)
	apply(t, s, storetest.Site()...)
	network := serverGroup("g1", func(g *resource.ServerGroup) { g.Spec.BootPolicy.Boot = resource.BootNetwork })
	apply(t, s, network)
	refused(t, s, `group "g1" boots by {firstBoot`, claimFrom("g1"))
	apply(t, s, serverGroup("g1"))
	apply(t, s, claimFrom("g1"))
	apply(t, s, network)
	apply(t, s, claimFrom("g1")) // as it is
	_, err := s.Delete(t.Context(), resource.KindServerGroup, "g1")
	if wantCode(t, err, protocol.CodeConflict); !strings.Contains(err.Error(), "Claim/c1") {
		t.Error(err)
	}
}

// Row 11 and OCPBUGS-104569: what is translated is the hub's, and a Secret of people that
// has the name is not overwritten.
func TestManagedStubs(t *testing.T) {
	s, _ := withVault(t)
	made := userData("s-spec-3-managed", "translated")
	made.Metadata.Annotations = map[string]string{AnnotationManagedStub: "s"}
	refused(t, s, "is the hub's", made)
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{made}, ApplyOptions{Managed: true}); err != nil {
		t.Fatal(err)
	}
	refused(t, s, `the hub makes this Secret from "s"`, userData("s-spec-3-managed", "mine"))

	apply(t, s, userData("t-spec-3-managed", "mine"))
	other := userData("t-spec-3-managed", "translated")
	other.Metadata.Annotations = map[string]string{AnnotationManagedStub: "t"}
	_, err := s.Sets.Apply(t.Context(), []resource.Object{other}, ApplyOptions{Managed: true})
	wantCode(t, err, protocol.CodeConflict)
}

// What a revision names can be read when the Secret has another version, or none; also
// under another key; and it goes with the last that names it.
func TestKeptStubs(t *testing.T) {
	s, _ := withVault(t)
	apply(t, s, userData("s", "first"))
	secret, _ := Peek[*resource.Secret](s.Objects, "s")
	ref := resource.IgnitionRef{Secret: "s", UID: secret.Metadata.UID, Version: 1, Digest: secret.Status.Digest}
	r := &resource.GroupRevision{Spec: resource.GroupRevisionSpec{Group: "g1", Number: 1, Stub: &ref}}
	r.Metadata.Name = "g1-1"
	for range 2 {
		if err := s.Secrets.KeepStub(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Objects.Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	was, _ := s.Secrets.Get("s")
	apply(t, s, userData("s", "second"))
	if _, err := s.Delete(t.Context(), resource.KindSecret, "s"); err != nil {
		t.Fatal(err)
	}
	if err := s.Secrets.SweepStubs(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept, err := s.Secrets.Stub(ref)
	if err != nil || kept.SecretID != was.SecretID || string(kept.Envelope) != string(was.Envelope) {
		t.Fatalf("%+v, %v", kept, err)
	}
	kept.Envelope = []byte(`{"other":"key"}`)
	if err := s.Secrets.Rewrap(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if again := s.Secrets.List(); len(again) != 1 || string(again[0].Envelope) != `{"other":"key"}` {
		t.Errorf("%+v", again)
	}
	if err := s.Objects.Remove(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := s.Secrets.SweepStubs(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = s.Secrets.Stub(ref)
	wantCode(t, err, protocol.CodeNotFound)
}
