package attest

import (
	"bytes"

	"rackboot/netboot/attest/eventlog"
)

// Drift says by which events the PCRs of one boot differ from those of another: each difference
// has what was measured before, what is measured now, or both where the log gives them one type and
// one name. Values of PCRs say only that something changed. It is not about proof: both logs are to
// be of boots that were verified. nil is that nothing changed.
func Drift(before, after *eventlog.Log, bank eventlog.Algorithm, pcrs []int) []Difference {
	var out []Difference
	for _, pcr := range pcrs {
		old, now := extended(before, bank, pcr), extended(after, bank, pcr)
		for len(old) > 0 && len(now) > 0 && bytes.Equal(old[0].digest, now[0].digest) {
			old, now = old[1:], now[1:]
		}
		for len(old) > 0 && len(now) > 0 && bytes.Equal(old[len(old)-1].digest, now[len(now)-1].digest) {
			old, now = old[:len(old)-1], now[:len(now)-1]
		}
		out = append(out, changed(pcr, old, now)...)
	}
	return out
}

// driftEvent is an event as it is compared.
type driftEvent struct {
	number int
	name   string // type and text
	digest []byte
}

func extended(log *eventlog.Log, bank eventlog.Algorithm, pcr int) []driftEvent {
	var out []driftEvent
	for i, e := range log.Events {
		if e.Extended() && e.PCR == pcr {
			out = append(out, driftEvent{i, e.Type.String() + " " + e.Text(), e.Digest(bank)})
		}
	}
	return out
}

// changed pairs what is gone with what is new. Where the two have the same events in another
// order, the first one that moved is said.
func changed(pcr int, old, now []driftEvent) []Difference {
	gone, fresh := without(old, now), without(now, old)
	if len(gone)+len(fresh) == 0 && len(old)+len(now) > 0 {
		gone, fresh = old[:min(1, len(old))], now[:min(1, len(now))]
	}
	byName := map[string][]driftEvent{}
	for _, e := range gone {
		byName[e.name] = append(byName[e.name], e)
	}
	var out []Difference
	for _, e := range fresh {
		d := Difference{Code: Drifted, PCR: pcr, Event: e.number, Name: e.name, Seen: e.digest}
		if was := byName[e.name]; len(was) > 0 {
			d.Expected, byName[e.name] = was[0].digest, was[1:]
		}
		out = append(out, d)
	}
	for _, e := range gone {
		if left := byName[e.name]; len(left) > 0 && left[0].number == e.number {
			byName[e.name] = left[1:]
			out = append(out, Difference{Code: Drifted, PCR: pcr, Event: -1, Name: e.name, Expected: e.digest})
		}
	}
	return out
}

// without are the events whose digests the others do not have, counted.
func without(events, others []driftEvent) []driftEvent {
	have := map[string]int{}
	for _, o := range others {
		have[string(o.digest)]++
	}
	var out []driftEvent
	for _, e := range events {
		if have[string(e.digest)] > 0 {
			have[string(e.digest)]--
			continue
		}
		out = append(out, e)
	}
	return out
}
