package secret

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

const canary = "canary-9f1c"

func keeper(t *testing.T, agent string, k *sealbox.Key) *Keeper {
	t.Helper()
	if k == nil {
		var err error
		if k, err = sealbox.NewKey(); err != nil {
			t.Fatal(err)
		}
	}
	kp, err := New(agent, k)
	if err != nil {
		t.Fatal(err)
	}
	return kp
}

func sealed(t *testing.T, k *Keeper, version uint64) *message.SealedCredentials {
	t.Helper()
	s, err := sealbox.Seal(k.Public(), sealbox.Binding{Agent: k.agent, BMC: "b1", Secret: "bmc", UID: "u", Version: version}, message.BMCCredentials{
		BMCAccount: resource.BMCAccount{Username: "admin", Password: canary}, Next: &resource.BMCAccount{Username: "own", Password: canary},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is kept opens with the same key after a restart, as what it was kept for, and
// has nothing in clear.
func TestKept(t *testing.T) {
	raw := bytes.Repeat([]byte{7}, 32)
	key, err := sealbox.ParseKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	k := keeper(t, "r1-1", key)
	kept, err := k.Reseal("b1", sealed(t, k, 3))
	if err != nil || kept.BMC != "b1" || kept.Secret != "bmc" || kept.UID != "u" || kept.Version != 3 {
		t.Fatalf("%+v, %v", kept, err)
	}
	if bytes.Contains(kept.Box, []byte(canary)) || bytes.Contains(kept.Box, []byte("admin")) {
		t.Error("it is kept in clear")
	}
	if key, err = sealbox.ParseKey(raw); err != nil {
		t.Fatal(err)
	}
	if got, err := keeper(t, "r1-1", key).Reveal(*kept); err != nil || got.Password != canary || got.Next == nil || got.Next.Username != "own" {
		t.Errorf("after a restart: %v", err)
	}
	for name, change := range map[string]func(*store.Credentials) *Keeper{
		"another key":     func(*store.Credentials) *Keeper { return keeper(t, "r1-1", nil) },
		"another agent":   func(*store.Credentials) *Keeper { return keeper(t, "r1-2", key) },
		"another BMC":     func(c *store.Credentials) *Keeper { c.BMC = "b2"; return k },
		"another version": func(c *store.Credentials) *Keeper { c.Version = 4; return k },
		"another secret":  func(c *store.Credentials) *Keeper { c.UID = "v"; return k },
		"a flipped bit":   func(c *store.Credentials) *Keeper { c.Box[20] ^= 1; return k },
		"nothing":         func(c *store.Credentials) *Keeper { c.Box = nil; return k },
	} {
		c := *kept
		c.Box = bytes.Clone(kept.Box)
		if _, err := change(&c).Reveal(c); protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "" || strings.Contains(fmt.Sprint(err), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReseal(t *testing.T) {
	k := keeper(t, "r1-1", nil)
	if _, err := k.Reseal("b2", sealed(t, k, 1)); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("another BMC's: %v", err)
	}
	if _, err := k.Reseal("b1", nil); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("none: %v", err)
	}
	if _, err := k.Reseal("b1", sealed(t, keeper(t, "r1-1", nil), 1)); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("another key's: %v", err)
	}
}

// What is locked is bound to its name.
func TestBox(t *testing.T) {
	k := keeper(t, "r1-1", nil)
	locked := k.Lock("session/a", []byte(canary))
	if got, err := k.Unlock("session/a", locked); err != nil || string(got) != canary {
		t.Errorf("%q, %v", got, err)
	}
	for name, in := range map[string][]byte{"session/b": locked, "session/a": []byte("token in clear of a release before")} {
		if _, err := k.Unlock(name, in); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever a disk says was kept is refused, or is what was kept.
func FuzzReveal(f *testing.F) {
	key, err := sealbox.ParseKey(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		f.Fatal(err)
	}
	k, err := New("r1-1", key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("b1", []byte{})
	f.Add("b1", make([]byte, 12+16))
	f.Fuzz(func(t *testing.T, bmc string, box []byte) {
		if _, err := k.Reveal(store.Credentials{BMC: bmc, Box: box}); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("%v", err)
		}
	})
}
