package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rackboot/protocol"
	"rackboot/state"
)

func create(key, value string) state.Op {
	return state.Op{Kind: state.OpCreate, Key: key, Value: []byte(value)}
}

func update(key, value string, revision uint64) state.Op {
	return state.Op{Kind: state.OpUpdate, Key: key, Value: []byte(value), Revision: revision}
}

func remove(key string, revision uint64) state.Op {
	return state.Op{Kind: state.OpDelete, Key: key, Revision: revision}
}

func check(key string, revision uint64) state.Op {
	return state.Op{Kind: state.OpCheck, Key: key, Revision: revision}
}

// all is what the store lists, as "key=value".
func all(ctx context.Context, t *testing.T, kv state.KV) (out []string) {
	t.Helper()
	entries, _, err := kv.List(ctx, "")
	must(t, err)
	for _, e := range entries {
		out = append(out, shown(e))
	}
	return out
}

func made(ctx context.Context, t *testing.T, kv state.KV, key, value string) uint64 {
	t.Helper()
	r, err := kv.Create(ctx, key, []byte(value))
	must(t, err)
	return r
}

// kvCommit mixes all kinds of ops, with keys that were deleted and keys that never were.
func kvCommit(ctx context.Context, t *testing.T, kv state.KV) {
	a, b, rests := made(ctx, t, kv, "a", "1"), made(ctx, t, kv, "b", "1"), made(ctx, t, kv, "rests.on", "1")
	gone := made(ctx, t, kv, "gone", "1")
	must(t, kv.Delete(ctx, "gone", gone))
	must(t, kv.Delete(ctx, "absent", made(ctx, t, kv, "absent", "1")))
	_, before, err := kv.List(ctx, "")
	must(t, err)
	watch, err := kv.Watch(ctx, "", before)
	must(t, err)

	revs, err := kv.Commit(ctx, []state.Op{
		check("rests.on", rests), update("a", "2", a), check("absent", 0), remove("b", b), create("gone", "2"), check("never", 0), create("new", ""),
	})
	wantKV(t, "commit", err, nil)
	if len(revs) != 7 || revs[0] != 0 || revs[2] != 0 || revs[5] != 0 {
		t.Fatalf("the revisions are %d", revs)
	}
	if w := []uint64{revs[1], revs[3], revs[4], revs[6]}; w[0] <= before || w[1] != w[0]+1 || w[2] != w[0]+2 || w[3] != w[0]+3 {
		t.Errorf("the revisions %d do not follow one another after %d", w, before)
	}
	want(t, all(ctx, t, kv), "a=2", "gone=2", "new=", "rests.on=1")
	select {
	case change := <-watch:
		var got []string
		for i, e := range change {
			got = append(got, shown(e))
			if at := revs[1] + uint64(i); e.Revision != at {
				t.Errorf("%s is at revision %d, want %d", e.Key, e.Revision, at)
			}
		}
		want(t, got, "a=2", "-b", "gone=2", "new=")
	case <-ctx.Done():
		t.Fatal("no change")
	}
	// What it returned is what the next write of each key expects.
	revs, err = kv.Commit(ctx, []state.Op{update("a", "3", revs[1]), create("b", "3"), remove("gone", revs[4]), check("new", revs[6])})
	wantKV(t, "the next commit", err, nil)
	want(t, all(ctx, t, kv), "a=3", "b=3", "new=", "rests.on=1")
	if e, err := kv.Get(ctx, "b"); err != nil || e.Revision != revs[1] {
		t.Errorf("b is %+v, %v, and the commit said revision %d", e, err, revs[1])
	}
	// Keys below a prefix are the whole change of who watches only those.
	some, err := kv.Watch(ctx, "p.", revs[2])
	must(t, err)
	_, err = kv.Commit(ctx, []state.Op{create("o.1", "1"), create("p.1", "1"), create("q.1", "1"), create("p.2", "1"), create("r.1", "1")})
	wantKV(t, "commit over prefixes", err, nil)
	if change := <-some; len(change) != 2 || change[0].Key != "p.1" || change[1].Key != "p.2" {
		t.Errorf("below p. the change is %+v", change)
	}
}

