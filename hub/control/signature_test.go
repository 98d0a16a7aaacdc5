package control

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/images"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// signersOf proves every image by the key release, unless it fails.
type signersOf struct {
	err   error
	trust string // fingerprint of the key
	asked []string
}

func (s *signersOf) Verify(_ context.Context, reference, key string) (*resource.ISOSignature, error) {
	s.asked = append(s.asked, reference+" "+key)
	if s.err != nil {
		return nil, s.err
	}
	return &resource.ISOSignature{Scheme: resource.SignatureCosign, Key: "release", Fingerprint: s.trust, Keyring: resource.KeyringHub}, nil
}

func (s *signersOf) Trusts(proof resource.ISOSignature, key string) bool {
	return proof.Fingerprint == s.trust && (key == "" || key == proof.Key)
}

func wantsSignature(e *resource.BootImage) {
	for arch, a := range e.Spec.Architectures {
		a.Signature = &resource.ImageSignature{Scheme: resource.SignatureCosign, Key: "release"}
		e.Spec.Architectures[arch] = a
	}
}

func (b *bench) entryEvents() (n int) {
	for _, e := range b.control.Events.After(0, 1000) {
		if e.Code == resource.EventBootImage {
			n++
		}
	}
	return n
}

func noSignature() error {
	return protocol.Errorf(protocol.CodeNotFound, "check signature", "NoSignature: there is none").WithHint("sign it")
}

// A group gets no revision from an entry that is not proved; what is missing and what to do
// stands at group and entry. Once it is proved, the revision says by which key.
func TestGroupSignature(t *testing.T) {
	signers := &signersOf{err: noSignature(), trust: "AA"}
	b, _, agent := groupSite(t, optIn(resource.OptInAll), workers())
	b.signed = signers
	b.restart()
	b.greets(agent)
	b.apply(entryOf("1.0", wantsSignature), fromWorkers("c1", "n1"))
	b.pass()
	b.pass()
	b.wantHistory("not proved", "@0")
	b.wantConds("not proved", resource.CondImagesDegraded, resource.CondImageUnverified)
	if cfg := b.configOf("c1"); cfg != nil {
		t.Errorf("%+v", cfg)
	}
	e := b.bootImage("os-1-0")
	if c := e.Status.Conditions; len(c) != 1 || c[0].Code != resource.CondImageUnverified || !strings.Contains(c[0].Message, "amd64: ") || !strings.Contains(c[0].Message, "NoSignature") || !strings.Contains(c[0].Message, "sign it") {
		t.Errorf("%+v", c)
	}
	if got := b.control.boots.images.States(); got["failed"] != 1 || b.entryEvents() != 1 {
		t.Errorf("%v, %d events", got, b.entryEvents())
	}
	if err := testutil.GatherAndCompare(b.reg, strings.NewReader(`
# HELP rackboot_hub_pending What registries and vendors are asked for and have not given yet, by what: an image, the files of a boot image, or a signature.
# TYPE rackboot_hub_pending gauge
rackboot_hub_pending{what="files"} 0
rackboot_hub_pending{what="image"} 0
rackboot_hub_pending{what="signature"} 1
`), "rackboot_hub_pending"); err != nil {
		t.Error(err)
	}
	if want := []string{imageOf("1.0") + " release"}; !slices.Equal(signers.asked, want) {
		t.Errorf("asked for %v within the pause, want %v", signers.asked, want)
	}

	signers.err = nil
	b.now = b.now.Add(2 * time.Second)
	b.pass()
	b.pass()
	b.wantHistory("proved", "1:1.0/catalogue @1")
	_, digest := resource.SplitImage(imageOf("1.0"))
	want := resource.VerifiedFile{SHA256: digest, Scheme: resource.SignatureCosign, Key: "release", Keyring: resource.KeyringHub}
	if v := b.groupRevision(1).Spec.Verified["amd64"]; len(v) != 1 || v[0] != want {
		t.Errorf("%+v, want %+v", v, want)
	}
	if e := b.bootImage("os-1-0"); len(e.Status.Conditions) != 0 || e.Status.Verified[digest].Signature == nil || e.Status.Verified[digest].Digest != digest || b.entryEvents() != 2 {
		t.Errorf("%+v, %d events", e.Status, b.entryEvents())
	}
	if got := b.control.boots.images.States(); got["verified"] != 1 {
		t.Errorf("%v", got)
	}

	// What is proved stays so while its key is trusted, with the registry away.
	signers.err = protocol.Errorf(protocol.CodeUnavailable, "check signature", "registry is away")
	b.restart()
	b.greets(agent)
	b.pass()
	b.wantConds("the registry is away", resource.CondWaitingForStamp)
	if len(signers.asked) != 2 {
		t.Errorf("asked for %v", signers.asked[2:])
	}
	// Another key of the name proves anew. The revision that is there stays.
	signers.trust = "BB"
	b.restart()
	b.greets(agent)
	b.pass()
	b.wantHistory("another key", "1:1.0/catalogue @1")
	if len(signers.asked) != 3 || len(b.bootImage("os-1-0").Status.Conditions) != 1 || b.entryEvents() != 2 {
		t.Errorf("asked for %v, %d events: that a registry is away is none", signers.asked, b.entryEvents())
	}
}

