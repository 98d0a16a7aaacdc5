package boot

import (
	"context"
	"net/netip"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// Report takes the report of a booted image from a client at remote. It is on disk when it
// returns.
func (b *segment) Report(_ context.Context, remote netip.Addr, token string, r protocol.ProbeReport) error {
	const op = "take report"
	kind := evidenceOf(r.State)
	server, verdict := b.judge(remote, token, kind)
	if verdict == decide.ReportEarly && b.room.cfg.Servers.Has(server) {
		// That the last byte of its files was sent may wait to be folded.
		if err := b.room.cfg.Servers.Fold(server, decide.Event{}); err != nil {
			return err
		}
		server, verdict = b.judge(remote, token, kind)
	}
	b.room.met.reports.WithLabelValues(string(verdict)).Inc()
	if verdict == decide.ReportUnknown {
		return protocol.Errorf(protocol.CodeNotFound, op, "unknown token")
	}
	if !b.room.cfg.Servers.Has(server) {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", server)
	}
	now := b.room.cfg.Clock()
	if verdict != decide.ReportTake {
		if err := b.room.cfg.Servers.Fold(server, decide.Event{Report: verdict, Token: token, At: now}); err != nil {
			return err
		}
		if verdict == decide.ReportEarly { // it may be one that is quicker than ever
			return protocol.Errorf(protocol.CodeUnavailable, op, "%s cannot run its image yet", server)
		}
		return protocol.Errorf(protocol.CodeDenied, op, "the report for %s is not heeded: %s", server, verdict)
	}
	_, e, _ := b.room.index.token(token)
	err := b.room.cfg.Servers.KeepImage(server, e.attempt.Order.OwnerUID, r, now)
	b.room.cfg.Traces.Reported(server, e.attempt, now, r, err)
	if err != nil {
		return err
	}
	event := decide.Event{Kind: kind, Token: token, At: now, Message: r.Message}
	if kind == protocol.EvidenceDiscovered {
		attested, why := b.room.cfg.TPMs.Proved(server, token)
		event.Attested, event.Unattested = attested, string(why)
	}
	return b.room.cfg.Servers.Fold(server, event)
}

// judge says what becomes of a report of a kind with a token that a client at remote sends.
func (b *segment) judge(remote netip.Addr, token string, kind protocol.EvidenceKind) (server string, v decide.ReportVerdict) {
	server, e, ok := b.room.index.token(token)
	if !ok {
		return "", decide.ReportUnknown
	}
	e.attempt = b.room.index.disputed(server, e.attempt)
	return server, decide.Report(e.attempt, e.pace, kind, token, b.whose(e, server, remote), b.room.cfg.Clock())
}

// evidenceOf is what a report is to a decision.
func evidenceOf(s protocol.ProbeState) protocol.EvidenceKind {
	switch s {
	case protocol.ProbeInstalled:
		return protocol.EvidenceInstalled
	case protocol.ProbeBooted:
		return protocol.EvidenceBooted
	case protocol.ProbeDiscovered:
		return protocol.EvidenceDiscovered
	case protocol.ProbeFailed:
		return protocol.EvidenceFailed
	}
	return ""
}
