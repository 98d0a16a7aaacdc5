package control

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// moved is what a hub exported of which n1 is installed for c1, and n2 held.
type moved struct {
	t    *testing.T
	from *bench
	keys []api.ExportKey
	id   string // of the key that signed the record
	hold string
}

func export(t *testing.T) *moved {
	t.Helper()
	b, agent := joined(t)
	m := &moved{t: t, from: b, id: hex.EncodeToString(wire.KeyID(wire.NewSigner(key(agent)).Public()))}
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	n2 := b.server("n2")
	n2.Status.Discovered = &resource.Discovered{UID: "discovery", At: b.now}
	if err := b.store.Objects.Put(t.Context(), n2); err != nil {
		t.Fatal(err)
	}
	cl, n1 := b.claim("c1"), b.server("n1")
	r := on("n1")
	r.OwnerUID = cl.Metadata.UID
	r.Provisioned = seal(t, key(agent), wire.FactProvisioned, resource.Provisioned{
		OwnerUID: cl.Metadata.UID, Generation: 1, Server: "n1", ServerUID: n1.Metadata.UID, ImageDigest: b.config("c1").Spec.Image.Digest, At: b.now,
		Class: resource.EvidenceObserved, Secrets: resource.SecretsBMC,
	})
	b.reports(agent, r, off("n2"))
	h, err := b.store.Holds.Create(t.Context(), storetest.Hold("cluster", "k", "n2"))
	if err != nil {
		t.Fatal(err)
	}
	m.hold = h.Metadata.Name
	b.pass()
	for _, k := range store.Copies[*resource.Rack](b.store.Objects)[0].Status.AgentKeys {
		m.keys = append(m.keys, api.ExportKey{Rack: "r1", Key: k})
	}
	return m
}

func (m *moved) objects() (out []resource.Object) {
	for _, k := range store.ImportKinds() {
		out = append(out, m.from.store.Objects.Copies(k)...)
	}
	return out
}

func (m *moved) into(b *bench, r api.ImportRequest, objs ...resource.Object) map[string]api.ImportResult {
	m.t.Helper()
	if r.Reason == "" {
		r.Reason = "move"
	}
	if r.Keys == nil {
		r.Keys = m.keys
	}
	if objs == nil {
		objs = m.objects()
	}
	got, err := b.control.Owners.Imports.Import(m.t.Context(), objs, r, "admin")
	if err != nil {
		m.t.Fatal(err)
	}
	out := map[string]api.ImportResult{}
	for _, res := range got.Results {
		out[string(res.Kind)+"/"+res.Name] = res
	}
	for _, k := range got.Keys {
		out["key/"+k.ID] = api.ImportResult{Message: fmt.Sprintf("%s %d %t", k.Rack, k.Records, k.Accepted)}
	}
	return out
}

