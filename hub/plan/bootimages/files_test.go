package bootimages

import (
	"fmt"
	"slices"
	"testing"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// lined is a revision with one file for each architecture.
func lined(n int, files map[string]string) *resource.GroupRevision {
	r := revision(n, entry("1.0"), "a")
	r.Spec.Images = map[string]resource.Image{}
	for arch, digest := range files {
		r.Spec.Images[arch] = resource.Image{Artefacts: []resource.Artefact{{Digest: digest}}}
	}
	return r
}

// Row 21: current and last verified first, then from each group the newest; only what the
// rack's servers can boot, each file once, and no more than a document takes.
func TestFiles(t *testing.T) {
	at := func(name string, current, verified int) *resource.ServerGroup {
		return group(func(g *resource.ServerGroup) {
			g.Metadata.Name, g.Status.Revision, g.Status.Verified = name, current, verified
		})
	}
	a := KeepGroup{at("a", 12, 2), nil, []string{"amd64"}}
	for _, n := range []int{11, 12, 2, 3} { // as names are sorted
		a.History = append(a.History, lined(n, map[string]string{"amd64": fmt.Sprintf("a%d", n), "arm64": "never"}))
	}
	b := KeepGroup{at("b", 2, 2), []*resource.GroupRevision{lined(1, map[string]string{"amd64": "b1", "arm64": "b1arm"}), lined(2, map[string]string{"amd64": "b2"})}, []string{"amd64", "arm64"}}
	got := Files([]KeepGroup{a, b})
	if !slices.Equal(got.Always, []string{"a12", "a2", "b2"}) || !slices.Equal(got.Older, []string{"a11", "b1", "b1arm", "a3"}) {
		t.Errorf("%+v", got)
	}
	if got := Files([]KeepGroup{{at("c", 0, 0), nil, []string{"amd64"}}}); got != nil {
		t.Errorf("of a group without a history: %+v", got)
	}
	many := KeepGroup{at("d", 400, 399), nil, []string{"amd64"}}
	for n := range 400 {
		many.History = append(many.History, lined(n+1, map[string]string{"amd64": fmt.Sprint(n + 1)}))
	}
	if got = Files([]KeepGroup{many}); len(got.Always) != 2 || len(got.Always)+len(got.Older) != message.MaxKeep || got.Older[0] != "398" {
		t.Errorf("%d and %d files, the first %s", len(got.Always), len(got.Older), got.Older[0])
	}
}
