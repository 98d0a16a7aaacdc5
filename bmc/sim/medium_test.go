package sim

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/bmc/sim/hardware"
)

// store serves one image, and notes what was asked.
type store struct {
	image []byte
	mu    sync.Mutex
	asked []string
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.Header.Get("Range"))
	s.mu.Unlock()
	if !strings.HasSuffix(r.URL.Path, ".iso") {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.image))
}

// A BMC that is given an image looks at it, and hands its host's reads on; one that keeps
// it reads it once.
func TestDrivesFetch(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		s := &store{image: bytes.Repeat([]byte("0123456789abcdef"), 16<<10)}
		web := httptest.NewServer(s)
		b, err := New(Config{Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Fetches: true, Personality: Plain()})
		if err != nil {
			t.Fatal(err)
		}
		b.Adjust(func(p *Personality) { p.Media.Keeps = keeps })
		h := b.hosts[0]
		slot := h.place.Media[0]
		insert := func(url string) *refusal {
			h.slots.mu.Lock()
			defer h.slots.mu.Unlock()
			return h.slots.take(slot, url)
		}
		if insert(web.URL+"/none") == nil || len(h.slots.inserted()) != 0 {
			t.Error("what is not there was inserted")
		}
		if refused := insert(web.URL + "/boot.iso"); refused != nil || len(h.slots.inserted()) != 1 {
			t.Fatalf("%+v", refused)
		}
		got, err := io.ReadAll(io.NewSectionReader(h.slots.inserted()[0], 0, h.slots.inserted()[0].Size))
		if err != nil || !bytes.Equal(got, s.image) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		want := []string{"HEAD ", "HEAD ", "GET bytes=0-65535"}
		if keeps {
			want = []string{"HEAD ", "HEAD ", "GET bytes=0-262143"}
		}
		if !slices.Equal(s.asked[:3], want) || keeps != (len(s.asked) == 3) {
			t.Errorf("asked %q, want %q first", s.asked, want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
	}
}