// An import with an accepted key: UIDs, the hold with its owner, and the record as the
// word of whoever imports. A dry run changes nothing; the same again neither.
func TestImport(t *testing.T) {
	m := export(t)
	b := newBench(t, &movingTag{})
	r := api.ImportRequest{AcceptKeys: []string{m.id}}
	dry := r
	dry.DryRun = true
	if got := m.into(b, dry); got["Claim/c1"].Outcome != api.ImportCreated || got["key/"+m.id].Message != "r1 1 true" || len(store.List[*resource.Rack](b.store.Objects)) != 0 {
		t.Fatalf("the dry run says %v", got)
	}
	for kindName, res := range m.into(b, r) {
		if res.Outcome != api.ImportCreated && !strings.HasPrefix(kindName, "key/") {
			t.Errorf("%s: %+v", kindName, res)
		}
	}
	for kindName, res := range m.into(b, r) {
		if res.Outcome != api.ImportUnchanged && !strings.HasPrefix(kindName, "key/") {
			t.Errorf("again: %s: %+v", kindName, res)
		}
	}
	was, is := m.from.claim("c1"), b.claim("c1")
	if was.Metadata.UID != is.Metadata.UID || is.Status.Server != "n1" || m.from.server("n1").Metadata.UID != b.server("n1").Metadata.UID {
		t.Errorf("the claim is %+v", is)
	}
	if d := b.server("n2").Status.Discovered; d == nil || d.UID != "discovery" {
		t.Errorf("n2 is to be discovered again: %+v", d)
	}
	h, err := store.Get[*resource.Hold](b.store.Objects, m.hold)
	if err != nil || h.Spec.Owner != "cluster" || h.Status.Rack != "r1" {
		t.Errorf("the hold is %+v, %v", h, err)
	}
	cfg := b.config("c1")
	if a := cfg.Status.Adopted; len(cfg.Spec.Grant) != 0 || cfg.Status.GrantFor != "" || a == nil || a.By != "admin" || a.Key != m.id || a.Reason != "move" {
		t.Errorf("the configuration is %+v", cfg)
	}
	if was, is := m.from.evidenceOf("c1", "n1"), b.evidenceOf("c1", "n1"); was != [3]string{"observed/bmc", "observed/bmc", "observed/bmc"} || is != [3]string{"reported/", "reported/", "reported/"} {
		t.Errorf("%q is shown as %q where it was imported", was, is)
	}
	if got := strings.Join(b.trail.of("Server/n1"), " "); !strings.Contains(got, "adopt") {
		t.Errorf("the audit log has %s", got)
	}
	// The agent that joins here has another name than the ones there, and boots n1 from its
	// disk.
	agent := b.join("r1")
	if agent != "r1-2" {
		t.Errorf("the agent is %s", agent)
	}
	peer := b.modern(agent)
	peer.connects()
	peer.reports(on("n1"), off("n2"))
	b.pass()
	peer.listens()
	var rack message.RackDoc
	var holds message.HoldDoc
	b.opens(peer, "rack/0", &rack)
	b.opens(peer, "hold", &holds)
	if boot := rack.Servers[0].Boot; boot == nil || boot.Adopted == nil || boot.Grant != nil || boot.Owner.UID != was.Metadata.UID {
		t.Errorf("the agent is told %+v", boot)
	}
	if len(holds.Holds) != 1 || holds.Holds[0].ID != m.hold {
		t.Errorf("the agent holds %+v", holds.Holds)
	}
	if c := b.claim("c1"); c.Status.Decision != nil || codes(c.Status.Conditions) != "" {
		t.Errorf("the claim waits for %+v, %s", c.Status.Decision, codes(c.Status.Conditions))
	}
}

