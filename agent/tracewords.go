package agent

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// exchanged is what a boot client asked and got, in words.
func exchanged(e netboot.Exchange) resource.TraceRow {
	r := resource.TraceRow{At: e.At, Source: e.Source}
	switch e.Source {
	case protocol.TraceDHCP:
		r.What = strings.ToUpper(e.Asked)
		if e.V6 {
			r.What += " (IPv6)"
		}
		r.Detail = asked(e)
	case protocol.TraceTFTP:
		r.What = e.Asked
		r.Detail = fmt.Sprintf("%s, %d bytes in %s", e.File, e.Bytes, short(e.Took))
	case protocol.TraceHTTP:
		r.What = fmt.Sprintf("%s %d", e.Asked, e.Status)
		file := e.File
		if e.Report {
			file = "report"
		}
		if e.Range != "" {
			file += ", " + e.Range
		}
		r.Detail = fmt.Sprintf("%s, %d bytes in %s", file, e.Bytes, short(e.Took))
	case protocol.TraceAttempt, protocol.TraceRedfish, protocol.TraceReport, protocol.TraceGap:
	}
	return r
}

// asked is who asked by DHCP, and what it was told.
func asked(e netboot.Exchange) string {
	var b strings.Builder
	b.WriteString(string(e.Client.Class))
	for _, n := range e.Client.Archs {
		if a, ok := protocol.ArchOf(n); ok {
			b.WriteString(" " + a.CPU + " " + string(a.Firmware))
			if a.HTTP {
				b.WriteString(" HTTP")
			}
		} else {
			fmt.Fprintf(&b, " architecture %d", n)
		}
	}
	if e.Client.Address.IsValid() {
		fmt.Fprintf(&b, ", %s", e.Client.Address)
	}
	fmt.Fprintf(&b, " -> %s", e.Answered)
	if e.Decision.Action != "" {
		fmt.Fprintf(&b, ", %s: %s", e.Decision.Action, e.Decision.Reason)
	}
	if e.Decision.Action == protocol.AnswerBoot {
		fmt.Fprintf(&b, ", file %s", e.Decision.File)
	}
	return b.String()
}

// short is a duration as people read it.
func short(d time.Duration) string {
	if d >= time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

// overrideText is a boot override in words.
func overrideText(o protocol.Override) string {
	if !o.Armed() {
		return "none"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Target, o.Enabled, o.Mode))
}

// headOf is how far an attempt has come, without its rows.
func headOf(server string, a *decide.Attempt) *resource.Trace {
	return &resource.Trace{
		Server: server, Attempt: a.ID, Number: a.Number, Purpose: a.Purpose.Or(), Intended: a.Intended, Observed: a.Observed,
		Began: a.At, State: a.State, Since: a.Since, Code: a.Code, Reason: a.Reason,
	}
}

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

// stepped traces what a decision read and what it made of it. It needs s.mu.
func (s *server) stepped(before decide.Snapshot, plan decide.Plan) {
	t, now := s.agent.traces, s.agent.cfg.Clock()
	if o := before.Observation; o != nil {
		s.shown(before.Record.Attempt, before.Watch.Last, *o)
	}
	a := plan.Record.Attempt
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
}

func sameHead(a, b resource.Trace) bool {
	return a.Attempt == b.Attempt && a.State == b.State && a.Observed == b.Observed && a.Code == b.Code && a.Reason == b.Reason && a.Since.Equal(b.Since)
}

// shown traces what a read of the BMC shows otherwise than the one before.
func (s *server) shown(a *decide.Attempt, last, o protocol.Observation) {
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
func (s *server) redfish(attempt string, at time.Time, what, detail string) {
	s.agent.traces.add(sighting{server: s.name, attempt: attempt, row: resource.TraceRow{At: at, Source: protocol.TraceRedfish, What: what, Detail: detail}})
}

// acted traces an action at the BMC with its answer. Actions that no attempt asked for,
// such as the stop after it, belong to the one before.
func (s *server) acted(p decide.Plan, began time.Time, r decide.Result) {
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
	case decide.ActNone, decide.ActReadPolicy, decide.ActGuard, decide.ActUnguard:
	}
}

// reported traces what an image said, and what was answered.
func (b *boots) reported(server string, a *decide.Attempt, at time.Time, r protocol.ProbeReport, err error) {
	if a == nil || !traceable(a, at) {
		return
	}
	detail := r.Message
	if err != nil {
		detail = strings.TrimSpace(fmt.Sprintf("%s (not taken: %s)", detail, protocol.CodeOf(err)))
	}
	b.agent.traces.add(sighting{server: server, attempt: a.ID, row: resource.TraceRow{At: at, Source: protocol.TraceReport, What: string(r.State), Detail: detail}})
}

// goesOn says whether an exchange is a BMC's that goes on reading a medium: there are
// thousands of them, and the first says as much.
func (e indexed) goesOn(x netboot.Exchange) bool {
	return e.medium != nil && e.medium.Token == x.Token && x.Status == http.StatusPartialContent && !strings.HasPrefix(x.Range, "bytes=0-")
}

// trace takes an exchange of a boot server. Whoever is no machine of ours, and a system
// that renews its lease long after it was booted, is in no trace.
func (b *boots) trace(e netboot.Exchange) {
	var server string
	var a *decide.Attempt
	x := b.agent.index
	switch {
	case e.Token != "":
		var of indexed
		server, of, _ = x.token(e.Token)
		a = of.attempt
		if of.goesOn(e) {
			return
		}
	case e.Source == protocol.TraceDHCP:
		server, a = x.attemptOf(e.Client)
	default:
		if client, ok := b.leased.of(e.Remote, e.At); ok {
			server, a = x.attemptOf(client)
		}
	}
	if traceable(a, e.At) {
		b.agent.traces.add(sighting{server: server, attempt: a.ID, seen: e})
	}
}
