package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rackboot/internal/doctable"
	"rackboot/state"
	"rackboot/state/statetest"
)

// fits fails unless the head is what the database has.
func fits(t interface {
	Helper()
	Fatalf(string, ...any)
}, db state.Store,
) Head {
	t.Helper()
	in, err := Inspect(db, Anchor{})
	if err != nil || in.Condition.Lost() {
		t.Fatalf("%s, %v of %+v and %+v, %v", in.Condition, in.Kinds, in.Head, in.Has, err)
	}
	return in.Head
}

// After any transactions, whole, in parts, failed, or cut off between parts, the head is what the
// database has.
func TestHeadFits(t *testing.T) {
	keys := []string{"record/a", "record/b", "hold/a/1", "rack", "meta/incarnation", "lease/x/1", "trace/a/1", "event/1"}
	rapid.Check(t, func(t *rapid.T) {
		db := statetest.NewMemory()
		var died *statetest.Memory
		at := 0
		d := &disk{db: db, partBytes: 2 * (writeCost + 4), write: make(chan struct{}, 1), crash: func(string) {
			if at--; at == 0 {
				died = db.Copy()
			}
		}}
		for range rapid.IntRange(1, 12).Draw(t, "transactions") {
			parts, fails := rapid.Bool().Draw(t, "parts"), rapid.IntRange(0, 4).Draw(t, "fails") == 0
			at = rapid.IntRange(1, 4).Draw(t, "dies at")
			fn := func(x state.Txn, cut func()) error {
				for range rapid.IntRange(0, 6).Draw(t, "writes") {
					key := rapid.SampledFrom(keys).Draw(t, "key")
					var err error
					switch rapid.IntRange(0, 3).Draw(t, "op") {
					case 0:
						err = x.Delete(key)
					case 1:
						err = x.Set(key, nil)
					default:
						err = x.Set(key, []byte(rapid.StringN(0, 3, 3).Draw(t, "value")))
					}
					if err != nil {
						return err
					}
					cut()
				}
				if fails {
					return errNothing
				}
				return nil
			}
			var err error
			if parts {
				err = d.updateInParts("p", fn)
			} else {
				err = d.update(func(x state.Txn) error { return fn(x, func() {}) })
			}
			if err != nil && !errors.Is(err, errNothing) {
				t.Fatal(err)
			}
			h := fits(t, db)
			if said := (&Store{disk: d}).Head(); said.Sequence != h.Sequence || !maps.Equal(said.Kinds, h.Kinds) || said.Store != h.Store {
				t.Fatalf("it says %+v, and %+v is on disk", said, h)
			}
			if died != nil {
				fits(t, died)
			}
		}
	})
}