func (b *bench) bootImage(name string) *resource.BootImage {
	b.t.Helper()
	e, err := store.Get[*resource.BootImage](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(e)
	return e
}

// A claim of an entry waits for its proof too, and for one that this hub cannot make.
func TestBootImageSignature(t *testing.T) {
	for name, row := range map[string]struct {
		signers images.Verifier
		want    string // of the condition; empty for a boot
	}{
		"proved":           {&signersOf{trust: "AA"}, ""},
		"not signed":       {&signersOf{err: noSignature()}, "NoSignature"},
		"nobody to ask":    {nil, "checks no signatures"},
		"registry is away": {&signersOf{err: protocol.Errorf(protocol.CodeUnavailable, "check signature", "no answer")}, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, &digestRegistry{})
			b.signed = row.signers
			b.restart()
			b.apply(append(storetest.Site(), entryOf("1.0", wantsSignature))...)
			m := b.modern(b.join("r1"))
			m.connects()
			m.reports(off("n1"), off("n2"))
			claim := storetest.Claim("c1", "n1")
			claim.Spec.Image = "bootimage/os-1-0"
			b.apply(claim)
			b.settles(m)
			b.settles(m)
			claim = b.claim("c1")
			b.control.Status.Decorate(claim)
			got := codes(claim.Status.Conditions)
			if row.want == "" {
				if cfg := b.configOf("c1"); cfg == nil || strings.Contains(got, string(resource.CondImageUnverified)) {
					t.Errorf("%+v, %s", cfg, got)
				}
				return
			}
			entry := b.bootImage("os-1-0").Status.Conditions
			if b.configOf("c1") != nil || !strings.Contains(got, string(resource.CondImageUnverified)) || len(entry) != 1 || !strings.Contains(entry[0].Message, row.want) {
				t.Errorf("the claim has %s, the entry %+v", got, entry)
			}
		})
	}
}

// Two architectures of one index need one proof, also after a crash behind it.
func TestBootImageSignatureOfIndex(t *testing.T) {
	signers := &signersOf{trust: "AA"}
	b := newBench(t, &digestRegistry{})
	b.signed = signers
	b.restart()
	b.apply(append(storetest.Site(), entryOf("1.0", func(e *resource.BootImage) {
		e.Spec.Architectures["arm64"] = e.Spec.Architectures["amd64"]
		wantsSignature(e)
	}))...)
	b.dies("hub.catalogue.verified", b.pass)
	b.pass()
	if e := b.bootImage("os-1-0"); len(signers.asked) != 1 || len(e.Status.Verified) != 1 || len(e.Status.Conditions) != 0 {
		t.Errorf("asked for %v, %+v", signers.asked, e.Status)
	}
}