// kvCommitRefused has one wrong expectation in each row.
func kvCommitRefused(ctx context.Context, t *testing.T, kv state.KV) {
	a := made(ctx, t, kv, "a", "1")
	b0 := made(ctx, t, kv, "b", "0")
	b, err := kv.Update(ctx, "b", []byte("1"), b0)
	must(t, err)
	gone := made(ctx, t, kv, "gone", "1")
	must(t, kv.Delete(ctx, "gone", gone))
	before := all(ctx, t, kv)
	for name, c := range map[string]struct {
		ops  []state.Op
		keys string
	}{
		"create of what exists":      {[]state.Op{create("b", "x"), update("a", "x", a)}, "b"},
		"update at an old revision":  {[]state.Op{update("a", "x", a), update("b", "x", b0)}, "b"},
		"update at a later revision": {[]state.Op{update("a", "x", a), update("b", "x", b+100)}, "b"},
		"update of nothing":          {[]state.Op{update("a", "x", a), update("never", "x", a)}, "never"},
		"update at revision 0":       {[]state.Op{update("a", "x", a), update("b", "x", 0)}, "b"},
		"update of what is deleted":  {[]state.Op{update("gone", "x", gone), update("a", "x", a)}, "gone"},
		"delete at an old revision":  {[]state.Op{remove("b", b0), remove("a", a)}, "b"},
		"delete of nothing":          {[]state.Op{remove("never", 3), remove("a", a)}, "never"},
		"delete at revision 0":       {[]state.Op{remove("a", a), remove("b", 0)}, "b"},
		"check at an old revision":   {[]state.Op{check("b", b0), create("new", "x"), remove("a", a)}, "b"},
		"check of nothing":           {[]state.Op{create("new", "x"), check("never", b)}, "never"},
		"check that nothing is":      {[]state.Op{create("new", "x"), check("b", 0)}, "b"},
		"check of what is deleted":   {[]state.Op{create("new", "x"), check("gone", gone)}, "gone"},
		"two of them":                {[]state.Op{create("a", "x"), create("new", "x"), update("b", "x", b0), create("gone", "x")}, "a b"},
	} {
		_, err := kv.Commit(ctx, c.ops)
		wantKV(t, name, err, state.ErrConflict)
		if got := strings.Join(state.Conflicting(err), " "); got != c.keys {
			t.Errorf("%s: the conflict names %q, want %q", name, got, c.keys)
		}
		want(t, all(ctx, t, kv), before...)
	}
	_, err = kv.Commit(ctx, []state.Op{update("a", "2", a), update("b", "2", b)})
	wantKV(t, "with what is right", err, nil)
}

