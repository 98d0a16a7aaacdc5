package account

import (
	"testing"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// files are credentials at the agent, each with its name as the user.
type files struct{}

func (files) Read(name string) (bmc.Credentials, string, error) {
	return bmc.Credentials{Username: name}, "file " + name, nil
}

// keeper is without encryption: what is in the box is looked up.
type keeper map[string]message.BMCCredentials

func (k keeper) Open(_ string, s *message.SealedCredentials) (message.BMCCredentials, error) {
	return k[string(s.Ciphertext)], nil
}

func (k keeper) Reseal(name string, s *message.SealedCredentials) (*store.Credentials, error) {
	if s == nil {
		return nil, nil
	}
	return &store.Credentials{BMC: name, Secret: s.Secret, UID: s.UID, Version: s.Version, Box: s.Ciphertext}, nil
}

func (k keeper) Reveal(c store.Credentials) (message.BMCCredentials, error) {
	return k[string(c.Box)], nil
}

// Which account is in force: that of a file, of a question, or of the last document, and the next one of a
// change once that was proved.
func TestCredentials(t *testing.T) {
	st, err := store.Open(store.Config{DB: statetest.NewMemory(), NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	user := func(name string) resource.BMCAccount { return resource.BMCAccount{Username: name} }
	next := user("next")
	r := New(Config{Store: st.Accounts, Local: files{}, Secrets: keeper{
		"box": {BMCAccount: user("kept")}, "question": {BMCAccount: user("asked")},
		"change": {BMCAccount: user("kept"), Next: &next, Change: "c1"}, "of a file": {Local: "old", Next: &next, Change: "c1"},
	}})
	version := uint64(0)
	document := func(box string) {
		t.Helper()
		version++
		in := message.ServerIntent{Server: "n1", BMC: message.BMCIntent{Name: "b1", CredentialsRef: "secret:s", Sealed: &message.SealedCredentials{
			Secret: "s", UID: "u", Version: version, Ciphertext: []byte(box),
		}}}
		if _, _, err := st.Documents.ApplyRack(message.RackDoc{Head: protocol.Head{Version: version}, Shards: 1, Servers: []message.ServerIntent{in}}, "d", func(in message.ServerIntent) (*store.Credentials, error) {
			return r.Seal(in.BMC)
		}); err != nil {
			t.Fatal(err)
		}
	}
	phase := func(p decide.AccountPhase) {
		t.Helper()
		if err := st.Accounts.KeepChange(store.AccountChange{BMC: "b1", Change: "c1", Phase: p}); err != nil {
			t.Fatal(err)
		}
	}
	intent := func(ref string, sealed *message.SealedCredentials) message.BMCIntent {
		return message.BMCIntent{Name: "b1", CredentialsRef: ref, Sealed: sealed}
	}
	asks := func(version uint64) *message.SealedCredentials {
		return &message.SealedCredentials{Secret: "s", UID: "u", Version: version, Ciphertext: []byte("question")}
	}
	want := func(what string, in message.BMCIntent, user, stamp string, code protocol.Code) {
		t.Helper()
		c, s, err := r.Credentials(in)
		if c.Username != user || code == "" && s != stamp || protocol.CodeOf(err) != code {
			t.Errorf("%s: user %q, stamp %q, %v; want %q, %q, %q", what, c.Username, s, err, user, stamp, code)
		}
	}
	want("a file", intent("local:f", nil), "f", "file f", "")
	want("nothing came yet", intent("secret:s", nil), "", "", protocol.CodeNotFound)
	document("box")
	want("the document's", intent("secret:s", nil), "kept", "s u 1", "")
	want("of another secret", intent("secret:other", nil), "", "", protocol.CodeNotFound)
	want("a question of the same version", intent("secret:s", asks(1)), "asked", "s u 1", "")
	document("change")
	want("a question played back", intent("secret:s", asks(1)), "", "", protocol.CodeDenied)
	for p, user := range map[decide.AccountPhase]string{
		decide.AccountNew: "kept", decide.AccountWriting: "kept", decide.AccountProved: "next", decide.AccountRotated: "next", decide.AccountKept: "kept", decide.AccountLost: "kept",
	} {
		phase(p)
		stamp := "s u 2"
		if user == "next" {
			stamp += " next"
		}
		want("a change that is "+string(p), intent("secret:s", nil), user, stamp, "")
	}
	phase(decide.AccountWriting)
	document("of a file")
	want("a change from a file", intent("secret:s", nil), "old", "s u 3 file old", "")
	if a := r.Report(intent("secret:s", nil)); a == nil || a.Version != 3 || a.State != resource.AccountChanging || a.Change != "c1" {
		t.Errorf("report %+v", a)
	}
	if a := r.Report(intent("local:f", nil)); a != nil {
		t.Errorf("of a file: %+v", a)
	}
	_, err = r.Seal(intent("secret:other", asks(4)))
	if protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("sealed for another secret: %v", err)
	}
	if _, _, err := New(Config{Store: st.Accounts, Local: files{}}).Credentials(intent("secret:s", nil)); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("without a key for secrets: %v", err)
	}
}

// Credentials that cannot be read are named by whose they are.
func TestUnreadableCredentials(t *testing.T) {
	for ref, want := range map[string]resource.ConditionCode{"local:gone": resource.CondBMCCredentials, "secret:s": resource.CondCredentialsSealed} {
		_, err := New(Config{Local: noFiles{}}).Way("s1", message.BMCIntent{Name: "b1", CredentialsRef: ref}, "")
		if err == nil || resource.ConditionOf(err) != want || protocol.CodeOf(err) == protocol.CodeInternal {
			t.Errorf("%s: %q, %v", ref, resource.ConditionOf(err), err)
		}
	}
}

// noFiles is a folder without a file.
type noFiles struct{}

func (noFiles) Read(name string) (bmc.Credentials, string, error) {
	return bmc.Credentials{}, "", protocol.Errorf(protocol.CodeNotFound, "read credentials", "%s does not exist", name)
}
