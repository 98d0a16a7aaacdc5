package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// list is a Set in memory.
type list []resource.Object

func (l list) Len() int                 { return len(l) }
func (l list) Kind(i int) resource.Kind { return l[i].Head().Kind }
func (l list) Name(i int) string        { return l[i].Head().Metadata.Name }

func (l list) Find(kind resource.Kind, name string) (int, bool) {
	i := slices.IndexFunc(l, func(o resource.Object) bool { return o.Head().Kind == kind && o.Head().Metadata.Name == name })
	return i, i >= 0
}

func (l list) Objects(of []int) (out []resource.Object, err error) {
	for _, i := range of {
		out = append(out, l[i])
	}
	return out, nil
}

func key(o resource.Object) string { return string(o.Head().Kind) + "/" + o.Head().Metadata.Name }

// fakeHub is a hub: it refuses a set with a reference to nothing, with a name that begins with bad, or with one that
// begins with denied, of which it does not say which. What begins with later it refuses only when it is written.
type fakeHub struct {
	stored map[string]string // key -> what of it matters
	writes int
	most   int
	// fails says what becomes of a write: none, cut before or after it was done, or in the middle.
	fails func(n int) string
}

func (h *fakeHub) Apply(_ context.Context, objs []resource.Object, dry bool) (out api.ApplyAnswer, err error) {
	h.most = max(h.most, len(objs))
	how := ""
	if !dry {
		h.writes++
		how = h.fails(h.writes)
	}
	lost := protocol.Errorf(protocol.CodeUnavailable, "apply", "connection reset")
	if how == "before" {
		return out, lost
	}
	in := map[string]bool{}
	for _, o := range objs {
		in[key(o)] = true
	}
	p := &api.Problem{Code: protocol.CodeInvalid, Status: 422, Detail: "some cannot be applied"}
	for i, o := range objs {
		name := o.Head().Metadata.Name
		if strings.HasPrefix(name, "denied") {
			return out, protocol.Errorf(protocol.CodeDenied, "apply", "you may not")
		}
		if strings.HasPrefix(name, "bad") || strings.HasPrefix(name, "later") && !dry {
			p.Errors = append(p.Errors, api.FieldProblem{Index: i, Path: "spec", Message: "is bad"})
		}
		for _, r := range o.(resource.Referrer).References() {
			if k := string(r.Kind) + "/" + r.Name; r.Name != "" && !in[k] && h.stored[k] == "" {
				p.Errors = append(p.Errors, api.FieldProblem{Index: i, Path: r.Path, Message: "does not exist"})
			}
		}
	}
	if len(p.Errors) > 0 {
		return out, p.Err()
	}
	for i, o := range objs {
		if how == "middle" && i == len(objs)/2 {
			return out, lost
		}
		r := api.ApplyResult{Outcome: "created"}
		is := fmt.Sprint(o.Head().Metadata.Labels)
		switch h.stored[key(o)] {
		case "":
		case is:
			r.Outcome = "unchanged"
		default:
			r.Outcome = "configured"
		}
		out.Results = append(out.Results, r)
		if !dry {
			h.stored[key(o)] = is
		}
	}
	if how == "after" {
		return api.ApplyAnswer{}, lost
	}
	return out, nil
}

func rack(name string) resource.Object {
	r := &resource.Rack{Header: resource.Header{Kind: resource.KindRack}}
	r.Metadata.Name = name
	return r
}

func bmc(name, rack string) resource.Object {
	b := &resource.BMC{Header: resource.Header{Kind: resource.KindBMC}, Spec: resource.BMCSpec{RackRef: resource.Ref{Name: rack}}}
	b.Metadata.Name = name
	return b
}

func server(name, bmc string) *resource.Server {
	s := &resource.Server{Header: resource.Header{Kind: resource.KindServer}, Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: bmc}}}
	s.Metadata.Name = name
	return s
}

// run applies a set, and says each outcome. Each has one, at most.
func run(ctx context.Context, t interface{ Fatalf(string, ...any) }, set list, hub *fakeHub, most int, keep bool) (map[string]string, *Job, error) {
	got := map[string]string{}
	j := New(set, hub, Options{KeepGoing: keep, Progress: func(string, int) {}, Each: func(r Result) error {
		k := string(r.Kind) + "/" + r.Name
		if got[k] != "" || r.Outcome == Refused && r.Err == nil {
			t.Fatalf("%s %s after %s", k, r.Outcome, got[k])
		}
		got[k] = r.Outcome
		return nil
	}})
	j.most = most
	err := j.Run(ctx)
	total := 0
	for _, n := range j.Counts() {
		total += n
	}
	if total != len(set) {
		t.Fatalf("%v of %d", j.Counts(), len(set))
	}
	return got, j, err
}

