package store

import (
	"bufio"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestDeletionTable holds mayDelete against the table in the comment of Claims.Delete.
func TestDeletionTable(t *testing.T) {
	f, err := os.Open("deleteclaim.go")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]string
	for in := bufio.NewScanner(f); in.Scan(); {
		if text, ok := strings.CutPrefix(in.Text(), "//\t"); ok {
			cells := strings.Split(text, "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) != 8 || !slices.Equal(rows[0], []string{"claim goes", "holds lie", "reason", "foreign", "right", "outcome"}) {
		t.Fatalf("%q", rows)
	}
	used := map[int]bool{}
	for n := range 32 {
		in := make([]bool, 5)
		for i := range in {
			in[i] = n>>i&1 == 1
		}
		want, row := "", 0
		for i, cells := range rows[1:] {
			fits := true
			for j, c := range cells[:5] {
				fits = fits && (c == "*" || (c == "yes") == in[j])
			}
			if fits {
				want, row = cells[5], i
				break
			}
		}
		used[row] = true
		if got := string(mayDelete(in[0], in[1], in[2], in[3], in[4])); want == "" || !strings.HasPrefix(want, got) {
			t.Errorf("%v: %q, the table says %q", in, got, want)
		}
	}
	if len(used) != len(rows)-1 {
		t.Errorf("rows %v are used, of %d", used, len(rows)-1)
	}
}

// held is a store whose claim c1 has server n1, with holds of two owners on it.
func held(t *testing.T, mem *storetest.Memory) (s *Store, mine, theirs *resource.Hold) {
	t.Helper()
	s = open(t, mem)
	apply(t, s, append(storetest.Site(), storetest.Claim("c1", "n1"))...)
	c, err := Get[*resource.Claim](s.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}
	c.Status.Server = "n1"
	if err := s.Objects.Put(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if mine, err = s.Holds.Create(t.Context(), storetest.Hold("admin", "upgrade", "n1")); err != nil {
		t.Fatal(err)
	}
	if theirs, err = s.Holds.Create(t.Context(), storetest.Hold("ha", "fence", "n1")); err != nil {
		t.Fatal(err)
	}
	return s, mine, theirs
}

// V14, and metal3's seed 002 ("removes all annotations"): no hold is lost or inherited
// silently.
func TestDeleteClaimUnderHolds(t *testing.T) {
	s, mine, theirs := held(t, storetest.NewMemory())
	unchanged := func(why string) {
		t.Helper()
		if c, err := Get[*resource.Claim](s.Objects, "c1"); err != nil || c.Metadata.DeletedAt != nil || len(s.Holds.On("n1")) != 2 {
			t.Fatalf("%s: %+v, %v, %d holds", why, c, err, len(s.Holds.On("n1")))
		}
	}
	_, err := s.Delete(t.Context(), resource.KindClaim, "c1")
	wantCode(t, err, protocol.CodeConflict)
	for _, want := range []string{mine.Metadata.Name, theirs.Metadata.Name, `"admin"`, `"ha"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if hint := protocol.HintOf(err); !strings.Contains(hint, "--release-holds") {
		t.Errorf("hint %q", hint)
	}
	unchanged("refused")
	_, err = s.Claims.Delete(t.Context(), "c1", HoldRelease{By: "admin", Reason: "rack goes"})
	wantCode(t, err, protocol.CodeDenied)
	if strings.Contains(err.Error(), mine.Metadata.Name) || !strings.Contains(err.Error(), theirs.Metadata.Name) {
		t.Errorf("%v names other holds than the foreign one", err)
	}
	unchanged("denied")
	_, err = s.Claims.Delete(t.Context(), "c1", HoldRelease{By: "admin", Reason: strings.Repeat("x", 1025), BreakGlass: true})
	wantCode(t, err, protocol.CodeInvalid)
	unchanged("invalid")

	c, err := s.Claims.Delete(t.Context(), "c1", HoldRelease{By: "admin", Reason: "rack goes", BreakGlass: true})
	if err != nil || c.Metadata.DeletedAt == nil || len(s.Holds.On("n1")) != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, id := range []string{mine.Metadata.Name, theirs.Metadata.Name} {
		h, err := Get[*resource.Hold](s.Objects, id)
		if err != nil || h.Status.ReleasedBy != "admin" || h.Status.ReleaseReason != "rack goes" || h.Metadata.Annotations[AnnotationReleasedWith] != "Claim/c1" {
			t.Errorf("%+v, %v", h, err)
		}
	}
	// One that comes while the claim goes stays, and the deletion stays as it is.
	if _, err := s.Holds.Create(t.Context(), storetest.Hold("late", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), resource.KindClaim, "c1"); err != nil || len(s.Holds.On("n1")) != 1 {
		t.Errorf("%v, %d holds", err, len(s.Holds.On("n1")))
	}
}

// Cut off at any of its keys, nothing of it is done: the claim stays and the holds lie. There is
// no time at which the claim goes and holds are released in part.
func TestDeleteClaimIsWhole(t *testing.T) {
	const keys = 3 // the claim and two holds
	release := HoldRelease{By: "admin", Reason: "rack goes", BreakGlass: true}
	for cut := range keys {
		mem := storetest.NewMemory()
		s, _, _ := held(t, mem)
		left := cut
		mem.BeforeWrite = func(string) error {
			if left--; left < 0 {
				return errors.New("crash")
			}
			return nil
		}
		_, err := s.Claims.Delete(t.Context(), "c1", release)
		wantCode(t, err, protocol.CodeUnavailable)
		mem.BeforeWrite = nil
		s = open(t, mem)
		if c, err := Get[*resource.Claim](s.Objects, "c1"); err != nil || c.Metadata.DeletedAt != nil || len(s.Holds.On("n1")) != 2 {
			t.Errorf("cut at %d: %+v, %v, %d holds", cut, c, err, len(s.Holds.On("n1")))
		}
		if c, err := s.Claims.Delete(t.Context(), "c1", release); err != nil || c.Metadata.DeletedAt == nil || len(s.Holds.On("n1")) != 0 {
			t.Errorf("again after %d: %+v, %v, %d holds", cut, c, err, len(s.Holds.On("n1")))
		}
	}
}

// A hold that its owner releases just then is no reason to leave half undone.
func TestDeleteClaimBesideARelease(t *testing.T) {
	mem := storetest.NewMemory()
	s, mine, _ := held(t, mem)
	other := open(t, mem)
	once := sync.OnceFunc(func() {
		if _, err := other.Holds.Release(t.Context(), mine.Metadata.Name, "admin", ""); err != nil {
			t.Error(err)
		}
	})
	mem.BeforeWrite = func(key string) error {
		if key == keyOf(resource.KindClaim, "c1") {
			once()
		}
		return nil
	}
	c, err := s.Claims.Delete(t.Context(), "c1", HoldRelease{By: "admin", Reason: "rack goes", BreakGlass: true})
	if err != nil || c.Metadata.DeletedAt == nil || len(s.Holds.On("n1")) != 0 {
		t.Fatalf("%+v, %v, %d holds", c, err, len(s.Holds.On("n1")))
	}
	if h, err := Get[*resource.Hold](s.Objects, mine.Metadata.Name); err != nil || h.Status.ReleaseReason != "" {
		t.Errorf("the owner's release was replaced: %+v, %v", h, err)
	}
}
