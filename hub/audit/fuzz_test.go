package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Whatever is in the newest segment, the log opens, takes an entry, keeps what it found
// byte for byte, and can be read and exported.
func FuzzSegment(f *testing.F) {
	cfg := testConfig(f.TempDir())
	l := open(f, cfg)
	add(f, l, "Server/n1")
	closeLog(f, l)
	name := segmentName(1)
	good, err := os.ReadFile(filepath.Join(cfg.Dir, name))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-5])
	f.Add(bytes.Replace(good, []byte("n1"), []byte("n2"), 1))
	f.Add([]byte("\n\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg := testConfig(t.TempDir())
		if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cfg.Dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg.Registerer = prometheus.NewRegistry()
		l := open(t, cfg)
		e := add(t, l, "Server/after")
		if kept, err := os.ReadFile(filepath.Join(cfg.Dir, name)); err != nil || !bytes.HasPrefix(kept, data) {
			t.Errorf("%q was there, %q is: %v", data, kept, err)
		}
		list, next, err := l.Read(1, 1<<20)
		if err != nil || len(list) == 0 || list[len(list)-1].Seq != e.Seq || next != e.Seq+1 {
			t.Errorf("%d entries, %d next, %v", len(list), next, err)
		}
		var out bytes.Buffer
		if err := l.Export(t.Context(), &out, 0); err != nil {
			t.Error(err)
		}
		verified(t, l, e.Seq)
	})
}
