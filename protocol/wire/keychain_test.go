package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

func chainKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func publicOf(name string) ed25519.PublicKey { return NewSigner(chainKey(name)).Public() }

// state is a chain whose everyday keys are the names in turn.
func chainOf(t *testing.T, names ...string) Keys {
	t.Helper()
	k := Keys{Everyday: publicOf(names[0])}
	for i, name := range names[1:] {
		var err error
		k, err = k.State(NewSigner(chainKey(names[i])), message.KeyStatement{Role: message.KeyEveryday, Key: publicOf(name), At: time.Unix(int64(i), 0)})
		if err != nil {
			t.Fatal(err)
		}
	}
	return k
}

func sealedStatement(t *testing.T, signer string, m message.KeyStatement) []byte {
	t.Helper()
	data, err := Seal(NewSigner(chainKey(signer)), FactKey, m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Whoever pinned any key of the chain comes to its end, and what was forged, forked,
// left out or taken back changes nothing.
func TestFollowKeys(t *testing.T) {
	full := chainOf(t, "a", "b", "c")
	first := Keys{Everyday: publicOf("a")}
	second := Keys{Everyday: publicOf("b"), Statements: full.Statements[:1]}
	next := func(signer string, m message.KeyStatement) [][]byte {
		if m.Role == "" {
			m.Role = message.KeyEveryday
		}
		return append(slices.Clone(full.Statements), sealedStatement(t, signer, m))
	}
	good := message.KeyStatement{Number: 3, Key: publicOf("d"), Replaces: publicOf("c"), Previous: Digest(full.Statements[1])}
	with := func(change func(*message.KeyStatement)) message.KeyStatement {
		m := good
		change(&m)
		return m
	}
	for _, c := range []struct {
		name    string
		from    Keys
		offered [][]byte
		want    string // the everyday key; empty is the one before, with an error that says
		why     string
	}{
		{"from the first", first, full.Statements, "c", ""},
		{"from the second", second, full.Statements, "c", ""},
		{"the same", full, full.Statements, "c", ""},
		{"none, to one that followed none", first, nil, "a", ""},
		{"one more", full, next("c", good), "d", ""},
		{"an old hub backup", full, full.Statements[:1], "", "rollback"},
		{"an older hub backup", full, nil, "", "rollback"},
		{"a fork from the middle", full, chainOf(t, "a", "x", "y").Statements, "", "fork"},
		{"a fork that is longer", second, chainOf(t, "a", "x", "y", "z").Statements, "", "fork"},
		{"signed by a stranger", full, next("stranger", good), "", "forged"},
		{"signed by the key before", full, next("b", good), "", "forged"},
		{"signed by itself", full, next("d", good), "", "forged"},
		{"a gap in the numbers", full, next("c", with(func(m *message.KeyStatement) { m.Number = 4 })), "", "gap"},
		{"after another statement", full, next("c", with(func(m *message.KeyStatement) { m.Previous = Digest(nil) })), "", "gap"},
		{"a link left out", first, full.Statements[1:], "", "forged"},
		{"takes over from another key", full, next("c", with(func(m *message.KeyStatement) { m.Replaces = publicOf("a") })), "", "fork"},
		{"a short key", full, next("c", with(func(m *message.KeyStatement) { m.Key = m.Key[:31] })), "", "malformed"},
		{"an unknown role", full, next("c", with(func(m *message.KeyStatement) { m.Role = "root" })), "", "malformed"},
		{"too many", first, make([][]byte, MaxStatements+1), "", "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.from.Follow(c.offered)
			if c.want == "" {
				if protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), c.why) {
					t.Errorf("got %v; it does not say %q", err, c.why)
				}
				if !got.Everyday.Equal(c.from.Everyday) || len(got.Statements) != len(c.from.Statements) {
					t.Error("the keys changed")
				}
				return
			}
			if err != nil || !got.Everyday.Equal(publicOf(c.want)) || len(got.Statements) != len(c.offered) {
				t.Errorf("%x after %d statements, %v", got.Everyday, len(got.Statements), err)
			}
		})
	}
}

// A destructive key is made by the everyday key once; after that only by itself.
func TestDestructiveKey(t *testing.T) {
	k := Keys{Everyday: publicOf("a")}
	state := func(signer, key string, role message.KeyRole) error {
		next, err := k.State(NewSigner(chainKey(signer)), message.KeyStatement{Role: role, Key: publicOf(key)})
		if err == nil {
			k = next
		}
		return err
	}
	if err := state("a", "d", message.KeyDestructive); err != nil {
		t.Fatal(err)
	}
	if err := state("a", "x", message.KeyDestructive); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("the everyday key made a second destructive key: %v", err)
	}
	if err := state("d", "x", message.KeyEveryday); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("the destructive key made an everyday key: %v", err)
	}
	if err := state("d", "e", message.KeyDestructive); err != nil {
		t.Error(err)
	}
	if err := state("a", "b", message.KeyEveryday); err != nil {
		t.Error(err)
	}
	again, err := (Keys{Everyday: publicOf("a")}).Follow(k.Statements)
	if err != nil || !again.Everyday.Equal(publicOf("b")) || !again.Destructive.Equal(publicOf("e")) {
		t.Errorf("%x, %x, %v", again.Everyday, again.Destructive, err)
	}
}

// An agent that joins pins the present key, and refuses a chain that leads elsewhere.
func TestPinKeys(t *testing.T) {
	full := chainOf(t, "a", "b", "c")
	if k, err := PinKeys(publicOf("c"), full.Statements); err != nil || !k.Everyday.Equal(publicOf("c")) || len(k.Statements) != 2 {
		t.Errorf("%+v, %v", k, err)
	}
	if k, err := PinKeys(publicOf("a"), nil); err != nil || !k.Everyday.Equal(publicOf("a")) {
		t.Errorf("%+v, %v", k, err)
	}
	for name, s := range map[string][][]byte{"too short": full.Statements[:1], "not its beginning": full.Statements[1:], "no statement": {{1, 2}}, "nil": {nil}} {
		if _, err := PinKeys(publicOf("c"), s); name != "not its beginning" && protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("%s: %v", name, err)
		} else if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// The comment table of follow is what it does.
func TestFollowTable(t *testing.T) {
	rows := map[string]string{}
	for _, o := range []offer{offerSame, offerLonger, offerBehind, offerOther} {
		for _, l := range []link{linkFits, linkGap, linkFork, linkForm, linkAlien} {
			rows[string(o)+" "+string(l)] = follow(o, l)
		}
	}
	table := doctable.Of(t, "keychain.go", "follow")
	for in, got := range rows {
		want, row := table.Answer(strings.Fields(in)...)
		if row < 0 || got != want[0] {
			t.Errorf("%s: %s, the table says %s", in, got, want)
		}
	}
}

func FuzzFollowKeys(f *testing.F) {
	k := Keys{Everyday: publicOf("a")}
	data, err := Seal(NewSigner(chainKey("a")), FactKey, message.KeyStatement{Number: 1, Role: message.KeyEveryday, Key: publicOf("b"), Replaces: publicOf("a")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte{0xd2, 0x84})
	f.Fuzz(func(t *testing.T, sealed []byte) {
		next, err := k.Follow([][]byte{sealed})
		if err == nil && !next.Everyday.Equal(publicOf("b")) {
			t.Errorf("followed to %x", next.Everyday)
		}
	})
}
