package images

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// registry resolves a tag to another digest each time, and does not answer while it is down.
type registry struct {
	down  bool
	asked int
}

func (g *registry) Resolve(_ context.Context, ref, arch string) (resource.Image, error) {
	if g.down {
		return resource.Image{}, protocol.Errorf(protocol.CodeUnavailable, "resolve", "registry does not answer")
	}
	g.asked++
	return resource.Image{Reference: ref, Digest: fmt.Sprintf("sha256:%064d", g.asked), Architecture: arch}, nil
}

func (g *registry) Require(resource.Image, protocol.BootTarget) error { return nil }

// Claims that wait for the same image are answered together, with what the registry says once; who
// comes later asks anew, and so does each who had no answer.
func TestManyWaitForOneImage(t *testing.T) {
	mem, now := storetest.NewMemory(), time.Unix(1, 0)
	clock := func() time.Time { return now }
	st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: clock, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	images := &registry{down: true}
	r := New(Config{BootImages: st.BootImages, Objects: st.Objects, Registry: images, Wake: wake.New(wake.Config{Store: st}), Clock: clock}).resolver
	of := func(claim string) Question {
		return Question{Asker: claim, Reference: "registry.example/os:1", Architecture: "amd64", Method: protocol.TargetUefiHTTP}
	}
	digests := func(claims ...string) (out []string) {
		for _, c := range claims {
			img, _ := r.get("rack/r1", of(c))
			if img == nil {
				out = append(out, "")
				continue
			}
			out = append(out, img.Digest[len(img.Digest)-1:])
		}
		return out
	}
	tries := func() {
		now = now.Add(resolvePauseMax)
		r.jobs.Work(t.Context())
	}
	first := []string{"c1", "c2", "c3"}
	digests(first...)
	tries()
	if got := digests(first...); !slices.Equal(got, []string{"", "", ""}) {
		t.Errorf("no registry answers, and there are %q", got)
	}
	images.down = false
	tries()
	if got := digests(first...); !slices.Equal(got, []string{"1", "1", "1"}) || images.asked != 1 {
		t.Errorf("got %q, asked %d times", got, images.asked)
	}
	later := []string{"c4", "c5", "c1"}
	digests(later...)
	tries()
	if got := digests(later...); !slices.Equal(got, []string{"2", "2", "1"}) || images.asked != 2 {
		t.Errorf("later got %q, asked %d times", got, images.asked)
	}
	for _, c := range []string{"c1", "c2", "c3", "c4", "c5"} {
		r.forgetOf(c)
	}
	if n := len(r.found) + len(r.last) + len(r.waits) + len(r.wanted); n != 0 {
		t.Errorf("%d are kept of claims that are gone", n)
	}
}
