package trace

import (
	"fmt"
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
		Server: server, Attempt: a.ID, Number: a.Number, Purpose: a.Order.Purpose.Or(), Intended: a.Order.Target, Observed: a.Stage.Observed,
		Began: a.At, State: a.Stage.State, Since: a.Stage.Since, Code: a.Stage.Ending.Code, Reason: a.Stage.Ending.Reason,
	}
}
