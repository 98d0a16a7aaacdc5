package firmware

import (
	"context"
	"errors"
	"strings"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	// maxFirmware is how long firmware work may be marked at most: a mark that was
	// forgotten must not keep a server from being fenced.
	maxFirmware = 24 * time.Hour
)

// Mark marks that a server's firmware is changed, for at most a day, or ends the
// mark where q.For is 0. Marking again replaces the mark and keeps since when; ending
// what is not there changes nothing. The codes are invalid, not_found, conflict,
// unavailable and timeout.
func (r *Room) Mark(ctx context.Context, name string, q api.FirmwareRequest, by string) (*resource.Server, error) {
	const op = "mark firmware work"
	reason := strings.TrimSpace(q.Reason)
	switch {
	case q.For < 0 || q.For.D() > maxFirmware:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "for is %s; give up to %s, or 0 to end the mark", q.For, maxFirmware)
	case q.For > 0 && reason == "" || len(reason) > store.MaxReason:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the reason has %d bytes; give 1 to %d", len(reason), store.MaxReason).
			WithHint("whoever waits for the server wants to know what is done to it")
	}
	known := false // that nothing is to be done is so in the store
	for try := 1; ; try++ {
		s, err := store.Get[*resource.Server](r.cfg.Objects, name)
		if err != nil {
			return nil, err
		}
		now, was := r.cfg.Clock().UTC(), s.Status.Firmware
		if q.For == 0 && was == nil {
			if known {
				return s, nil
			}
			if err = r.cfg.Objects.Current(ctx); err == nil || protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
				known = err == nil
				continue
			}
			return nil, err
		}
		s.Status.Firmware = nil
		message := "ended by " + by
		if q.For > 0 {
			w := &resource.FirmwareWork{By: by, Reason: reason, Since: now, NotAfter: now.Add(q.For.D())}
			if was != nil {
				w.Since = was.Since
			}
			s.Status.Firmware = w
			message = "marked by " + by + " until " + w.NotAfter.Format(time.RFC3339) + ": " + reason
		} else if reason != "" {
			message += ": " + reason
		}
		err = r.cfg.Objects.Put(ctx, s)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.cfg.Crash.At("hub.server.firmware")
		r.cfg.Logger.Info("firmware work", "server", name, "by", by, "for", q.For.D(), "reason", reason)
		r.cfg.Events.Own(ctx, name, resource.EventFirmwareWork, message)
		return s, nil
	}
}

// Turn removes the marks whose time is over, and plans the turn that removes
// the next one.
func (r *Room) Turn(ctx context.Context) error {
	now := r.cfg.Clock()
	var errs []error
	next := time.Time{}
	for _, s := range store.Find(r.cfg.Objects, store.ServersMarked, store.Any) {
		w := s.Status.Firmware
		if w == nil {
			continue
		}
		if now.Before(w.NotAfter) {
			if next.IsZero() || w.NotAfter.Before(next) {
				next = w.NotAfter
			}
			continue
		}
		s, err := store.Get[*resource.Server](r.cfg.Objects, s.Metadata.Name)
		if err != nil || s.Status.Firmware == nil || *s.Status.Firmware != *w {
			continue // the change is on its way here
		}
		s.Status.Firmware = nil
		if err := r.cfg.Objects.Put(ctx, s); err != nil {
			errs = append(errs, err)
			continue
		}
		r.cfg.Crash.At("hub.server.firmware-over")
		r.cfg.Events.Own(ctx, s.Metadata.Name, resource.EventFirmwareWork, "ended: its time is over")
	}
	at := int64(0)
	if !next.IsZero() {
		at = next.UnixNano()
	}
	r.ends.Store(at)
	return errors.Join(errs...)
}

// Due has the site take a turn when a mark is over.
func (r *Room) Due(now time.Time) {
	if at := r.ends.Load(); at != 0 && now.UnixNano() >= at {
		r.cfg.Wake.Site()
	}
}
