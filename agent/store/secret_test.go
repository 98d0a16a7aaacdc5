package store

import (
	"errors"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Credentials are written with the entry that brings them, stay with one that is
// refused or missing, and go when no server needs them.
func TestCredentialsFollowTheirEntries(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	version := uint64(0)
	entry := func(server, bmc, ref string) message.ServerIntent {
		return message.ServerIntent{Server: server, BMC: message.BMCIntent{Name: bmc, CredentialsRef: ref, Sealed: &message.SealedCredentials{Secret: resource.SecretOf(ref)}}}
	}
	doc := func(refuse bool, servers ...message.ServerIntent) {
		t.Helper()
		version++
		_, _, err := s.Documents.ApplyRack(message.RackDoc{Head: protocol.Head{Version: version}, Shards: 1, Servers: servers}, "d", func(in message.ServerIntent) (*Credentials, error) {
			name := resource.SecretOf(in.BMC.CredentialsRef)
			if refuse {
				return nil, errors.New("cannot be opened")
			}
			if name == "" {
				return nil, nil
			}
			return &Credentials{BMC: in.BMC.Name, Secret: name, Version: version, Box: []byte("box")}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(what, bmc string, at uint64) {
		t.Helper()
		c, err := s.Accounts.Credentials(bmc)
		if at == 0 && protocol.CodeOf(err) != protocol.CodeNotFound || at > 0 && (err != nil || c.Version != at || string(c.Box) != "box") {
			t.Errorf("%s: version %d of %s, %v; want %d", what, c.Version, bmc, err, at)
		}
	}
	doc(false, entry("n1", "b1", "secret:a"), entry("n2", "b2", "secret:a"))
	want("both", "b1", 1)
	want("both", "b2", 1)
	in, err := s.Servers.Overview()
	if err != nil || len(in.Intents) != 2 || in.Intents[0].BMC.Sealed != nil {
		t.Errorf("what came sealed is kept twice: %+v, %v", in.Intents, err)
	}
	doc(true, entry("n1", "b1", "secret:a"), entry("n2", "b2", "secret:a"))
	want("refused", "b1", 1)
	doc(false, entry("n2", "b2", "secret:a"))
	want("missing", "b1", 1)
	want("there", "b2", 3)
	doc(false, entry("n1", "b1", "secret:a"), entry("n2", "b2", "local:x"))
	want("there again", "b1", 4)
	want("local now", "b2", 0)
}
