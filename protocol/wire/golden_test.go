package wire

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
)

var update = flag.Bool("update", false, "write the golden vectors")

type vector struct {
	file  string
	topic string
	msg   any
	empty any
}

func vectors() []vector {
	return []vector{
		{"hold.hex", protocol.TopicDown("rack-1", protocol.LeafHold), holdDoc(), &protocol.HoldDoc{}},
		{"rack-50-zstd.hex", protocol.TopicDown("rack-1", protocol.LeafRack+"/0"), rackDoc(50), &protocol.RackDoc{}},
		{"hello.hex", protocol.TopicUp("rack-1", protocol.LeafHello), hello(), &protocol.Hello{}},
		{"grant.hex", FactGrant, grant(), &protocol.Grant{}},
		{"provisioned.hex", FactProvisioned, provisioned(), &protocol.Provisioned{}},
		{"receipt.hex", FactReceipt, receipt(), &protocol.Receipt{}},
		{"sync.hex", protocol.TopicDown("rack-1", protocol.LeafSync), syncAnswer(), &protocol.Sync{}},
		{"applied.hex", protocol.TopicUp("rack-1", protocol.LeafApplied), applied(), &protocol.Applied{}},
		{"report.hex", protocol.TopicUp("rack-1", protocol.LeafReport), report(), &protocol.Report{}},
		{"event.hex", protocol.TopicUp("rack-1", protocol.LeafEvent), eventBatch(), &protocol.EventBatch{}},
		{"announce.hex", protocol.TopicAnnounce, announce(), &protocol.Announce{}},
	}
}

// The vectors hold the bytes that peers of other versions send. A change of one
// is a change of the protocol, except of the compressed one: a new release of
// the zstd library may pack differently, and must still read the old bytes.
func TestGoldenVectors(t *testing.T) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	var names []string
	for _, g := range vectors() {
		names = append(names, g.file)
		t.Run(g.file, func(t *testing.T) {
			path := filepath.Join("testdata", "v1", g.file)
			got, err := Seal(s, g.topic, g.msg)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(path, lines(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := hex.DecodeString(strings.ReplaceAll(string(text), "\n", ""))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("sealed bytes changed: %d bytes, %s; the file has %d bytes, %s", len(got), Digest(got), len(want), Digest(want))
			}
			if err := Open(v, g.topic, want, g.empty); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(g.msg, g.empty, equal()); diff != "" {
				t.Error(diff)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join("testdata", "v1", "*.hex"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors found (%v)", err)
	}
	for _, f := range files {
		if !slices.Contains(names, filepath.Base(f)) {
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
