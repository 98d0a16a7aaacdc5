package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	// maxWatchLine bounds a line of a watch in bytes: one resource.
	maxWatchLine = 16 << 20
	// minRewatch and maxRewatch bound the pause before a watch is begun again; it doubles, and has jitter.
	minRewatch = 500 * time.Millisecond
	maxRewatch = 15 * time.Second
)

// Watch tells what there is of a kind, and then what changes, until ctx ends or the consumer does. It connects again by
// itself, and goes on where it was: what was told is not told again. With the first [ChangeSynced] everything was told
// that is there; the state that follows from the changes is what a list would say, but for when servers were read last.
//
// A connection that is lost is a [ChangeBroken]. An error ends it: what was asked is wrong, or may not be asked. A hub
// that knows no watches is one of code unsupported. Limit of the query counts for nothing.
func (o Objects) Watch(ctx context.Context, kind resource.Kind, q Query) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if _, err := blank(kind); err != nil {
			yield(Change{}, err)
			return
		}
		f := newFollower(kind)
		for pause := minRewatch; ; {
			synced := false
			err := o.watch(ctx, kind, q, f, func(c Change) bool {
				synced = synced || c.Type == ChangeSynced
				return yield(c, nil)
			})
			if synced {
				pause = minRewatch
			}
			switch {
			case errors.Is(err, errConsumer) || ctx.Err() != nil:
				return
			case err != nil && lasting(err):
				yield(Change{}, err)
				return
			case err != nil:
				if !yield(Change{Type: ChangeBroken, Err: err}, nil) {
					return
				}
			}
			wait := pause/2 + rand.N(pause/2)
			if p, ok := errors.AsType[*Problem](err); ok {
				wait = max(wait, min(p.After, maxRewatch))
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if err != nil {
				pause = min(2*pause, maxRewatch)
			}
		}
	}
}

// errConsumer ends a watch whose consumer wants no more.
var errConsumer = errors.New("nobody wants more")

// lasting reports whether an error comes again if the same is asked again.
func lasting(err error) bool {
	switch protocol.CodeOf(err) {
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal:
		return false
	case protocol.CodeInvalid, protocol.CodeNotFound, protocol.CodeConflict, protocol.CodeUnsupported, protocol.CodeDenied:
	}
	return true
}

// watch is one connection. A nil error is its ordinary end.
func (o Objects) watch(ctx context.Context, kind resource.Kind, q Query, f *follower, tell func(Change) bool) error {
	op := "watch " + kind.Plural()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(WatchSilence, func() {
		cancel(protocol.Errorf(protocol.CodeUnavailable, op, "the hub has said nothing for %s", WatchSilence))
	})
	defer silence.Stop()
	v := url.Values{}
	for key, value := range map[string]string{QueryPosition: f.position, QuerySelector: q.Selector, QueryField: q.Fields, QueryOnly: q.Only} {
		if value != "" {
			v.Set(key, value)
		}
	}
	path := PathWatch(kind)
	if len(v) > 0 {
		path += "?" + v.Encode()
	}
	f.begin()
	read := func(r io.Reader) error {
		return readWatch(r, func(e WatchEvent) error {
			silence.Reset(WatchSilence)
			changes, err := f.take(e)
			if err != nil {
				return err
			}
			for _, c := range changes {
				if !tell(c) {
					return errConsumer
				}
			}
			silence.Reset(WatchSilence) // the consumer may have taken its time
			return nil
		})
	}
	err := o.hub.follow(ctx, op, path, read)
	if cause, ok := errors.AsType[*protocol.Error](context.Cause(ctx)); ok && err != nil && !errors.Is(err, errConsumer) {
		return cause
	}
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return protocol.Errorf(protocol.CodeUnsupported, op, "the hub is of a version that knows no watches").
			WithHint("give hub and rackctl the same version; compare them with rackctl version")
	}
	return err
}

// readWatch reads the lines of a watch, until it ends.
func readWatch(r io.Reader, take func(WatchEvent) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxWatchLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var e WatchEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return protocol.Errorf(protocol.CodeInternal, "watch", "a line of the hub cannot be read: %w", err).
				WithHint("hub and rackctl may be of different versions; compare them with rackctl version")
		}
		if err := take(e); err != nil {
			return err
		}
	}
	return lines.Err()
}

// follow sends a GET whose answer has no end, and has it read.
func (h *hub) follow(ctx context.Context, op, path string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+path, http.NoBody)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	resp, err := h.http.Do(req)
	if err != nil {
		return h.transportError(ctx, op, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		raw, err := io.ReadAll(&body{from: resp.Body})
		if err != nil {
			return h.transportError(ctx, op, err)
		}
		return problemIn(op, resp, raw)
	}
	switch err := read(resp.Body); {
	case err == nil, errors.Is(err, errConsumer):
		return err
	default:
		if _, ours := errors.AsType[*protocol.Error](err); ours {
			return err
		}
		return h.transportError(ctx, op, err)
	}
}
