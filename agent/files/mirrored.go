package files

import (
	"context"
	"encoding/json"
	"time"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Mirrored shows people what there is of package repositories, and forgets it for them. A nil
// mirror has none. It is safe for concurrent use.
type Mirrored struct {
	mirror *mirror.Mirror
	clock  state.Clock
}

// NewMirrored makes a Mirrored.
func NewMirrored(m *mirror.Mirror, clock state.Clock) Mirrored { return Mirrored{m, clock} }

// MirrorStatus is what there is. Repositories are left out at the end where it would not fit into
// [resource.MaxMirrorStatus].
func (x Mirrored) MirrorStatus() (resource.MirrorStatus, error) {
	out := resource.MirrorStatus{At: x.clock()}
	if x.mirror == nil {
		return out, nil
	}
	var all []mirror.State
	all, out.Used, out.Pinned = x.mirror.States()
	out.Quota = x.mirror.Quota()
	room := resource.MaxMirrorStatus - mirrorHead
	for i, s := range all {
		r := repository(s)
		raw, err := json.Marshal(r)
		if err != nil {
			return out, protocol.Errorf(protocol.CodeInternal, "show the mirror", "%w", err)
		}
		if room -= len(raw) + 1; room < 0 {
			out.Left = len(all) - i
			break
		}
		out.Repositories = append(out.Repositories, r)
	}
	return out, nil
}

// mirrorHead is more than a MirrorStatus takes besides its repositories, in bytes.
const mirrorHead = 1 << 10

func repository(s mirror.State) resource.MirrorRepository {
	return resource.MirrorRepository{
		URL: s.Base, Objects: s.Files, Bytes: s.Bytes, Fresh: s.Fresh, Validated: some(s.Validated), Oldest: some(s.Oldest),
		Answers: answers(s), Since: some(s.Since), Reached: some(s.Reached), Failed: some(s.Broke), Code: s.Code,
		Why: resource.MirrorWhy(s.Why), BackedOff: some(s.Rests),
		Served: s.Opens.Served, Stale: s.Opens.Stale, Missed: s.Opens.Fetched, Absent: s.Opens.Absent, Errors: s.Opens.Failed,
	}
}

func answers(s mirror.State) resource.MirrorAnswers {
	switch {
	case !s.Asked:
		return resource.MirrorNotAsked
	case s.Reachable:
		return resource.MirrorReached
	}
	return resource.MirrorFails
}

func some(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// FlushMirror forgets what is cached: all, or what is at a URL or path and below it. Errors as
// [mirror.Mirror.Flush]; unsupported where there is no mirror.
func (x Mirrored) FlushMirror(ctx context.Context, what string, force bool) (resource.MirrorFlushed, error) {
	const op = "flush the mirror"
	switch {
	case x.mirror == nil:
		return resource.MirrorFlushed{}, protocol.Errorf(protocol.CodeUnsupported, op, "this agent reads from no repository").
			WithHint("name one under repositories.bases in the agent's file")
	case len(what) > resource.MaxMirrorWhat:
		return resource.MirrorFlushed{}, protocol.Errorf(protocol.CodeInvalid, op, "the URL or path is longer than %d bytes", resource.MaxMirrorWhat)
	}
	f, err := x.mirror.Flush(ctx, what, force)
	return resource.MirrorFlushed{What: what, Objects: f.Files, Bytes: f.Bytes, Kept: f.Kept, KeptBytes: f.KeptBytes}, err
}
