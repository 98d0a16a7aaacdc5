package wire

import (
	"crypto/ed25519"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

func TestInspect(t *testing.T) {
	s, other := NewSigner(testKey(0)), NewSigner(testKey(1))
	topic := message.TopicDown("rack-1", message.RackLeaf(0))
	data, err := Seal(s, topic, bareShard(4))
	if err != nil {
		t.Fatal(err)
	}
	e, err := Inspect(data)
	if err != nil {
		t.Fatal(err)
	}
	if string(e.KeyID) != string(KeyID(s.Public())) || e.Algorithm != "EdDSA" || !e.Compressed || e.Sealed != len(data) || e.Digest != Digest(data) {
		t.Errorf("%+v", e)
	}
	if e.Packed >= e.Sealed || e.Unpacked <= CompressAbove || e.Unpacked <= e.Packed {
		t.Errorf("%d, %d, %d bytes", e.Sealed, e.Packed, e.Unpacked)
	}
	if !e.SignedBy(topic, s.Public()) || e.SignedBy(topic, other.Public()) || e.SignedBy(topic+"0", s.Public()) || e.SignedBy(topic, nil) {
		t.Error("signature")
	}
	var doc message.RackDoc
	if err := e.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bareShard(4), &doc, equal()); diff != "" {
		t.Error(diff)
	}
}

// What this version does not know is shown too.
func TestInspectShowsUnknownFields(t *testing.T) {
	payload := []byte("\xa4\x62no\x20\x63new\xa1\x05\x81\x41x\x65agent\x61a\x01\xf5")
	e, err := Inspect(forge(t, NewSigner(testKey(0)), "t", payload, nil))
	if err != nil {
		t.Fatal(err)
	}
	content, err := e.Content()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"no": int64(-1), "new": map[string]any{"5": []any{[]byte("x")}}, "agent": "a", "1": true}
	if diff := cmp.Diff(want, content); diff != "" {
		t.Error(diff)
	}
}

// What Open refuses for its form is refused, and still named by size and digest.
func TestInspectRefuses(t *testing.T) {
	for _, b := range badVectors(t) {
		e, err := Inspect(b.data)
		if e.Sealed != len(b.data) || e.Digest != Digest(b.data) {
			t.Errorf("%s: %+v", b.file, e)
		}
		if err == nil {
			continue // what only the signature or the content says
		}
		if b.code != protocol.CodeInvalid || protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", b.file, err)
		}
		if _, err := e.Content(); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: content %v", b.file, err)
		}
		if protocol.CodeOf(e.Decode(&message.HoldDoc{})) != protocol.CodeInvalid || e.SignedBy(badTopic, testKey(0).Public().(ed25519.PublicKey)) {
			t.Errorf("%s: is decoded", b.file)
		}
	}
}

func TestKindOf(t *testing.T) {
	for topic, want := range map[string]string{
		message.TopicDown("r", message.LeafHold):  "HoldDoc",
		message.TopicDown("r", "rack/3"):          "RackDoc",
		message.TopicDown("r", "rack/03"):         "",
		message.TopicDown("r", "rack"):            "",
		message.TopicDown("r", message.LeafSync):  "Sync",
		message.TopicUp("r", message.LeafHold):    "", // another direction
		message.TopicDown("r", message.LeafHello): "",
		message.TopicUp("r", message.LeafHello):   "Hello",
		message.TopicUp("r", message.LeafApplied): "Applied",
		message.TopicUp("r", message.LeafReport):  "Report",
		message.TopicUp("r", message.LeafEvent):   "EventBatch",
		message.TopicUp("r", "later"):             "",
		message.TopicAnnounce:                     "Announce",
		FactGrant:                                 "Grant",
		FactProvisioned:                           "Provisioned",
		FactReceipt:                               "Receipt",
		FactEndOfTerm:                             "EndOfTerm",
		FactHubHead:                               "HubHead",
		FactKey:                                   "KeyStatement",
		FactRenewal:                               "Renewal",
		FactBeat:                                  "Beat",
		FactLocalHolds:                            "LocalHolds",
		"":                                        "",
	} {
		if k, ok := KindOf(topic); k.Name != want || ok != (want != "") {
			t.Errorf("%q: %q", topic, k.Name)
		}
	}
}
