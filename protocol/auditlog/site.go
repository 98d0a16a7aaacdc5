package auditlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// SiteEnd is what a hub signs of an export of the logs of all hubs that share a store.
type SiteEnd struct {
	By   string    `json:"by"` // the hub that exported
	At   time.Time `json:"at"`
	Logs []SiteLog `json:"logs"`
}

// SiteLog is what an export of a site has of one hub's log.
type SiteLog struct {
	Hub string `json:"hub"`
	// From, Seq and Hash are of the first and the last entry; zero where the export has nothing of the log.
	From uint64 `json:"from,omitempty"`
	Seq  uint64 `json:"seq,omitempty"`
	Hash string `json:"hash,omitempty"`
	// KnownSeq and KnownHash are of the last entry that the hubs' store knew then; zero if it knew nothing.
	KnownSeq  uint64 `json:"knownSeq,omitempty"`
	KnownHash string `json:"knownHash,omitempty"`
}

const (
	hubBefore   = `{"hub":`
	hubAfter    = `}`
	maxHubsLine = 1 << 10
)

// HubLine begins the log of a hub in an export of a site, without the line's end.
func HubLine(hub string) []byte {
	name, _ := json.Marshal(hub) // no string fails
	return slices.Concat([]byte(hubBefore), name, []byte(hubAfter))
}

// SiteEndLine is the last line of an export of a site, without the line's end.
func SiteEndLine(s *wire.Signer, end SiteEnd) ([]byte, error) {
	return sealedLine(s, siteEndBefore, TopicSiteEnd, end)
}

// hubIn is the hub of a line that [HubLine] made; empty if it did not.
func hubIn(line []byte) (hub string) {
	text, ok := bytes.CutPrefix(line, []byte(hubBefore))
	text, ok2 := bytes.CutSuffix(text, []byte(hubAfter))
	if !ok || !ok2 || len(line) > maxHubsLine || json.Unmarshal(text, &hub) != nil || !bytes.Equal(HubLine(hub), line) {
		return ""
	}
	return hub
}

// Export is a verified export, of one hub's log or of the logs of a site, with the hashes of [History].
type Export struct {
	Site       bool       `json:"-"`
	By         string     `json:"by,omitempty"` // the hub that exported a site
	ExportedAt time.Time  `json:"exportedAt"`
	Logs       []*History `json:"logs"`
	// Heads counts the ends of others' logs that hubs have signed, and that were found in those logs.
	Heads int `json:"heads"`
	// Unchecked is what cannot be checked by this export.
	Unchecked []Unchecked `json:"unchecked,omitempty"`
}

// Unchecked is something of a hub's log that an export says nothing of.
type Unchecked struct {
	Hub string `json:"hub"`
	Why string `json:"why"`
}

// IsSite reports whether an export is one of a site, by its beginning. What it reads of r is read again from the
// reader that it returns.
func IsSite(r io.Reader) (io.Reader, bool) {
	b := bufio.NewReader(r)
	begin, _ := b.Peek(len(hubBefore)) // what cannot be read now cannot be read later
	return b, string(begin) == hubBefore || bytes.HasPrefix(begin, []byte(siteEndBefore[:len(hubBefore)]))
}

// ReadExport verifies an export of either form.
//
// Errors: a *[Finding] names the first that does not fit, first of each log by itself and then of what hubs have signed
// of one another; unavailable if r cannot be read.
func ReadExport(r io.Reader, keys *Keys) (*Export, error) {
	r, site := IsSite(r)
	if site {
		return readSite(r, keys)
	}
	h, err := ReadHistory(r, keys)
	if err != nil {
		return nil, err
	}
	return &Export{ExportedAt: h.ExportedAt, Logs: []*History{h}}, nil
}

// siteReading is an export of a site as far as it was read.
type siteReading struct {
	keys  *Keys
	lines *lines
	logs  []*History
	said  []signedHead
}

// signedHead is an end of another's log that a hub has signed.
type signedHead struct {
	Head
	by  string // the hub
	seq uint64 // its entry; 0 is the end of the export
}

