package store

import (
	"maps"
	"slices"
	"strings"

	"rackboot/state"
)

// Anchor is what was known of a database by somebody else than the database: a file beside it,
// or the hub. It may be older than the database, never newer.
type Anchor struct {
	Head Head `json:"head"`
	// Names are of the keys at that moment, by kind: what was lost is listed by them. Events have
	// none.
	Names map[string][]string `json:"names,omitempty"`
	// Reverted is of what the hub has said that it was told of more; zero is nothing.
	Reverted Reverted `json:"reverted,omitzero"`
}

// Reverted is the hub's word that a database is an older copy. It counts until somebody has accepted the
// loss, or has put one in its place that has as much as the hub knows of.
type Reverted struct {
	Store    string `json:"store"`
	Sequence uint64 `json:"sequence"`
}

// is reports whether a database with a head is the one.
func (r Reverted) is(h Head) bool {
	return r.Store != "" && r.Store == h.Store && h.Sequence < r.Sequence
}

// Condition is what an inspection comes to.
type Condition string

// The conditions.
const (
	DatabaseNew      Condition = "new"      // there never was one
	DatabaseWhole    Condition = "whole"    // all of it is there
	DatabaseGone     Condition = "gone"     // there was one, and nothing is there
	DatabaseHeadless Condition = "headless" // its head is missing
	DatabaseDamaged  Condition = "damaged"  // something is missing, or not what was written
	DatabaseBehind   Condition = "behind"   // it is an older copy, or has lost its end
	DatabaseReverted Condition = "reverted" // the hub says so
)

// Lost reports whether something is missing, so that nothing may be concluded from what is there.
func (c Condition) Lost() bool { return c != DatabaseNew && c != DatabaseWhole }

// Inspection is what a database has, against what it says of itself and what was known of it.
type Inspection struct {
	Condition Condition
	Head      Head // what it says; zero without a head
	Has       Head // what is there
	Known     Head
	// Kinds are those that differ from the head.
	Kinds []string
	// Missing are the keys that were known and are not there, if something is lost. One that was
	// deleted after it was noted is among them.
	Missing []string
}

// Inspect reads all of a database, and changes nothing. The error is that of the first read that
// fails: then something is damaged, too.
func Inspect(db state.Store, known Anchor) (in Inspection, err error) {
	in.Known = known.Head
	headed := false
	here := map[string]bool{}
	err = db.View(func(t state.Txn) error {
		if in.Head, headed, err = get[Head](t, keyHead); err != nil {
			return err
		}
		if in.Has, err = tally(t); err != nil || len(known.Names) == 0 {
			return err
		}
		return t.Scan("", func(key string, _ []byte) error {
			here[key] = true
			return nil
		})
	})
	if err != nil {
		return in, failing("inspect the agent's store", err)
	}
	in.Kinds = unlike(in.Head.Kinds, in.Has.Kinds)
	in.Condition = inspectRule(len(in.Has.Kinds) > 0, headed, len(in.Kinds) == 0, known.Head.Sequence > 0, in.Head.Sequence < known.Head.Sequence, known.Reverted.is(in.Head))
	if !in.Condition.Lost() {
		return in, nil
	}
	for kind, names := range known.Names {
		for _, name := range names {
			if key := joinKey(kind, name); !here[key] {
				in.Missing = append(in.Missing, key)
			}
		}
	}
	slices.Sort(in.Missing)
	return in, nil
}

// inspectRule is the table of inspections. The first row that fits decides.
//
//	keys | head | fits | known | less | told | condition
//	no   | no   | *    | no    | *    | *    | new
//	no   | no   | *    | yes   | *    | *    | gone
//	yes  | no   | *    | *     | *    | *    | headless
//	*    | yes  | no   | *     | *    | *    | damaged
//	*    | yes  | yes  | yes   | yes  | *    | behind
//	*    | yes  | yes  | *     | *    | yes  | reverted
//	*    | yes  | yes  | *     | *    | *    | whole
//
// keys is that something lies there that a head counts, fits that it is what the head says. known
// is that somebody knew of a database here, less that it has fewer transactions than that one had, told that
// the hub has said so. More is normal: what is known is a second old. A renewal keeps the sequence, so that a new
// incarnation does not look like another database.
func inspectRule(keys, head, fits, known, less, told bool) Condition {
	switch {
	case !keys && !head && !known:
		return DatabaseNew
	case !keys && !head:
		return DatabaseGone
	case !head:
		return DatabaseHeadless
	case !fits:
		return DatabaseDamaged
	case known && less:
		return DatabaseBehind
	case told:
		return DatabaseReverted
	}
	return DatabaseWhole
}

func unlike(a, b map[string]Sum) (kinds []string) {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]Sum{}
	}
	maps.Copy(all, b)
	for kind := range all {
		if a[kind] != b[kind] {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// joinKey is the key of a kind and a name; the name of the rack's settings is empty.
func joinKey(kind, name string) string {
	if name == "" {
		return kind
	}
	return kind + "/" + name
}

// Head is that of what is on disk.
func (s *Store) Head() Head {
	if h := s.disk.head.Load(); h != nil {
		return *h
	}
	return Head{}
}

// Anchor is what somebody else is to know of the database: what is on disk now.
func (s *Store) Anchor() (a Anchor, err error) {
	err = s.disk.db.View(func(t state.Txn) error {
		a = Anchor{Names: map[string][]string{}}
		if a.Head, _, err = get[Head](t, keyHead); err != nil {
			return err
		}
		return t.Scan("", func(key string, _ []byte) error {
			if kind, name, _ := strings.Cut(key, "/"); !uncounted(key) && kind != "event" {
				a.Names[kind] = append(a.Names[kind], name)
			}
			return nil
		})
	})
	if err != nil {
		return Anchor{}, failing("read what the store has", err)
	}
	return a, nil
}
