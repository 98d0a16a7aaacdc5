package control

import (
	"slices"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/netboot/ignition"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// spec2 is user data of specification 2.
func spec2(name string) string {
	return `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://a.example/x"},{"source":"https://b.example/y"}]}},"passwd":{"users":[{"name":"` + name + `"}]}}`
}

func withStub(manage bool) func(*resource.ServerGroup) {
	return func(g *resource.ServerGroup) {
		g.Spec.Stub = &resource.StubSpec{SecretRef: resource.Ref{Name: "node"}, Manage: manage}
	}
}

// Row 11 and seed 001, secret_name-spec-3-managed: the translation is a Secret of its own,
// the original stays, and that it was opened is in the audit log, once.
func TestGroupStubTranslated(t *testing.T) {
	b, _, _ := groupSite(t, optIn(resource.OptInAll), userDataSecret(spec2("ann")), entryOf("1.0"), workers(withStub(true)))
	r := b.groupRevision(1)
	if r.Spec.Stub == nil || r.Spec.Stub.Secret != "node-spec-3-managed" || r.Spec.OriginalStub.Secret != "node" || !strings.HasPrefix(r.Spec.StubVersion, "3.") {
		t.Fatalf("%+v", r.Spec)
	}
	content, err := b.control.Env.OpenIgnition(*r.Spec.Stub)
	if err != nil {
		t.Fatal(err)
	}
	if out, errs := ignition.Check(content); len(errs) > 0 || out.Version != r.Spec.StubVersion || !strings.Contains(string(content), "b.example/y") {
		t.Errorf("%+v, %v", out, errs)
	}
	was, err := b.control.Env.RawIgnition(*r.Spec.OriginalStub)
	if err != nil || string(was) != spec2("ann") {
		t.Errorf("the original: %s, %v", was, err)
	}
	if got := b.group().Status.StubLimit; got != "3.4.0" {
		t.Errorf("what the image reads: %q", got)
	}
	secret, _ := store.Peek[*resource.Secret](b.store.Objects, "node-spec-3-managed")
	if secret.Metadata.Annotations[store.AnnotationManagedStub] != "node" {
		t.Errorf("%+v", secret.Metadata)
	}
	b.pass()
	opened := 0
	for _, e := range b.trail.entries {
		if e.Op == "open" && e.Target == "Secret/node" && strings.Contains(e.Detail, "workers") {
			opened++
		}
	}
	if opened == 0 || opened > 2 {
		t.Errorf("opened %d times: %+v", opened, b.trail.entries)
	}
	// Other data is another revision; the same data is none.
	b.apply(userDataSecret(spec2("bob")))
	b.pass()
	b.wantHistory("other data", "1:1.0/catalogue 2:1.0/stub @2")
	if old, err := b.control.Env.OpenIgnition(*r.Spec.Stub); err != nil || string(old) != string(content) {
		t.Errorf("the data of the revision before is gone: %v", err)
	}
	b.restart()
	b.pass()
	b.wantHistory("after a restart", "1:1.0/catalogue 2:1.0/stub @2")
}

// A translated Secret is its group's own: it is said who uses it, it stays while the current or a kept revision
// has it, and it goes with the group. A version is one content for as long as a history names it.
func TestGroupStubIsOwned(t *testing.T) {
	const managed = "node-spec-3-managed"
	b, _, _ := groupSite(t, optIn(resource.OptInAll), userDataSecret(spec2("ann")), entryOf("1.0"), workers(withStub(true)))
	users := func(when string, want ...string) {
		t.Helper()
		if got := b.store.Secrets.Users(managed); !slices.Equal(got, want) {
			t.Errorf("%s: used by %v", when, got)
		}
		_, err := b.store.Delete(t.Context(), resource.KindSecret, managed)
		if protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), want[0]) {
			t.Errorf("%s: deleted: %v", when, err)
		}
	}
	users("the first revision", "ServerGroup/workers")
	b.apply(userDataSecret(spec2("bob")))
	b.pass()
	users("the second", "GroupRevision/workers-1", "ServerGroup/workers")
	b.apply(userDataSecret(ignite("eve")), workers(withStub(false))) // which needs no translation
	b.pass()
	b.wantHistory("three", "1:1.0/catalogue 2:1.0/stub 3:1.0/stub @3")
	users("only in the history", "GroupRevision/workers-1", "GroupRevision/workers-2")
	if r := b.groupRevision(2); r.Spec.Stub.Version != 2 || r.Spec.Stub.Digest == b.groupRevision(1).Spec.Stub.Digest {
		t.Errorf("%+v", r.Spec.Stub)
	}

	// The owner's Secret is deleted, and made again: its version goes on.
	last := b.groupRevision(3).Spec.Stub.Version
	b.apply(workers())
	if _, err := b.store.Delete(t.Context(), resource.KindSecret, "node"); err != nil {
		t.Fatal(err)
	}
	b.apply(userDataSecret(ignite("zoe")))
	if s, err := store.Peek[*resource.Secret](b.store.Objects, "node"); err != nil || s.Status.Version != last+1 {
		t.Errorf("version %d after %d, %v", s.Status.Version, last, err)
	}

	if _, err := b.store.Delete(t.Context(), resource.KindServerGroup, "workers"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	b.pass()
	if _, err := store.Peek[*resource.Secret](b.store.Objects, managed); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("it outlives its group: %v, used by %v", err, b.store.Secrets.Users(managed))
	}
	if _, err := store.Peek[*resource.Secret](b.store.Objects, "node"); err != nil {
		t.Errorf("the owner's own: %v", err)
	}
}

