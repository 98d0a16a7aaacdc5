package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol/resource"
	"rackboot/state"
)

// mendPart bounds the keys that are mended at once.
const mendPart = 400

// mend sees to it that the keys of the rules are those of what is in the mirror, which is what entries
// are too: a store that was written before there were rules has none. It costs nothing that is
// written where all is well. A state.ErrConflict is another hub that writes: list again.
func (s *Store) mend(ctx context.Context, entries []state.Entry) error {
	have := map[string]state.Entry{}
	for _, e := range entries {
		if strings.HasPrefix(e.Key, ruleBucket+".") {
			have[e.Key] = e
		}
	}
	want := s.wanted()
	var ops []state.Op
	checks := map[string]uint64{}
	mended := 0
	flush := func() error {
		if len(ops) == 0 {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(checks)) {
			ops = append(ops, state.Op{Kind: state.OpCheck, Key: key, Revision: checks[key]})
		}
		if _, err := s.core.commit(ctx, ops); err != nil {
			return err
		}
		ops, checks = nil, map[string]uint64{}
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		for _, t := range want[key] {
			if i := slices.IndexFunc(want[key], t.excludes); i >= 0 {
				s.core.logger.Error("two have what only one may have", "rule", key, "one", t.Name, "other", want[key][i].Name)
			}
		}
		value, err := json.Marshal(want[key])
		if err != nil {
			return err
		}
		e := have[key]
		delete(have, key)
		if string(e.Value) == string(value) {
			continue
		}
		if len(ops)+len(checks)+1+len(want[key]) > 2*mendPart {
			if err := flush(); err != nil {
				return err
			}
		}
		ops = append(ops, write(key, value, e.Revision))
		for _, t := range want[key] {
			if stored, there := s.core.mirror.get(t.stored()); there {
				checks[t.stored()] = stored.Revision
			}
		}
		mended++
	}
	if err := flush(); err != nil {
		return err
	}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(have)), mendPart) {
		for _, key := range part {
			ops = append(ops, state.Op{Kind: state.OpDelete, Key: key, Revision: have[key].Revision})
		}
		mended += len(part)
		if err := flush(); err != nil {
			return err
		}
	}
	if mended > 0 {
		s.core.logger.Warn("rules were written that were not as the resources are", "keys", mended)
	}
	return nil
}

// wanted are the keys of the rules of what is in the mirror, and who has each.
func (s *Store) wanted() map[string][]taker {
	want := map[string][]taker{}
	take := func(t taker, rules []rule) {
		for _, r := range rules {
			t.Part = r.part
			want[r.key] = append(want[r.key], t)
		}
	}
	for _, kind := range resource.Kinds() { // in order, as the takers of a key are
		for _, e := range s.core.mirror.list(bucketOf(kind)) {
			if e.obj != nil {
				m := e.obj.Head().Metadata
				take(taker{Kind: kind, Name: m.Name, UID: m.UID}, rulesOf(e.obj))
			}
		}
	}
	for _, r := range s.Requests.book.list() {
		if r.ID != "" {
			take(taker{Kind: requestKind, Name: r.ID}, requestRules(r))
		}
	}
	return want
}