func (s signedHead) says() string {
	if s.seq == 0 {
		return "the hubs' store knew"
	}
	return fmt.Sprintf("hub %s signed in its entry %d", s.by, s.seq)
}

func readSite(r io.Reader, keys *Keys) (*Export, error) {
	s := &siteReading{keys: keys, lines: newLines(r)}
	for {
		line, err := s.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, &Finding{Fault: Cut, Line: s.lines.n + 1, Why: fmt.Sprintf("the file ends after %d logs without the end that the hub signed", len(s.logs))}
		case err != nil:
			return nil, s.lines.failed(err)
		}
		if data := sealedIn(line, siteEndBefore); data != nil {
			return s.end(data)
		}
		hub := hubIn(line)
		if hub == "" {
			return nil, &Finding{Fault: Altered, Line: s.lines.n, Why: "the line begins no hub's log"}
		}
		if s.log(hub) != nil {
			return nil, &Finding{Fault: Inserted, Line: s.lines.n, Hub: hub, Why: "a second log of this hub begins here"}
		}
		if err := s.read(hub); err != nil {
			return nil, err
		}
	}
}

func (s *siteReading) log(hub string) *History {
	for _, h := range s.logs {
		if h.Hub == hub {
			return h
		}
	}
	return nil
}

// read reads the log of a hub.
func (s *siteReading) read(hub string) error {
	h := &History{}
	newest := map[string]Head{}
	var err error
	h.Report, err = readLog(s.lines, NewChain(s.keys), func(e protocol.AuditEntry, known Known) error {
		h.hashes = append(h.hashes, sumOf(e.Hash))
		for _, o := range known.Others {
			if o == newest[o.Hub] {
				continue
			}
			if was := newest[o.Hub]; o.Seq <= was.Seq {
				return &Finding{Fault: Forked, Line: s.lines.n, Seq: e.Seq, Why: fmt.Sprintf("it says that the log of hub %s ends with entry %d, hash %s; an earlier one said entry %d, hash %s", o.Hub, o.Seq, o.Hash, was.Seq, was.Hash)}
			}
			newest[o.Hub] = o
			s.said = append(s.said, signedHead{o, hub, e.Seq})
		}
		return nil
	})
	if f, ok := errors.AsType[*Finding](err); ok {
		f.Hub = hub
		return f
	}
	if err == nil && h.Hub != hub {
		return &Finding{Fault: Altered, Line: s.lines.n, Hub: hub, Why: fmt.Sprintf("the log stands under this name, and was exported as that of hub %q", h.Hub)}
	}
	s.logs = append(s.logs, h)
	return err
}

// end judges the last line, and then what hubs say of one another.
func (s *siteReading) end(data []byte) (*Export, error) {
	var end SiteEnd
	if f, why := s.keys.open(TopicSiteEnd, data, &end); f != "" {
		return nil, &Finding{Fault: f, Line: s.lines.n, Why: "the end: " + why}
	}
	at := s.lines.n
	if err := s.lines.ended(); err != nil {
		return nil, err
	}
	out := &Export{Site: true, By: end.By, ExportedAt: end.At, Logs: s.logs}
	listed := map[string]bool{}
	for _, l := range end.Logs {
		listed[l.Hub] = true
		if f := s.fits(l, end.At); f != nil {
			f.Line, f.Hub = at, l.Hub
			return nil, f
		}
		if l.KnownSeq > 0 {
			s.said = append(s.said, signedHead{Head{l.Hub, l.KnownSeq, l.KnownHash}, end.By, 0})
		}
	}
	for _, h := range s.logs {
		if !listed[h.Hub] {
			return nil, &Finding{Fault: Inserted, Line: at, Hub: h.Hub, Why: "the hub that exported has exported no such log"}
		}
	}
	unchecked := map[string]string{}
	for _, said := range s.said {
		h := s.log(said.Hub)
		if h == nil || said.Seq+1 < h.First {
			if _, told := unchecked[said.Hub]; h == nil || !told {
				unchecked[said.Hub] = missingOf(h, said)
			}
			continue
		}
		if f := judgeHead(h, said); f != nil {
			return nil, f
		}
		out.Heads++
	}
	for _, l := range end.Logs {
		if _, told := unchecked[l.Hub]; l.Seq == 0 && !told {
			unchecked[l.Hub] = "its log is not in the export"
		}
	}
	for hub, why := range unchecked {
		out.Unchecked = append(out.Unchecked, Unchecked{hub, why})
	}
	slices.SortFunc(out.Unchecked, func(a, b Unchecked) int { return strings.Compare(a.Hub, b.Hub) })
	return out, nil
}

