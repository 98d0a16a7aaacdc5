package audit

import (
	"crypto/ed25519"
	"fmt"
	"log/slog"

	"rackboot/protocol/auditlog"
)

// Fault is what does not fit in the files of a log.
type Fault struct {
	Segment string // the file; empty where all are gone
	Why     string
	// Torn is where an incomplete line begins, which a crash left at the end of the newest segment, in
	// bytes; 0 for other faults.
	Torn int64
}

// Inspect reads the files in dir as they lie, and holds them to keys and to a head that was kept elsewhere. Nothing is
// written. What was noted by a later segment at the time is no fault, but what the note is of.
// Errors: unavailable.
func Inspect(dir string, keys []ed25519.PublicKey, kept Head) (faults []Fault, err error) {
	l := &Log{cfg: Config{Dir: dir}, log: slog.New(slog.DiscardHandler), keys: auditlog.NewKeys(keys...), has: &contents{broken: map[string]string{}}}
	segments, err := l.list()
	if err != nil {
		return nil, err
	}
	last := head{}
	for i, s := range segments {
		res, err := l.scan(s)
		if err != nil {
			return nil, l.failed("read "+s.name(), err)
		}
		wrong := res.wrong
		if i < len(segments)-1 {
			wrong = judge(res, segments[i+1])
		} else if wrong == nil && res.torn > 0 {
			faults = append(faults, Fault{Segment: s.name(), Torn: s.size, Why: fmt.Sprintf("%d bytes of an incomplete line, of a crash", res.torn)})
		}
		if wrong != nil {
			faults = append(faults, Fault{Segment: s.name(), Why: wrong.Error()})
		}
		last = head{res.chain.Seq, res.chain.Hash}
	}
	l.has.segments, l.has.head = segments, last
	another := false
	if kept.Seq > 0 && kept.Seq <= last.seq {
		list, _, err := l.Read(kept.Seq, 1)
		if err != nil {
			return nil, err
		}
		another = len(list) == 1 && list[0].Seq == kept.Seq && list[0].Hash != kept.Hash
	}
	if fault := compareRule(kept.Seq > 0, last.seq < kept.Seq, another); fault != "" {
		f := Fault{Why: fmt.Sprintf("%s: the store knows entry %d, and the files end with %d", fault, kept.Seq, last.seq)}
		if len(segments) > 0 {
			f.Segment = segments[len(segments)-1].name()
		}
		faults = append(faults, f)
	}
	return faults, nil
}
