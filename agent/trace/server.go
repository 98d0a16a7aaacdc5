package trace

import (
	"fmt"
	"slices"
	"time"

	"rackboot/agent/bootspan"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Server traces what the loop of one server does.
type Server struct {
	room *Room
	name string
	head *resource.Trace // how far the attempt had come when that was last traced; used by Stepped only
	// what is what the newest attempt boots, by the last document that said so; used by Stepped only.
	what what
}

// what is what an attempt boots, in the words of a document.
type what struct{ attempt, owner, env string }

// Server returns what traces the loop of a server.
func (t *Room) Server(name string) *Server { return &Server{room: t, name: name} }

// stepEvents are the events of a decision that say how an attempt goes on. What is sent
// to the BMC, what it shows and what clients ask is traced where it is seen.
var stepEvents = []resource.EventCode{
	resource.EventConsumed, resource.EventAttemptBegun, resource.EventGrantUsed, resource.EventArmed, resource.EventPowerOn, resource.EventFetched,
	resource.EventInstalled, resource.EventProvisioned, resource.EventDiskBoot, resource.EventAttemptFailed, resource.EventMismatch,
	resource.EventUnexpected, resource.EventStopping, resource.EventUserDataDelivered, resource.EventUserDataRefused,
	resource.EventMediaInserted, resource.EventMediaEjected, resource.EventBootURLCleared, resource.EventDiscovery,
}

// stepSource is who saw what an event says: that firmware took the override is read from
// the BMC.
func stepSource(code resource.EventCode) (protocol.TraceSource, bool) {
	if code == resource.EventConsumed {
		return protocol.TraceRedfish, true
	}
	return protocol.TraceAttempt, slices.Contains(stepEvents, code)
}

// Stepped traces what a decision read and what it made of it. It is called by one goroutine
// at a time.
func (s *Server) Stepped(before decide.Snapshot, plan decide.Plan) {
	t, now := s.room, s.room.cfg.Clock()
	if o := before.Observation; o != nil {
		s.shown(before.Record.Attempt, before.Watch.Last, *o)
	}
	a := plan.Record.Attempt
	if was := before.Record.Attempt; was.Open() && (a == nil || a.ID != was.ID) {
		s.ended(bootspan.Dropped(t.cfg.Rack, s.name, was, now))
	}
	s.names(before.Intent, a)
	if a == nil {
		return
	}
	if head := headOf(s.name, a); s.head == nil || !sameHead(*s.head, *head) {
		if t.add(sighting{server: s.name, attempt: a.ID, head: head}) {
			s.head = head
		}
	}
	if !traceable(a, now) {
		return
	}
	for _, e := range plan.Happened {
		if source, is := stepSource(e.Code); is {
			t.add(sighting{server: s.name, attempt: a.ID, row: resource.TraceRow{At: e.At, Source: source, What: string(e.Code), Detail: e.Message}})
		}
	}
	if was := before.Record.Attempt; was == nil || was.ID != a.ID || len(was.Stage.Course) != len(a.Stage.Course) {
		s.ended(bootspan.Of(t.cfg.Rack, s.name, a))
	}
}

// names remembers what the attempt boots while a document says it.
func (s *Server) names(in *message.ServerIntent, a *decide.Attempt) {
	if a == nil || in == nil || in.Boot == nil || in.Boot.Owner.UID != a.Order.OwnerUID {
		return
	}
	if s.what.attempt != a.ID {
		s.what = what{attempt: a.ID}
	}
	s.what.owner = in.Boot.Owner.Name
	if in.Boot.Env != nil && in.Boot.Generation == a.Order.Generation {
		s.what.env = in.Boot.Env.Name
	}
}

// ended hands over an attempt that has ended; is is false where there is none.
func (s *Server) ended(b bootspan.Boot, is bool) {
	if !is || s.room.cfg.Spans == nil {
		return
	}
	if s.what.attempt == b.Attempt {
		b.Owner.Name, b.BootEnv = s.what.owner, s.what.env
	}
	if !s.room.add(sighting{server: s.name, attempt: b.Attempt, ended: &b}) {
		s.room.cfg.Spans.Lost(b)
	}
}

func sameHead(a, b resource.Trace) bool {
	return a.Attempt == b.Attempt && a.State == b.State && a.Observed == b.Observed && a.Code == b.Code && a.Reason == b.Reason && a.Since.Equal(b.Since)
}

// shown traces what a read of the BMC shows otherwise than the one before.
func (s *Server) shown(a *decide.Attempt, last, o protocol.Observation) {
	if !traceable(a, o.ReadAt) {
		return
	}
	row := func(what, format string, args ...any) {
		s.redfish(a.ID, o.ReadAt, what, fmt.Sprintf(format, args...))
	}
	if o.Power != last.Power {
		detail := string(o.Power)
		if last.Power != "" {
			detail += " after " + string(last.Power)
		}
		if o.Error != "" {
			detail += ": " + o.Error
		}
		row("power", "%s", detail)
	}
	if o.Power == protocol.PowerUnreachable || o.Power == protocol.PowerUnknown {
		return
	}
	if o.BootProgress != last.BootProgress && o.BootProgress != "" {
		row("boot progress", "%s", o.BootProgress)
	}
	if o.Override != last.Override && (o.Override.Armed() || last.Override.Armed()) {
		row("override", "%s after %s", overrideText(o.Override), overrideText(last.Override))
	}
}

// redfish traces something at the BMC.
func (s *Server) redfish(attempt string, at time.Time, what, detail string) {
	s.room.add(sighting{server: s.name, attempt: attempt, row: resource.TraceRow{At: at, Source: protocol.TraceRedfish, What: what, Detail: detail}})
}

// Acted traces an action at the BMC with its answer. Actions that no attempt asked for,
// such as the stop after it, belong to the one before.
func (s *Server) Acted(p decide.Plan, began time.Time, r decide.Result) {
	a := p.Record.Attempt
	if !traceable(a, began) {
		return
	}
	answer := "accepted"
	if r.Code != "" {
		answer = fmt.Sprintf("%s: %s", r.Code, r.Message)
	}
	answer += " in " + short(r.At.Sub(began))
	switch p.Action.Kind {
	case decide.ActArm, decide.ActDisarm:
		what := "write override"
		if p.Action.Kind == decide.ActDisarm {
			what = "clear override"
		}
		s.redfish(a.ID, began, what, overrideText(p.Action.Override)+": "+answer)
		back := fmt.Sprintf("%s (%s)", overrideText(r.Stored), r.Outcome)
		if r.Where != "" {
			back += " at " + r.Where
		}
		if r.Text != "" && r.Text != r.Message {
			back += ": " + r.Text
		}
		s.redfish(a.ID, r.At, "read back", back)
	case decide.ActOn, decide.ActRestart, decide.ActGraceful, decide.ActForceOff:
		s.redfish(a.ID, began, "power action", fmt.Sprintf("%s: %s", p.Action.Kind, answer))
	case decide.ActInsert, decide.ActEject:
		s.redfish(a.ID, began, "virtual media", fmt.Sprintf("%s: %s", p.Action.Kind, answer))
	case decide.ActClearURL:
		s.redfish(a.ID, began, "clear boot URL", answer)
	case decide.ActReadFirmware, decide.ActWriteFirmware:
		s.redfish(a.ID, began, "firmware settings", fmt.Sprintf("%s: %s", p.Action.Kind, answer))
	case decide.ActNone, decide.ActReadPolicy, decide.ActGuard, decide.ActUnguard:
	}
}