// Whatever is in a set, in which order, how large its parts are, and where connections are cut: either the check
// refuses something and nothing is written, or all is there but what is refused and what rests on that. Each
// has its result, and that is true.
func TestAnySplitIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := func(i int) string {
			return rapid.SampledFrom([]string{"n", "n", "n", "n", "n", "n", "n", "n", "later", "bad", "denied"}).Draw(rt, "sort") + fmt.Sprint(i)
		}
		var set list
		var racks, bmcs []string
		for i := range rapid.IntRange(1, 4).Draw(rt, "racks") {
			racks = append(racks, name(i))
			set = append(set, rack(racks[i]))
		}
		for i := range rapid.IntRange(0, 20).Draw(rt, "bmcs") {
			bmcs = append(bmcs, name(i))
			set = append(set, bmc(bmcs[i], rapid.SampledFrom(racks).Draw(rt, "rack")))
			set = append(set, server(name(i), bmcs[i]))
		}
		set = rapid.Permutation(set).Draw(rt, "order")
		keep := rapid.Bool().Draw(rt, "keep going")
		cuts := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "before", "middle", "after"}), 60, 60).Draw(rt, "cuts")
		hub := &fakeHub{stored: map[string]string{}, fails: func(n int) string {
			if n < len(cuts) {
				return cuts[n]
			}
			return ""
		}}
		most := rapid.IntRange(1, 50).Draw(rt, "most")
		var got map[string]string
		synctest.Test(t, func(st *testing.T) {
			var j *Job
			var err error
			if got, j, err = run(st.Context(), rt, set, hub, most, keep); err != nil {
				rt.Fatalf("%v", err)
			}
			if !j.Wrote() && len(hub.stored) > 0 {
				rt.Fatalf("it wrote nothing, and there is %v", hub.stored)
			}
		})
		begins := func(o resource.Object, words ...string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(o.Head().Metadata.Name, w) })
		}
		// What should be of each: of itself, and of what it refers to.
		var whole func(o resource.Object) bool
		whole = func(o resource.Object) bool {
			if begins(o, "bad", "denied", "later") {
				return false
			}
			for _, r := range o.(resource.Referrer).References() {
				if i, there := set.Find(r.Kind, r.Name); there && !whole(set[i]) {
					return false
				}
			}
			return true
		}
		stops := !keep && slices.ContainsFunc(set, func(o resource.Object) bool { return begins(o, "bad", "denied") })
		for _, o := range set {
			k := key(o)
			switch {
			case stops && hub.stored[k] != "", !stops && (hub.stored[k] != "") != whole(o):
				rt.Fatalf("%s is stored: %t", k, hub.stored[k] != "")
			case !stops && whole(o) && got[k] != "created":
				rt.Fatalf("%s is %q", k, got[k])
			case !stops && !whole(o) && got[k] != Refused && got[k] != NotTried:
				rt.Fatalf("%s is %q", k, got[k])
			}
		}
		if hub.most > most*5 {
			rt.Fatalf("a request had %d resources, of parts of %d", hub.most, most)
		}
	})
}

// An apply that was interrupted goes on when it is run again: what is there is unchanged.
func TestInterruptedGoesOn(t *testing.T) {
	set := list{rack("r1")}
	for i := range 40 {
		set = append(set, bmc(fmt.Sprintf("b%d", i), "r1"), server(fmt.Sprintf("n%d", i), fmt.Sprintf("b%d", i)))
	}
	hub := &fakeHub{stored: map[string]string{}}
	ctx, stop := context.WithCancel(t.Context())
	hub.fails = func(n int) string {
		if n == 4 {
			stop()
			return "middle"
		}
		return ""
	}
	counts := map[string]int{}
	j := New(set, hub, Options{Progress: func(string, int) {}, Each: func(r Result) error { counts[r.Outcome]++; return nil }})
	j.most = 10
	if err := j.Run(ctx); err == nil || counts["created"] != 30 || counts[Unknown] != 10 || j.Counts()[NotTried] != 41 {
		t.Fatalf("%v, %v, %v", err, counts, j.Counts())
	}
	hub.fails = func(int) string { return "" }
	again, _, err := run(t.Context(), t, set, hub, 10, false)
	made := slices.Sorted(maps.Values(again))
	if n := len(slices.DeleteFunc(slices.Clone(made), func(s string) bool { return s != "unchanged" })); err != nil || n != 35 || len(hub.stored) != len(set) {
		t.Errorf("%v, %d unchanged, %d stored", err, n, len(hub.stored))
	}
}