func missingOf(h *History, said signedHead) string {
	if h == nil {
		return fmt.Sprintf("its log is not in the export; %s entry %d", said.says(), said.Seq)
	}
	return fmt.Sprintf("its log begins with entry %d here; %s entry %d", h.First, said.says(), said.Seq)
}

// fits says whether the export has of a log what its end says.
func (s *siteReading) fits(l SiteLog, at time.Time) *Finding {
	h := s.log(l.Hub)
	switch {
	case l.Seq == 0 && h == nil:
		return nil
	case l.Seq == 0:
		return &Finding{Fault: Inserted, Why: "the hub that exported had nothing of this log"}
	case h == nil:
		return &Finding{Fault: Missing, Seq: l.From, Why: fmt.Sprintf("the log is not there; the hub exported entries %d to %d", l.From, l.Seq)}
	case h.First != l.From || h.Last != l.Seq || h.Hash != l.Hash || !h.ExportedAt.Equal(at):
		return &Finding{Fault: Altered, Seq: h.Last, Why: fmt.Sprintf("the log has entries %d to %d of another export; the hub exported %d to %d", h.First, h.Last, l.From, l.Seq)}
	}
	return nil
}

// judgeHead holds a log to an end of it that was signed elsewhere.
//
//	the log                                   | outcome
//	begins after the entry that follows it    | not for this: it cannot be checked
//	begins with that, and has another prev    | forked
//	ends before it                            | cut
//	has another hash under its number         | forked
//	else                                      | fits
//
// The first row that fits decides.
func judgeHead(h *History, said signedHead) *Finding {
	no := func(f Fault, seq uint64, format string, args ...any) *Finding {
		return &Finding{Fault: f, Hub: h.Hub, Seq: seq, Why: fmt.Sprintf(format, args...) + fmt.Sprintf("; %s entry %d, hash %s", said.says(), said.Seq, said.Hash)}
	}
	switch {
	case said.Seq+1 == h.First && h.prev != said.Hash:
		return no(Forked, h.First, "it follows another entry")
	case said.Seq+1 == h.First:
		return nil
	case said.Seq > h.Last:
		return no(Cut, h.Last+1, "%s not there, at the tail of the log", run(h.Last+1, said.Seq))
	case h.at(said.Seq) != sumOf(said.Hash):
		return no(Forked, said.Seq, "it has another hash")
	}
	return nil
}

// Follows says whether the logs of e are those of an older export, gone on; nil if so. An export of one hub's log is
// held to that log alone; an export of one that names no hub, as releases before 0.2 make it, to any.
func (e *Export) Follows(old *Export) *Finding {
	compared := false
	for _, was := range old.Logs {
		f, is := e.follows(was)
		if f != nil {
			return f
		}
		compared = compared || is
		if !is && e.Site {
			return &Finding{Fault: Missing, Hub: was.Hub, Seq: was.First, Why: "the log is not there; the older export has it"}
		}
	}
	if !compared {
		return &Finding{Fault: Missing, Hub: e.Logs[0].Hub, Why: "the older export has nothing of this log"}
	}
	return nil
}

// follows holds a log of an older export to the one that may be it, and reports whether there is one.
func (e *Export) follows(was *History) (wrong *Finding, is bool) {
	for _, now := range e.Logs {
		if was.Hub != "" && now.Hub != "" && now.Hub != was.Hub {
			continue
		}
		f := now.Follows(was)
		if f == nil {
			return nil, true
		}
		if f.Hub = now.Hub; wrong == nil {
			wrong = f
		}
	}
	return wrong, wrong != nil
}
