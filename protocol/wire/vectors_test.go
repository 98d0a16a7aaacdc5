package wire

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol/message"
)

var update = flag.Bool("update", false, "write the vectors")

// The keys of the vectors; testdata/README.md names them.
const (
	keyHub   = "hub"
	keyAgent = "agent"
	keyOther = "other"

	keyDestructive = "destructive"
)

func vectorKeys() map[string]ed25519.PrivateKey {
	return map[string]ed25519.PrivateKey{keyHub: testKey(0), keyAgent: testKey(1), keyOther: testKey(2), keyDestructive: testKey(3)}
}

func agentKey() ed25519.PublicKey { return testKey(1).Public().(ed25519.PublicKey) }

// sealedFact is the fact of the vectors that has the topic.
func sealedFact(topic string) []byte {
	for _, g := range facts() {
		if g.topic == topic {
			data, err := Seal(NewSigner(vectorKeys()[g.key]), topic, g.msg)
			if err != nil {
				panic(err)
			}
			return data
		}
	}
	panic("no fact " + topic)
}

type vector struct {
	file  string // without its ending
	key   string
	topic string
	msg   any
	about string
}

func (g vector) empty(t testing.TB) any {
	k, ok := KindOf(g.topic)
	if !ok {
		t.Fatalf("%s: no message travels on %s", g.file, g.topic)
	}
	return k.New()
}

// facts are carried in other messages.
func facts() []vector {
	return []vector{
		{"grant", keyHub, FactGrant, grant(), "permission for one first boot; rack.hex carries these bytes"},
		{"grant-over", keyHub, FactGrant, grantOver(), "permission to install over what an earlier generation has installed"},
		{"grant-repeat", keyHub, FactGrant, grantRepeat(), "permission for each power-on of a maintenance"},
		{"provisioned", keyAgent, FactProvisioned, provisioned(), "record that a first boot ended; report.hex and rack-50-zstd.hex carry these bytes"},
		{"receipt", keyAgent, FactReceipt, receipt(), "proof that a held server is off; report.hex carries these bytes"},
		{"approval", keyDestructive, FactApproval, approval(), "approval of a release; hold.hex carries these bytes"},
		{"approval-wipe", keyDestructive, FactApproval, approvalWipe(), "approval of one boot that discards disks"},
		{"end-of-term", keyHub, FactEndOfTerm, endOfTerm(), "the agent's term is over; sync-ended.hex carries these bytes"},
		{"hub-head", keyHub, FactHubHead, hubHead(), "what the hub's store has; hello.hex and sync.hex carry these bytes"},
		{"key-statement", keyHub, FactKey, keyStatement(), "another key takes over; travels by HTTPS"},
		{"renewal", keyAgent, FactRenewal, renewal(), "asks for a certificate, by HTTPS"},
		{"beat", keyAgent, FactBeat, beat(), "an agent lives, to the other one of its rack; by UDP"},
		{"local-holds", keyAgent, FactLocalHolds, localHolds(), "what was placed at an agent whose rack was taken over; a person carries it"},
	}
}

// vectors are all messages, each with what it shows.
func vectors() []vector {
	down := func(leaf string) string { return message.TopicDown("rack-1", leaf) }
	up := func(leaf string) string { return message.TopicUp("rack-1", leaf) }
	return append(facts(), []vector{
		{"hello", keyAgent, up(message.LeafHello), hello(), "the nonce is that of announce.hex"},
		{"sync", keyHub, down(message.LeafSync), syncAnswer(), "answer to hello.hex, and the same unasked"},
		{"sync-acks", keyHub, down(message.LeafSync), syncAcks(), "acknowledgement of event.hex: null heads say nothing of documents"},
		{"sync-refused", keyHub, down(message.LeafSync), syncRefused(), "another agent has joined the rack"},
		{"sync-ended", keyHub, down(message.LeafSync), syncEnded(), "an operator ended the agent's term; it carries end-of-term.hex"},
		{"sync-again", keyHub, down(message.LeafSync), syncAgain(), "the Hello was not fresh: say it again with this nonce"},
		{"sync-renew", keyHub, down(message.LeafSync), syncRenew(), "the agent's disk was rolled back: it guards until somebody accepts that"},
		{"sync-copied", keyHub, down(message.LeafSync), syncCopied(), "two agents of one disk were heard, and somebody said which goes on"},
		{"announce", keyHub, message.TopicAnnounce, announce(), "a hub has started; agents answer within 50 s"},
		{"hold", keyHub, down(message.LeafHold), holdDoc(), "a hold, a release, a reboot and a power-off"},
		{"rack", keyHub, down(message.RackLeaf(0)), rackDoc(0, 1), "shard 0 with the rack, and one server with a grant for its first boot"},
		{"rack-50-zstd", keyHub, down(message.RackLeaf(1)), rackDoc(1, 50), "a full shard 1, compressed; the second entry echoes provisioned.hex"},
		{"applied", keyAgent, up(message.LeafApplied), applied(), "acknowledgement of hold.hex, with another digest"},
		{"applied-refused", keyAgent, up(message.LeafApplied), appliedRefused(), "refusal of a document of the older of two hubs"},
		{"report", keyAgent, up(message.LeafReport), report(), "one shard; the second hold is missing from the hub's document"},
		{"report-changes", keyAgent, up(message.LeafReport), reportChanges(), "what has changed since an earlier report of the session, and the digest of the whole shard"},
		{"report-reads", keyAgent, up(message.LeafReport), reportReads(), "how old the last recorded reads are: of a server that is read, and of one that was not read since the agent started"},
		{"report-as", keyAgent, up(message.LeafReport), reportAs(), "nothing has changed since report-reads.hex, but the first server was read again"},
		{"ask", keyHub, down(message.LeafAsk), ask(), "what is behind a BMC?"},
		{"answer", keyAgent, up(message.LeafAnswer), answer(), "nothing"},
		{"receipt-manual", keyAgent, FactReceipt, receiptManual(), "an operator's word about a server whose BMC does not answer"},
		{"answer-failed", keyAgent, up(message.LeafAnswer), answerFailed(), "it could not be read"},
		{"event", keyAgent, up(message.LeafEvent), eventBatch(), "a record of lost events, and one event"},
	}...)
}

