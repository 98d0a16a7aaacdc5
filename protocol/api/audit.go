package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol"
)

// The routes of the audit log.
const (
	PathAudit       = "/v1/audit"
	PathAuditExport = "/v1/audit/export"
)

// AuditWait bounds how long an export may take.
const AuditWait = 15 * time.Minute

// MaxAuditPage bounds the entries of one answer.
const MaxAuditPage = 1000

// AuditQuery chooses entries of the audit log. What is empty chooses all.
type AuditQuery struct {
	From   uint64    // number of the first entry
	Limit  int       // at most so many entries, 1 to MaxAuditPage
	Since  time.Time // not older than this
	Caller string
	Target string // Kind/name
	// All asks a hub that shares its store for the logs of all hubs, in the order of their times; one that is alone
	// has its own. Hub asks for the log of one of them.
	All bool
	Hub string
	// Continue goes on where an answer with that Continue has ended.
	Continue string
}

// AuditList is a run of the audit log's entries. The hub looks at a bounded number for
// one answer, so that there may be few or none although more follow: Next is the From of
// the request that goes on, and greater than Head where the log ends. In an answer with Hubs it is Continue that goes on,
// and it is empty where the logs end.
type AuditList struct {
	Items []protocol.AuditEntry `json:"items"`
	Next  uint64                `json:"next"`
	Head  uint64                `json:"head"` // number of the last entry
	Hash  string                `json:"hash"` // of the last entry
	// Broken are the segments that do not fit together.
	Broken []AuditBreak `json:"broken,omitempty"`
	// Hubs are those whose logs are in the answer, where it was asked for the logs of hubs that share a store. Head and
	// Hash are of the hub that answers.
	Hubs     []string `json:"hubs,omitempty"`
	Continue string   `json:"continue,omitempty"`
}

// AuditBreak is a segment of the audit log that does not fit together.
type AuditBreak struct {
	Segment string `json:"segment"`
	Finding string `json:"finding"`
}

// Audit is the record of who asked for what.
type Audit struct{ hub *hub }

// List reads entries of the audit log.
func (a Audit) List(ctx context.Context, q AuditQuery) (out AuditList, err error) {
	v := url.Values{"from": {strconv.FormatUint(q.From, 10)}, "limit": {strconv.Itoa(q.Limit)}}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	if q.Caller != "" {
		v.Set("caller", q.Caller)
	}
	if q.Target != "" {
		v.Set("target", q.Target)
	}
	if q.All {
		v.Set("all", "true")
	}
	if q.Hub != "" {
		v.Set("hub", q.Hub)
	}
	if q.Continue != "" {
		v.Set("continue", q.Continue)
	}
	err = a.hub.call(ctx, http.MethodGet, PathAudit+"?"+v.Encode(), nil, &out)
	return out, err
}

// Export writes the audit log to w, from the beginning of the segment that has the
// entry from; see package auditlog. It takes up to [AuditWait]. It does not say whether
// the export is whole: its signature does.
func (a Audit) Export(ctx context.Context, from uint64, w io.Writer) error {
	return a.export(ctx, from, url.Values{}, w)
}

// ExportFrom is Export, and refused by a hub that shares its store with others: it says to name one.
func (a Audit) ExportFrom(ctx context.Context, from uint64, w io.Writer) error {
	return a.export(ctx, from, url.Values{"all": {"true"}}, w)
}

// ExportAll is Export of the logs of all hubs that share the store; a hub that is alone exports its own.
func (a Audit) ExportAll(ctx context.Context, w io.Writer) error {
	return a.export(ctx, 0, url.Values{"all": {"true"}}, w)
}

// ExportOf is Export of the log of one of the hubs that share the store.
func (a Audit) ExportOf(ctx context.Context, hub string, from uint64, w io.Writer) error {
	return a.export(ctx, from, url.Values{"hub": {hub}}, w)
}

func (a Audit) export(ctx context.Context, from uint64, v url.Values, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, AuditWait)
	defer cancel()
	v.Set("from", strconv.FormatUint(from, 10))
	return a.hub.stream(ctx, PathAuditExport+"?"+v.Encode(), w)
}

// stream writes the answer to a GET to w as it comes.
func (h *hub) stream(ctx context.Context, path string, w io.Writer) error {
	plain, _, _ := strings.Cut(path, "?")
	op := "get " + plain
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+path, nil)
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
	if resp.StatusCode >= 300 {
		raw, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody))
		if err != nil {
			return h.transportError(ctx, op, err)
		}
		return problemIn(op, resp, raw)
	}
	into := &sink{w: w}
	if _, err := io.Copy(into, resp.Body); err != nil && into.err == nil {
		return h.transportError(ctx, op, err)
	}
	return into.err
}

// sink tells an error of the writer from one of the connection.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil {
		s.err = err
	}
	return n, err
}