// A hub that stays away ends it, and what was sent and not answered is said to be unknown.
func TestHubStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &fakeHub{stored: map[string]string{}, fails: func(n int) string {
			if n > 1 {
				return "before"
			}
			return ""
		}}
		got, j, err := run(t.Context(), t, list{rack("r1"), rack("r2"), rack("r3")}, hub, 1, false)
		if protocol.CodeOf(err) != protocol.CodeUnavailable || got["Rack/r1"] != "created" || got["Rack/r2"] != Unknown || j.Counts()[NotTried] != 1 {
			t.Errorf("%v, %v, %v", err, got, j.Counts())
		}
	})
}

// One bad resource among 10,000 is named, and nothing is written.
func TestOneBadAmongMany(t *testing.T) {
	var set list
	for i := range 10_000 {
		set = append(set, rack(fmt.Sprintf("r%d", i)))
	}
	set[7_777] = rack("bad")
	hub := &fakeHub{stored: map[string]string{}, fails: func(int) string { return "" }}
	got, _, err := run(t.Context(), t, set, hub, partMost, false)
	if err != nil || hub.writes > 0 || got["Rack/bad"] != Refused || len(got) != 1 {
		t.Errorf("%v, %d writes, %v", err, hub.writes, got)
	}
}

// Two servers of different parts with one MAC address are found before anything is written.
func TestSameAddressInTwoParts(t *testing.T) {
	a, b := server("a", ""), server("b", "")
	a.Spec.BootMAC, b.Spec.BootMAC = "52:54:00:00:00:01", "52:54:00:00:00:01"
	hub := &fakeHub{stored: map[string]string{}, fails: func(int) string { return "" }}
	got, _, err := run(t.Context(), t, list{a, b}, hub, 1, false)
	if err != nil || hub.writes > 0 || got["Server/b"] != Refused || got["Server/a"] != "" {
		t.Errorf("%v, %v", err, got)
	}
}

// Who is not known is told so, and not once for each resource.
func TestUnknownCaller(t *testing.T) {
	p := &api.Problem{Code: protocol.CodeDenied, Status: 401, Detail: "who are you"}
	calls := 0
	j := New(list{rack("r1"), rack("r2")}, hubFunc(func() error { calls++; return p.Err() }), Options{Each: func(Result) error { return nil }, Progress: func(string, int) {}})
	if err := j.Run(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied || calls != 1 {
		t.Errorf("%v, %d calls", err, calls)
	}
}

// What lets a server go is written after everything else.
func TestReleasesComeLast(t *testing.T) {
	set := list{rack("r1"), server("n1", ""), server("n2", "")}
	var order []string
	hub := releasing(func(objs []resource.Object) {
		for _, o := range objs {
			order = append(order, o.Head().Metadata.Name)
		}
	})
	j := New(set, hub, Options{Each: func(Result) error { return nil }, Progress: func(string, int) {}})
	if err := j.Run(t.Context()); err != nil || !slices.Equal(order, []string{"r1", "n2", "n1"}) {
		t.Errorf("%v, %v", err, order)
	}
}

type hubFunc func() error

func (f hubFunc) Apply(context.Context, []resource.Object, bool) (api.ApplyAnswer, error) {
	return api.ApplyAnswer{}, f()
}

// releasing is a hub that releases a hold of n1.
type releasing func(written []resource.Object)

func (f releasing) Apply(_ context.Context, objs []resource.Object, dry bool) (out api.ApplyAnswer, err error) {
	for _, o := range objs {
		r := api.ApplyResult{Outcome: "configured"}
		if o.Head().Metadata.Name == "n1" {
			r.Reboots = []api.RebootResult{{Outcome: "released"}}
		}
		out.Results = append(out.Results, r)
	}
	if !dry {
		f(objs)
	}
	return out, nil
}

// A word of a newer hub is none of those that are known; only errors of resources are asked about one by one.
func TestWords(t *testing.T) {
	for _, w := range words {
		if outcomeOf(w).String() != w {
			t.Error(w)
		}
	}
	if outcomeOf("replaced").final() || ofObjects(errors.New("x")) || !ofObjects(protocol.Errorf(protocol.CodeDenied, "", "x")) {
		t.Error("an unknown word is final, or an error of nobody is of a resource")
	}
}