// companion is what stands beside a vector for readers, and for programs that are
// compared with this one.
type companion struct {
	About      string         `json:"about"`
	Kind       string         `json:"kind"`
	Topic      string         `json:"topic"`
	Key        string         `json:"key"`
	KeyID      string         `json:"keyId"`
	Compressed bool           `json:"compressed"`
	Sealed     int            `json:"sealed"`
	Packed     int            `json:"packed"`
	Unpacked   int            `json:"unpacked"`
	Digest     string         `json:"digest"`
	Message    map[string]any `json:"message"`
}

func companionOf(t *testing.T, g vector, data []byte) []byte {
	t.Helper()
	e, err := Inspect(data)
	if err != nil {
		t.Fatal(err)
	}
	content, err := e.Content()
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := KindOf(g.topic)
	text, err := json.MarshalIndent(companion{
		g.about, kind.Name, g.topic, g.key, hex.EncodeToString(e.KeyID), e.Compressed, e.Sealed, e.Packed, e.Unpacked, e.Digest, content,
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// The vectors hold the bytes that peers of other versions send. A change of one
// is a change of the protocol, except of the compressed ones: a new release of
// the zstd library may pack differently, and must still read the old bytes.
func TestVectors(t *testing.T) {
	const dir = "v1"
	var files []string
	for _, g := range vectors() {
		files = append(files, g.file+".hex")
		t.Run(g.file, func(t *testing.T) {
			s := NewSigner(vectorKeys()[g.key])
			sealed, err := Seal(s, g.topic, g.msg)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				write(t, dir, g.file+".hex", lines(sealed))
			}
			data := readVector(t, dir, g.file)
			if string(sealed) != string(data) {
				t.Errorf("sealed bytes changed: %d bytes, %s; the file has %d bytes, %s", len(sealed), Digest(sealed), len(data), Digest(data))
			}
			msg := g.empty(t)
			if err := Open(NewVerifier(s.Public()), g.topic, data, msg); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(g.msg, msg, equal()); diff != "" {
				t.Error(diff)
			}
			golden(t, dir, g.file+".json", companionOf(t, g, data))
		})
	}
	noOthers(t, dir, files)
	t.Run("keys", func(t *testing.T) {
		type key struct {
			Seed   string `json:"seed"`
			Public string `json:"public"`
			KeyID  string `json:"keyId"`
		}
		keys := map[string]key{}
		for name, k := range vectorKeys() {
			public := k.Public().(ed25519.PublicKey)
			keys[name] = key{hex.EncodeToString(k.Seed()), hex.EncodeToString(public), hex.EncodeToString(KeyID(public))}
		}
		text, err := json.MarshalIndent(keys, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, dir, "keys.json", append(text, '\n'))
	})
}

// Every kind of message has a vector, and each of its fields is in one of them.
func TestVectorsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range vectors() {
		fieldsSeen(seen, reflect.ValueOf(g.msg))
	}
	for _, k := range Kinds() {
		fieldsOf(reflect.TypeOf(k.New()), func(owner reflect.Type, f field) {
			if name := owner.Name() + "." + f.name; !seen[name] {
				t.Errorf("no vector has %s", name)
			}
		})
	}
}

func golden(t *testing.T, dir, file string, got []byte) {
	t.Helper()
	if *update {
		write(t, dir, file, got)
	}
	want, err := os.ReadFile(filepath.Join("testdata", dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

func write(t *testing.T, dir, file string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join("testdata", dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", dir, file), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readVector(t testing.TB, dir, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", dir, file+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(strings.ReplaceAll(string(text), "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// noOthers wants the folder to hold these vectors and no other.
func noOthers(t *testing.T, dir string, want []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.hex"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors found (%v)", err)
	}
	for _, f := range files {
		if !slices.Contains(want, filepath.Base(f)) {
			t.Errorf("%s belongs to no test", f)
		}
	}
}

// lines is the vector's file: hexadecimal, 32 bytes to a line.
func lines(b []byte) (out []byte) {
	for part := range slices.Chunk(b, 32) {
		out = append(hex.AppendEncode(out, part), '\n')
	}
	return out
}

func TestDigest(t *testing.T) {
	// FIPS 180-4 example "abc".
	if got := Digest([]byte("abc")); got != "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(got)
	}
}