func kvCommitInvalid(ctx context.Context, t *testing.T, kv state.KV) {
	a := made(ctx, t, kv, "a", "1")
	many := make([]state.Op, state.MaxOps+1)
	for i := range many {
		many[i] = create(fmt.Sprintf("m.%04d", i), "")
	}
	large := []state.Op{create("l", strings.Repeat("x", state.MaxCommitBytes)), create("m", "")}
	for name, ops := range map[string][]state.Op{
		"no ops":                {},
		"nothing written":       {check("a", a), check("b", 0)},
		"one check":             {check("a", a)},
		"a key twice":           {create("b", ""), update("a", "x", a), remove("b", 1)},
		"a key also checked":    {update("a", "x", a), check("a", a)},
		"too many":              many,
		"too large":             large,
		"no key":                {create("b", ""), create("", "")},
		"a wildcard":            {create("b", ""), create("c.*", "")},
		"a wildcard checked":    {create("b", ""), check("a.>", 0)},
		"created at a revision": {create("b", ""), {Kind: state.OpCreate, Key: "c", Revision: 1}},
		"no kind":               {create("b", ""), {Key: "c"}},
	} {
		if _, err := kv.Commit(ctx, ops); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	want(t, all(ctx, t, kv), "a=1")
}

func kvCommitOne(ctx context.Context, t *testing.T, kv state.KV) {
	one := func(o state.Op) uint64 {
		t.Helper()
		revs, err := kv.Commit(ctx, []state.Op{o})
		wantKV(t, string(o.Kind), err, nil)
		if len(revs) != 1 || revs[0] == 0 {
			t.Fatalf("the revisions are %d", revs)
		}
		return revs[0]
	}
	r1 := one(create("a", "1"))
	r2 := one(update("a", "2", r1))
	for _, o := range []state.Op{create("a", "x"), update("a", "x", r1), remove("a", r1), update("b", "x", r1)} {
		_, err := kv.Commit(ctx, []state.Op{o})
		wantKV(t, string(o.Kind), err, state.ErrConflict)
		want(t, state.Conflicting(err), o.Key)
	}
	r3 := one(remove("a", r2))
	r4 := one(create("a", "4"))
	if r2 <= r1 || r3 <= r2 || r4 <= r3 {
		t.Errorf("the revisions are %d, %d, %d, %d", r1, r2, r3, r4)
	}
	watch, err := kv.Watch(ctx, "", 0)
	must(t, err)
	want(t, take(ctx, t, watch, 4), "a=1", "a=2", "-a", "a=4")
}

// kvCommitMost writes as many ops, and as many bytes, as a commit may have.
func kvCommitMost(ctx context.Context, t *testing.T, kv state.KV) {
	ops := make([]state.Op, state.MaxOps)
	for i := range ops {
		ops[i] = create(fmt.Sprintf("m.%04d", i), strconv.Itoa(i))
	}
	revs, err := kv.Commit(ctx, ops)
	wantKV(t, "the most ops", err, nil)
	if entries, _, err := kv.List(ctx, "m."); err != nil || len(entries) != len(ops) {
		t.Errorf("%d of %d keys, %v", len(entries), len(ops), err)
	}
	watch, err := kv.Watch(ctx, "", 0)
	must(t, err)
	if change := <-watch; len(change) != len(ops) || change[len(ops)-1].Revision != revs[len(ops)-1] {
		t.Errorf("the change has %d entries", len(change))
	}
	const values = 16
	ops = ops[:values]
	for i := range ops {
		key := fmt.Sprintf("large.%02d", i)
		ops[i] = create(key, string(bytes.Repeat([]byte{byte(i)}, state.MaxCommitBytes/values-len(key))))
	}
	_, err = kv.Commit(ctx, ops)
	wantKV(t, "the most bytes", err, nil)
	for _, o := range ops {
		if e, err := kv.Get(ctx, o.Key); err != nil || !bytes.Equal(e.Value, o.Value) {
			t.Errorf("%s has %d bytes, %v", o.Key, len(e.Value), err)
		}
	}
}

// kvCommitRace has commits over crossing keys from the same revisions: exactly one wins.
func kvCommitRace(ctx context.Context, t *testing.T, kv state.KV) {
	const rounds, racers = 20, 3
	keys := []string{"r.a", "r.b", "r.c"}
	at := map[string]uint64{}
	for _, k := range keys {
		at[k] = made(ctx, t, kv, k, "")
	}
	for round := range rounds {
		var mu sync.Mutex
		var winners []string
		var wg sync.WaitGroup
		next := map[string]uint64{}
		for racer := range racers {
			// Each writes two of the keys, in another order, and rests on the third.
			x, y, z := keys[racer], keys[(racer+1)%3], keys[(racer+2)%3]
			value := fmt.Sprintf("%d.%d", round, racer)
			wg.Go(func() {
				revs, err := kv.Commit(ctx, []state.Op{update(x, value, at[x]), update(y, value, at[y]), check(z, at[z])})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					winners = append(winners, value)
					next[x], next[y], next[z] = revs[0], revs[1], at[z]
				case !errors.Is(err, state.ErrConflict):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(winners) != 1 {
			t.Fatalf("round %d was won by %q", round, winners)
		}
		got := 0
		for _, k := range keys {
			e, err := kv.Get(ctx, k)
			must(t, err)
			if string(e.Value) == winners[0] {
				got++
			}
			if e.Revision != next[k] {
				t.Errorf("%s is at revision %d, want %d", k, e.Revision, next[k])
			}
		}
		if got != 2 {
			t.Errorf("round %d: %d keys have what %s wrote", round, got, winners[0])
		}
		at = next
	}
}

// groups is what a reader has of keys "g.<group>.<n>": of each group all keys have one value, or
// none is there.
type groups map[string]string

func (g groups) apply(change []state.Entry) {
	for _, e := range change {
		if g[e.Key] = string(e.Value); e.Deleted {
			delete(g, e.Key)
		}
	}
}

// torn names a group of which a part is newer than the rest.
func (g groups) torn(size int) string {
	values, count := map[string]string{}, map[string]int{}
	for key, value := range g {
		group := key[:strings.LastIndexByte(key, '.')]
		if was, ok := values[group]; ok && was != value {
			return fmt.Sprintf("%s has values %s and %s", group, was, value)
		}
		values[group] = value
		count[group]++
	}
	for group, n := range count {
		if n != size {
			return fmt.Sprintf("%s has %d keys of %d", group, n, size)
		}
	}
	return ""
}

// kvCommitWhole: writers commit groups of keys, which each commit creates, updates or deletes as a
// whole, and write other keys between. Readers list, and watch from where they listed; none
// ever sees half of a commit.
func kvCommitWhole(ctx context.Context, t *testing.T, kv state.KV) {
	const writers, commits, size, names = 4, 40, 4, 3
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var writing, reading sync.WaitGroup
	for w := range writers {
		rnd := rand.New(rand.NewPCG(seed, uint64(w)))
		writing.Go(func() {
			for i := range commits {
				if err := commitGroup(ctx, kv, rnd, rnd.IntN(names), size, fmt.Sprintf("%d-%d", w, i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	for range 2 {
		reading.Go(func() {
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				default:
				}
				if err := followGroups(ctx, kv, size, done); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
}

// commitGroup writes one group in some order, and now and then a key beside it.
func commitGroup(ctx context.Context, kv state.KV, rnd *rand.Rand, group, size int, value string) error {
	deletes := rnd.IntN(3) == 0
	var ops []state.Op
	for i := range size {
		key := fmt.Sprintf("g.%d.%d", group, i)
		e, err := kv.Get(ctx, key)
		switch {
		case errors.Is(err, state.ErrNotFound):
			ops = append(ops, create(key, value))
		case err != nil:
			return err
		case deletes:
			ops = append(ops, remove(key, e.Revision))
		default:
			ops = append(ops, update(key, value, e.Revision))
		}
	}
	rnd.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	if rnd.IntN(2) == 0 {
		ops = append(ops, check("never", 0))
	}
	kinds := map[state.OpKind]bool{}
	for _, o := range ops {
		kinds[o.Kind] = true
	}
	if kinds[state.OpCreate] && len(kinds) > 1 && (kinds[state.OpUpdate] || kinds[state.OpDelete]) {
		return nil // it was read while another commit came, which is what a conflict would say
	}
	if _, err := kv.Commit(ctx, ops); err != nil && !errors.Is(err, state.ErrConflict) {
		return err
	}
	if rnd.IntN(3) > 0 {
		return nil
	}
	_, err := kv.Create(ctx, "beside."+value, nil)
	return err
}

// followGroups lists, and watches for a while from there.
func followGroups(ctx context.Context, kv state.KV, size int, done <-chan struct{}) error {
	entries, rev, err := kv.List(ctx, "g.")
	if err != nil {
		return err
	}
	g := groups{}
	g.apply(entries)
	if torn := g.torn(size); torn != "" {
		return fmt.Errorf("a list at %d: %s", rev, torn)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ch, err := kv.Watch(ctx, "g.", rev)
	if err != nil {
		return err
	}
	for range 20 {
		select {
		case change := <-ch:
			g.apply(change)
			if torn := g.torn(size); torn != "" {
				return fmt.Errorf("a watch from %d: %s, after %v", rev, torn, change)
			}
		case <-done:
			return nil
		}
	}
	return nil
}

// kvWatchFromEach begins at every revision that there was, also within a commit, with what a
// reader has that has everything up to there, and comes to the same end.
func kvWatchFromEach(ctx context.Context, t *testing.T, kv state.KV) {
	const size = 3
	rnd := rand.New(rand.NewPCG(1, 2)) // any will do
	for i := range 12 {
		must(t, commitGroup(ctx, kv, rnd, i%2, size, strconv.Itoa(i)))
	}
	end, last, err := kv.List(ctx, "g.")
	must(t, err)
	final := groups{}
	final.apply(end)
	watch, err := kv.Watch(ctx, "", 0)
	must(t, err)
	var changes [][]state.Entry
	for at := uint64(0); at < last; {
		select {
		case c := <-watch:
			changes, at = append(changes, c), c[len(c)-1].Revision
		case <-ctx.Done():
			t.Fatalf("the watch stopped at %d of %d", at, last)
		}
	}
	below := func(c []state.Entry, keep func(uint64) bool) []state.Entry {
		return slices.DeleteFunc(slices.Clone(c), func(e state.Entry) bool { return !strings.HasPrefix(e.Key, "g.") || !keep(e.Revision) })
	}
	for after := range last {
		g := groups{}
		for _, c := range changes {
			g.apply(below(c, func(r uint64) bool { return r <= after }))
		}
		ctx, stop := context.WithCancel(ctx)
		ch, err := kv.Watch(ctx, "", after)
		must(t, err)
		for at := after; at < last; {
			select {
			case c := <-ch:
				if c[0].Revision <= at {
					t.Fatalf("after %d the watch goes on at %d", at, c[0].Revision)
				}
				at = c[len(c)-1].Revision
				g.apply(below(c, func(uint64) bool { return true }))
				if torn := g.torn(size); torn != "" {
					t.Fatalf("from %d, at %d: %s", after, at, torn)
				}
			case <-ctx.Done():
				t.Fatalf("from %d the watch stopped at %d of %d", after, at, last)
			}
		}
		stop()
		if !maps.Equal(g, final) {
			t.Errorf("from %d it ends with %v, want %v", after, g, final)
		}
	}
}
