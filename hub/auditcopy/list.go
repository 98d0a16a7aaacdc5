package auditcopy

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/auditlog"
)

// maxLooked bounds the entries that one list looks at.
const maxLooked = 5000

// List reads the logs of all hubs, or the one of q.Hub, and puts their entries in the order of their times, which are those
// of the hubs' own clocks; entries of one log stay in their order. fits chooses. There may be few entries or none
// although more follow: then Continue is not empty.
//
// Errors: not_found for a hub of which nothing is there; invalid for a q.Continue that no list gave; unavailable, timeout.
func (r *Room) List(ctx context.Context, q api.AuditQuery, fits func(protocol.AuditEntry) bool) (api.AuditList, error) {
	list := api.AuditList{Items: []protocol.AuditEntry{}}
	list.Head, list.Hash = r.own.Head()
	list.Next = list.Head + 1
	if wrong := r.Wrong(); wrong != nil {
		list.Broken = append(list.Broken, api.AuditBreak{Segment: "the copy on the store's servers", Finding: wrong.Error()})
	}
	sources, err := r.sources(ctx, q)
	if err != nil {
		return list, err
	}
	for _, s := range sources {
		list.Hubs = append(list.Hubs, s.hub)
	}
	for looked := 0; looked < maxLooked && len(list.Items) < q.Limit; looked++ {
		s, e, err := earliest(ctx, sources)
		if err != nil {
			return list, err
		}
		if s == nil {
			return list, nil
		}
		if s.pass(); fits(e) {
			e.Hub = s.hub
			list.Items = append(list.Items, e)
		}
	}
	list.Continue = placesOf(sources)
	return list, nil
}

// earliest is the source whose next entry has the earliest time; nil if there is no entry.
func earliest(ctx context.Context, sources []*source) (from *source, first protocol.AuditEntry, err error) {
	for _, s := range sources {
		e, there, err := s.first(ctx)
		if err != nil {
			return nil, e, err
		}
		if there && (from == nil || e.At.Before(first.At)) {
			from, first = s, e
		}
	}
	return from, first, nil
}

// sources are the logs that are asked for, each where it is to be read from.
func (r *Room) sources(ctx context.Context, q api.AuditQuery) (out []*source, err error) {
	const op = "list audit log"
	if q.Continue != "" {
		places, err := parsePlaces(q.Continue)
		if err != nil {
			return nil, err
		}
		for _, p := range places {
			s, err := r.source(ctx, p.Hub)
			if err != nil {
				return nil, err
			}
			s.next, s.at = p.Next, p.At
			out = append(out, s)
		}
		return out, nil
	}
	hubs := []string{q.Hub}
	if q.Hub == "" {
		if hubs, err = r.hubs(ctx); err != nil {
			return nil, err
		}
	} else if err := r.has(ctx, op, q.Hub); err != nil {
		return nil, err
	}
	for _, hub := range hubs {
		s, err := r.source(ctx, hub)
		if err != nil {
			return nil, err
		}
		if err := r.begin(ctx, s, q.From, q.Since); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// source reads a hub's log: its files if it is this one's.
func (r *Room) source(ctx context.Context, hub string) (*source, error) {
	if hub == r.cfg.Hub {
		return &source{hub: hub, more: fromOwn(r.own)}, nil
	}
	j, err := r.stream(ctx)
	return &source{hub: hub, more: fromStream(j)}, err
}

// begin finds where a source is read from.
func (r *Room) begin(ctx context.Context, s *source, from uint64, since time.Time) (err error) {
	s.next, s.at = from, 1
	if s.hub == r.cfg.Hub {
		if !since.IsZero() {
			s.next = max(s.next, r.own.Since(since))
		}
		return nil
	}
	if from > 1 || !since.IsZero() {
		s.at, err = find(ctx, r.opened(), s.hub, func(e protocol.AuditEntry) bool {
			return from > 1 && e.Seq <= from || !since.IsZero() && e.At.Before(since)
		})
	}
	return err
}

// has refuses a hub of which nothing is there.
func (r *Room) has(ctx context.Context, op, hub string) error {
	if hub == r.cfg.Hub {
		return nil
	}
	j, err := r.stream(ctx)
	if err != nil {
		return err
	}
	writers, err := j.Writers(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(writers, hub) {
		return protocol.Errorf(protocol.CodeNotFound, op, "the store's servers have nothing of the log of a hub %q", hub).
			WithHint("there are logs of: %s", strings.Join(slices.Compact(slices.Sorted(slices.Values(append(writers, r.cfg.Hub)))), ", "))
	}
	return nil
}

// place is where a list goes on with a hub's log.
type place struct {
	Hub  string `json:"h"`
	Next uint64 `json:"n"`
	At   uint64 `json:"a,omitempty"`
}

func placesOf(sources []*source) string {
	var out []place
	for _, s := range sources {
		at := s.at
		if len(s.page) > 0 {
			at = s.page[0].at
		}
		out = append(out, place{s.hub, s.next, at})
	}
	raw, _ := json.Marshal(out) // nothing of it can fail
	return base64.RawURLEncoding.EncodeToString(raw)
}

// maxPlaces bounds the logs of a list: those that a checkpoint can name, and this hub's own.
const maxPlaces = auditlog.MaxOthers + 1

// parsePlaces reads what placesOf wrote. Errors: invalid.
func parsePlaces(text string) (out []place, err error) {
	no := protocol.Errorf(protocol.CodeInvalid, "list audit log", "the place to go on with is none that a list gave").WithHint("begin the list again")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &out) != nil || len(out) == 0 || len(out) > maxPlaces {
		return nil, no
	}
	seen := map[string]bool{}
	for _, p := range out {
		if p.Hub == "" || seen[p.Hub] {
			return nil, no
		}
		seen[p.Hub] = true
	}
	return out, nil
}