// Whatever is taken away, put in, or changed of what a head counts is noticed, with its kind; and
// what was known by name is named.
func TestInspectNotices(t *testing.T) {
	db := statetest.NewMemory()
	s, err := Open(Config{DB: db, NewID: func() string { return "one" }})
	if err != nil {
		t.Fatal(err)
	}
	fill := func(n int) {
		err := s.disk.update(func(x state.Txn) error {
			for i := range n {
				if err := errors.Join(x.Set(fmt.Sprintf("record/%d", i), []byte("r")), x.Set(fmt.Sprintf("hold/%d/id", i), []byte("h")), put(x, "event/1", n)); err != nil {
					return err
				}
			}
			return put(x, keyRack, n)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fill(3)
	older := db.Copy()
	fill(4)
	known, err := s.Anchor()
	if err != nil || known.Head.Store != "one" || !slices.Contains(known.Names["record"], "3") || known.Names["rack"][0] != "" || known.Names["event"] != nil {
		t.Fatalf("%+v, %v", known, err)
	}
	newer := db.Copy()
	fill(5)
	for name, row := range map[string]struct {
		db      *statetest.Memory
		damage  func(x state.Txn) error
		known   Anchor
		want    Condition
		kinds   string
		missing string
	}{
		"nothing at all":      {db: statetest.NewMemory(), want: DatabaseNew},
		"nothing is left":     {db: statetest.NewMemory(), known: known, want: DatabaseGone, missing: "hold/3/id"},
		"as it is known":      {db: newer.Copy(), known: known, want: DatabaseWhole},
		"more than is known":  {db: db.Copy(), known: known, want: DatabaseWhole},
		"an older copy":       {db: older.Copy(), known: known, want: DatabaseBehind, missing: "hold/3/id"},
		"a record is gone":    {db: newer.Copy(), damage: func(x state.Txn) error { return x.Delete("record/2") }, known: known, want: DatabaseDamaged, kinds: "record", missing: "record/2"},
		"a record is another": {db: newer.Copy(), damage: func(x state.Txn) error { return x.Set("record/2", []byte("s")) }, want: DatabaseDamaged, kinds: "record"},
		"a hold is too many":  {db: newer.Copy(), damage: func(x state.Txn) error { return x.Set("hold/9/id", []byte("h")) }, want: DatabaseDamaged, kinds: "hold"},
		"all holds are gone":  {db: newer.Copy(), damage: deleteAll("hold/"), known: known, want: DatabaseDamaged, kinds: "hold", missing: "hold/0/id"},
		"the rack is gone":    {db: newer.Copy(), damage: func(x state.Txn) error { return x.Delete(keyRack) }, known: known, want: DatabaseDamaged, kinds: "rack", missing: "rack"},
		"an event is gone":    {db: newer.Copy(), damage: deleteAll("event/"), known: known, want: DatabaseDamaged, kinds: "event"},
		"the head is gone":    {db: newer.Copy(), damage: func(x state.Txn) error { return x.Delete(keyHead) }, known: known, want: DatabaseHeadless},
		"only the head is":    {db: newer.Copy(), damage: deleteAll(""), known: known, want: DatabaseDamaged, missing: "record/0"},
		"a lease is gone":     {db: newer.Copy(), damage: func(x state.Txn) error { return x.Set("lease/boot/1", nil) }, known: known, want: DatabaseWhole},
		"another incarnation": {db: newer.Copy(), damage: func(x state.Txn) error { return x.Set(keyIncarnation, []byte("two")) }, known: known, want: DatabaseDamaged, kinds: "meta"},
		"its value is empty":  {db: newer.Copy(), damage: func(x state.Txn) error { return x.Set("record/2", nil) }, known: known, want: DatabaseDamaged, kinds: "record"},
		"two values have swapped": {db: newer.Copy(), damage: func(x state.Txn) error {
			return errors.Join(x.Set("record/2", []byte("h")), x.Set("hold/2/id", []byte("r")))
		}, want: DatabaseDamaged, kinds: "hold record"},
	} {
		t.Run(name, func(t *testing.T) {
			if row.damage != nil {
				if err := row.db.Update(row.damage); err != nil {
					t.Fatal(err)
				}
			}
			in, err := Inspect(row.db, row.known)
			if err != nil || in.Condition != row.want || row.kinds != "" && strings.Join(in.Kinds, " ") != row.kinds {
				t.Errorf("%s, kinds %v, %v; want %s, %s", in.Condition, in.Kinds, err, row.want, row.kinds)
			}
			if row.missing != "" && !slices.Contains(in.Missing, row.missing) {
				t.Errorf("missing are %v, not %s", in.Missing, row.missing)
			}
			if !in.Condition.Lost() && len(in.Missing) > 0 {
				t.Errorf("nothing is lost, and %v is missing", in.Missing)
			}
		})
	}
}

// A renewal goes on counting, so that what was known of the incarnation before still tells a copy.
func TestRenewalKeepsTheSequence(t *testing.T) {
	db, n := statetest.NewMemory(), 0
	s, err := Open(Config{DB: db, NewID: func() string { n++; return fmt.Sprint(n) }})
	if err != nil {
		t.Fatal(err)
	}
	known, err := s.Anchor()
	if err != nil {
		t.Fatal(err)
	}
	before := db.Copy()
	if err := s.Identity.Renew(noon, "1"); err != nil {
		t.Fatal(err)
	}
	if in, err := Inspect(db, known); err != nil || in.Condition != DatabaseWhole || in.Head.Store != "2" {
		t.Errorf("%s, %+v, %v", in.Condition, in.Head, err)
	}
	renewed, err := s.Anchor()
	if err != nil {
		t.Fatal(err)
	}
	if in, err := Inspect(before, renewed); err != nil || in.Condition != DatabaseBehind {
		t.Errorf("the copy from before: %s, %v", in.Condition, err)
	}
}

func deleteAll(prefix string) func(state.Txn) error {
	return func(x state.Txn) error {
		var keys []string
		if err := x.Scan(prefix, func(key string, _ []byte) error {
			keys = append(keys, key)
			return nil
		}); err != nil {
			return err
		}
		for _, key := range keys {
			if prefix == "" && key == keyHead {
				continue
			}
			if err := x.Delete(key); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestInspectRule compares the table of inspections with its function, for all inputs.
func TestInspectRule(t *testing.T) {
	in := [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}
	doctable.Of(t, "inspect.go", "inspectRule").HoldOne(t, in, func(row []string) string {
		yes := func(i int) bool { return row[i] == "yes" }
		return string(inspectRule(yes(0), yes(1), yes(2), yes(3), yes(4), yes(5)))
	})
}
