package bulk

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	// lasts is how long an operation is worked off. Nobody tells the hub later what groups a person is in, and a hub that was put
	// back from a copy shall not go on with what people have forgotten.
	lasts = 24 * time.Hour
	// maxMessage bounds what is kept of a failure and of its hint, in bytes.
	maxMessage = 300
	// tries is how often a name is tried that the hub cannot do now.
	tries = 30
)

// work tries one operation's names, round by round, until it ends or ctx does.
func (r *Room) work(ctx context.Context, id string) {
	b, err := r.cfg.Bulks.Get(id)
	if err != nil {
		return // forgotten
	}
	asked := r.asked(b)
	failed := 0
	for n := range b.Parts {
		for _, it := range r.cfg.Bulks.Items(id, n) {
			if it.Code != "" {
				failed++
			}
		}
	}
	for n := range b.Parts {
		part := r.cfg.Bulks.Part(id, n)
		for at := 0; at < len(part.Items); {
			now, err := r.cfg.Bulks.Get(id)
			if err != nil || ctx.Err() != nil || r.idle() {
				return
			}
			if stop := b.StopAfter > 0 && failed >= b.StopAfter; stop || now.CancelledBy != "" {
				r.end(ctx, id, stop && now.CancelledBy == "")
				return
			}
			var round []*store.BulkItem
			for ; at < len(part.Items) && len(round) < b.Parallel; at++ {
				if it := &part.Items[at]; !it.Tried() {
					round = append(round, it)
				}
			}
			if len(round) == 0 {
				continue
			}
			if !r.round(ctx, b, round, asked) {
				return
			}
			for _, it := range round {
				if it.Code != "" {
					failed++
				}
			}
			overtaken := false
			if !r.insist(ctx, func() error {
				err := r.cfg.Bulks.PutPart(ctx, id, n, &part)
				if overtaken = protocol.CodeOf(err) == protocol.CodeConflict; overtaken {
					return nil
				}
				return err
			}) {
				return
			}
			if overtaken { // by a write of this hub whose answer was lost, or by another hub
				if wait(ctx) {
					r.work(ctx, id)
				}
				return
			}
			r.count(round)
		}
	}
	r.end(ctx, id, false)
}

// round tries some names at once, and those again for a while that the hub could not do then; false if ctx ends before or another
// hub has taken over, and what failed may have failed by that.
//
// The hub may end before the results are written, and then they are tried again. A hold with the same caller, key and server
// is the same hold, and a release of what was released is none. A request carries the operation in its ref, or one of its caller:
// one that is there already since the operation was accepted is not made again, also if it has ended.
func (r *Room) round(ctx context.Context, b store.StoredBulk, round []*store.BulkItem, asked map[string]bool) bool {
	for try := 1; len(round) > 0; try++ {
		if try > 1 {
			if !wait(ctx) {
				return false
			}
			asked = r.asked(b)
		}
		who, refusal := r.caller(b)
		errs := make([]error, len(round))
		var all sync.WaitGroup
		for i, it := range round {
			if errs[i] = refusal; refusal != nil || asked[it.Name] {
				continue
			}
			all.Go(func() {
				errs[i] = r.cfg.Asker.Inside(ctx, who, "bulk/"+b.ID, path(api.BulkAction(b.Action), it.Name), b.Body)
			})
		}
		all.Wait()
		if ctx.Err() != nil || r.idle() {
			return false
		}
		var again []*store.BulkItem
		for i, it := range round {
			if errs[i] == nil {
				it.Done = true
				continue
			}
			p := api.ProblemOf(errs[i])
			if try < tries && (p.Code == protocol.CodeUnavailable || p.Code == protocol.CodeTimeout) {
				again = append(again, it)
				continue
			}
			it.Code, it.Message, it.Hint = p.Code, short(p.Detail), short(p.Hint)
		}
		round = again
	}
	return true
}

// wait waits a while; false if ctx ends before.
func wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// caller is who asked, as far as that is known now.
func (r *Room) caller(b store.StoredBulk) (who access.Caller, err error) {
	const op = "bulk"
	if err := json.Unmarshal(b.Caller, &who); err != nil {
		return who, protocol.Errorf(protocol.CodeInternal, op, "its caller cannot be read: %w", err)
	}
	if r.cfg.Clock().Sub(b.CreatedAt) > lasts {
		return who, protocol.Errorf(protocol.CodeDenied, op, "it was accepted more than %s ago", lasts).
			WithHint("ask again for those that were not done")
	}
	if who.Issuer != "" {
		return who, nil
	}
	now, ok := r.cfg.Asker.Client(who.Name)
	if !ok {
		return who, protocol.Errorf(protocol.CodeDenied, op, "%q is no client of this hub any more", who.Name).
			WithHint("whoever may ask again for those that were not done")
	}
	return now, nil
}

// asked are the servers that a request of an operation is there for already.
func (r *Room) asked(b store.StoredBulk) map[string]bool {
	out := map[string]bool{}
	ref := refOf(b)
	if ref == "" {
		return out
	}
	for _, q := range r.cfg.Requests.List() {
		if q.Ref == ref && q.By == b.By && string(q.Action) == b.Action && (ref == Ref(b.ID) || !q.CreatedAt.Before(b.CreatedAt)) {
			out[q.Server] = true
		}
	}
	return out
}

// refOf is the ref of the requests of an operation: its own, or one that its caller gave; empty where it makes none.
func refOf(b store.StoredBulk) string {
	switch api.BulkAction(b.Action) {
	case api.BulkReboot, api.BulkPowerOff:
	case api.BulkHold, api.BulkRelease: // a hold's ref is no request's
		return ""
	}
	var one api.RebootRequest
	if json.Unmarshal(b.Body, &one) != nil { // it was made by the hub
		return ""
	}
	return one.Ref
}

// Ref is the ref of the requests of an operation whose caller gave none.
func Ref(id string) string { return "bulk/" + id }

// path is the route of the request for one.
func path(a api.BulkAction, name string) string {
	switch a {
	case api.BulkHold:
		return api.PathObject(resource.KindServer, name) + "/holds"
	case api.BulkRelease:
		return api.PathKind(resource.KindHold) + "/" + url.PathEscape(name) + "/release"
	case api.BulkReboot, api.BulkPowerOff:
	}
	return api.PathServerRequests(name)
}

// end notes that an operation has ended.
func (r *Room) end(ctx context.Context, id string, stopped bool) {
	r.insist(ctx, func() error {
		_, err := r.change(ctx, id, func(b *store.StoredBulk) bool {
			at := r.cfg.Clock().UTC()
			b.EndedAt, b.Stopped = &at, stopped
			return true
		})
		return err
	})
}

// insist does something until it succeeds; false if ctx ends before, or another hub has taken over.
func (r *Room) insist(ctx context.Context, do func() error) bool {
	for {
		err := do()
		if err == nil {
			return true
		}
		if ctx.Err() == nil && !r.idle() {
			r.cfg.Logger.Warn("bulk operation not written", "err", err)
		}
		if !wait(ctx) || r.idle() {
			return false
		}
	}
}

func short(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	for s = s[:maxMessage]; !utf8.ValidString(s) && s != ""; {
		s = s[:len(s)-1]
	}
	return strings.TrimSpace(s)
}