// Rows 10, 14 and 15: without consent nothing is translated; what cannot be translated or
// read is said with its path, before anything is changed, also where the image is current.
func TestGroupStubRefused(t *testing.T) {
	for name, c := range map[string]struct {
		data   string
		manage bool
		change func(*resource.BootImage)
		want   string
	}{
		"no consent":                 {spec2("ann"), false, nil, "spec.stub.manage: true"},
		"no consent, by hand":        {spec2("ann"), false, nil, "rackctl ignition translate --for-group workers"},
		"networkd":                   {`{"ignition":{"version":"2.2.0"},"networkd":{"units":[{"name":"a.network","contents":"x"}]}}`, true, nil, "UsesNetworkd at $.networkd"},
		"newer than the image reads": {`{"ignition":{"version":"3.5.0"}}`, false, nil, "up to 3.4.0"},
		"the image reads none":       {ignite("ann"), true, func(b *resource.BootImage) { b.Spec.MaxIgnition = "" }, "import it again with --max-ignition"},
	} {
		t.Run(name, func(t *testing.T) {
			entry := entryOf("1.0")
			if c.change != nil {
				c.change(entry)
			}
			b, _, _ := groupSite(t, optIn(resource.OptInAll), userDataSecret(c.data), entry, workers(withStub(c.manage)))
			b.wantHistory(name, "@0")
			g := b.group()
			if got := codes(g.Status.Conditions); got != "BootImageUpdateDegraded StubRefused" || !strings.Contains(g.Status.Conditions[1].Message, c.want) {
				t.Errorf("%+v", g.Status.Conditions)
			}
			if _, err := store.Peek[*resource.Secret](b.store.Objects, "node-spec-3-managed"); err == nil {
				t.Error("something was written")
			}
			b.apply(fromWorkers("c1", "n1"))
			b.pass()
			if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, "NoGroupRevision") {
				t.Errorf("%s", got)
			}
			b.apply(userDataSecret(ignite("good")), entryOf("2.0"))
			b.pass()
			if b.group().Status.Revision != 1 {
				t.Errorf("corrected: %+v", b.group().Status.Conditions)
			}
		})
	}
}

// A Secret of somebody else that has the name is left alone, and said.
func TestGroupStubNameTaken(t *testing.T) {
	taken := userDataSecret(ignite("mine"))
	taken.Metadata.Name = "node-spec-3-managed"
	b, _, _ := groupSite(t, optIn(resource.OptInAll), taken, userDataSecret(spec2("ann")), entryOf("1.0"), workers(withStub(true)))
	b.wantHistory("taken", "@0")
	if g := b.group(); !strings.Contains(codes(g.Status.Conditions), "StubRefused") || !strings.Contains(g.Status.Conditions[0].Message, "not the hub's") {
		t.Errorf("%+v", g.Status.Conditions)
	}
}