// What does not count asks: whatever happens to the server, it gets no grant.
func TestImportAsks(t *testing.T) {
	stolen := key("stolen")
	for _, c := range []struct {
		name    string
		request func(*moved) api.ImportRequest
		change  func(*moved, *resource.BootConfiguration)
		why     string
	}{
		{"the key is not accepted", func(*moved) api.ImportRequest { return api.ImportRequest{} }, nil, "which was not accepted"},
		{"the file names another key", func(*moved) api.ImportRequest {
			return api.ImportRequest{AcceptKeys: []string{api.AcceptAllKeys}, Keys: []api.ExportKey{{Rack: "r1", Key: wire.NewSigner(stolen).Public()}}}
		}, nil, "no key that the export names"},
		{"the key is of another rack", func(m *moved) api.ImportRequest {
			return api.ImportRequest{AcceptKeys: []string{api.AcceptAllKeys}, Keys: []api.ExportKey{{Rack: "r2", Key: m.keys[0].Key}}}
		}, nil, "no key that the export names"},
		{"never installed", func(m *moved) api.ImportRequest { return api.ImportRequest{AcceptKeys: []string{m.id}} }, func(_ *moved, cfg *resource.BootConfiguration) {
			cfg.Status = resource.BootConfigurationStatus{GrantFor: "disk"}
		}, "had no end that an agent recorded"},
		{"another image than the record's", func(m *moved) api.ImportRequest { return api.ImportRequest{AcceptKeys: []string{m.id}} }, func(_ *moved, cfg *resource.BootConfiguration) {
			cfg.Spec.Image.Digest = exampleDigest
		}, "another claim, server or image"},
		{"a word", func(m *moved) api.ImportRequest { return api.ImportRequest{AcceptKeys: []string{m.id}} }, func(_ *moved, cfg *resource.BootConfiguration) {
			cfg.Status = resource.BootConfigurationStatus{Adopted: &resource.Adopted{ImageDigest: cfg.Spec.Image.Digest, By: "x"}}
		}, "words were not accepted"},
		{"boot: Network", func(m *moved) api.ImportRequest { return api.ImportRequest{AcceptKeys: []string{m.id}} }, func(_ *moved, cfg *resource.BootConfiguration) {
			cfg.Spec.BootPolicy.Boot = resource.BootNetwork
		}, "needs a grant of this hub"},
	} {
		m := export(t)
		objs := m.objects()
		for _, o := range objs {
			if cfg, ok := o.(*resource.BootConfiguration); ok && c.change != nil {
				c.change(m, cfg)
			}
		}
		b := newBench(t, &movingTag{})
		got := m.into(b, c.request(m), objs...)
		if res := got["BootConfiguration/c1"]; res.Outcome != api.ImportDecision || !strings.Contains(res.Message, c.why) {
			t.Errorf("%s: %+v", c.name, res)
		}
		agent := b.join("r1")
		b.greets(agent)
		b.reports(agent, off("n1"), off("n2"))
		b.pass()
		cl := b.claim("c1")
		if conds := cl.Status.Conditions; b.configs() != 0 || len(conds) == 0 || conds[0].Code != resource.CondNeedsDecision || !strings.Contains(conds[0].Message, c.why) {
			t.Errorf("%s: %d configurations, conditions %+v", c.name, b.configs(), conds)
		}
		if err := b.adopt(api.AdoptRequest{Provisioned: cl.Spec.Image + "@" + exampleDigest}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		b.pass()
		if got := codes(b.claim("c1").Status.Conditions); strings.Contains(got, "NeedsDecision") || strings.Contains(got, "Reprovision") {
			t.Errorf("%s: adopted, conditions %s", c.name, got)
		}
	}
}

// Words count where whoever imports says so; the first one is kept in the reason.
func TestImportWords(t *testing.T) {
	m := export(t)
	objs := m.objects()
	for _, o := range objs {
		if cfg, ok := o.(*resource.BootConfiguration); ok {
			cfg.Status = resource.BootConfigurationStatus{Adopted: &resource.Adopted{ImageDigest: cfg.Spec.Image.Digest, By: "ann", Reason: "looked"}}
		}
	}
	b := newBench(t, &movingTag{})
	m.into(b, api.ImportRequest{AcceptWords: true}, objs...)
	if a := b.config("c1").Status.Adopted; a == nil || a.By != "admin" || !strings.Contains(a.Reason, "ann had said") {
		t.Errorf("%+v", a)
	}
}

// A key that is accepted later counts at the next import of the same file.
func TestImportAgainWithKey(t *testing.T) {
	m := export(t)
	b := newBench(t, &movingTag{})
	m.into(b, api.ImportRequest{})
	got := m.into(b, api.ImportRequest{AcceptKeys: []string{api.AcceptAllKeys}})
	if got["Claim/c1"].Outcome != api.ImportUnchanged || got["BootConfiguration/c1"].Outcome != api.ImportCreated {
		t.Errorf("%+v", got)
	}
	b.pass()
	if d := b.claim("c1").Status.Decision; d != nil {
		t.Errorf("the claim waits for %+v", d)
	}
}

// A hold that was released there may still lie at its agent: it comes as one that lies.
func TestImportOfReleasedHold(t *testing.T) {
	m := export(t)
	if _, err := m.from.store.Holds.Release(t.Context(), m.hold, "cluster", ""); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, &movingTag{})
	m.into(b, api.ImportRequest{})
	if h, err := store.Get[*resource.Hold](b.store.Objects, m.hold); err != nil || h.Status.ReleasedAt != nil {
		t.Errorf("%+v, %v", h, err)
	}
}

// The hub dies when an import was written and before anything was said of it: nothing is granted,
// and the same import again is no change.
func TestImportDies(t *testing.T) {
	m := export(t)
	b := newBench(t, &movingTag{})
	for n := range 2 {
		b.dies("hub.import.written", func() { m.into(b, api.ImportRequest{AcceptKeys: []string{m.id}}) })
		b.pass()
		for _, cfg := range store.List[*resource.BootConfiguration](b.store.Objects) {
			if len(cfg.Spec.Grant) != 0 {
				t.Fatalf("a grant after %d imports", n+1)
			}
		}
	}
	if cfg := b.config("c1"); !cfg.Installed() || b.claim("c1").Status.Server != "n1" {
		t.Errorf("%+v", cfg)
	}
}
