package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

const (
	// auditScan bounds the entries that one request has looked at.
	auditScan = 5000
	// maxExports bounds the exports that run at once.
	maxExports = 2
	// exportType is the media type of JSON lines.
	exportType = "application/jsonl"
)

// AuditLog is the audit log as it is read; see package audit. It is used concurrently.
type AuditLog interface {
	// Read returns up to limit entries from a number on, and the number to go on with.
	Read(from uint64, limit int) ([]protocol.AuditEntry, uint64, error)
	// Since is the number of an entry before which all are older.
	Since(at time.Time) uint64
	// Head is the last entry's number and hash.
	Head() (seq uint64, hash string)
	// Broken says of each segment that does not fit together why.
	Broken() map[string]string
	// Export writes the log from the segment of an entry on, and its signed end.
	Export(ctx context.Context, w io.Writer, from uint64) error
}

type auditInput struct {
	From   uint64    `query:"from" doc:"number of the first entry; 0 is where the log begins"`
	Limit  int       `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"at most so many"`
	Since  time.Time `query:"since" doc:"only entries that are not older"`
	Caller string    `query:"caller" doc:"only entries of this caller"`
	Target string    `query:"target" doc:"only entries about this, Kind/name"`
}

func (in *auditInput) fits(e protocol.AuditEntry) bool {
	return (in.Caller == "" || e.Caller == in.Caller) && (in.Target == "" || e.Target == in.Target) && !e.At.Before(in.Since)
}

type exportInput struct {
	From uint64 `query:"from" doc:"begin with the segment that has this entry"`
}

// audits has the routes of the audit log. A hub without one answers unsupported.
type audits struct {
	log    AuditLog // nil is none
	logger *slog.Logger
}

func (a audits) routes(t *route.Table) {
	ready := func() error {
		if a.log == nil {
			return protocol.Errorf(protocol.CodeUnsupported, "read audit log", "this hub keeps none")
		}
		return nil
	}
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathAudit, "audit", "Read the audit log, oldest first", nil,
		route.Rule{Right: access.AuditRead, Target: route.TargetWhole}),
		func(ctx context.Context, in *auditInput) (*answer[protoapi.AuditList], error) {
			if err := ready(); err != nil {
				return nil, route.Problem(err)
			}
			list, err := readAudit(a.log, in)
			return &answer[protoapi.AuditList]{list}, route.Problem(err)
		})

	exports := make(chan struct{}, maxExports)
	op := t.Operation(http.MethodGet, protoapi.PathAuditExport, "exportAudit", "Export the audit log as JSON lines, with an end that the hub signed", nil,
		route.Rule{Right: access.AuditRead, Target: route.TargetWhole})
	op.Responses["200"] = &huma.Response{Description: "Entries, one a line, and the signed end", Content: map[string]*huma.MediaType{exportType: {}}}
	route.Register(t, op, func(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
		if err := ready(); err != nil {
			return nil, route.Problem(err)
		}
		if head, _ := a.log.Head(); in.From > head {
			return nil, route.Problem(protocol.Errorf(protocol.CodeInvalid, "export audit log", "the log ends with entry %d", head).WithHint("give a smaller number"))
		}
		select {
		case exports <- struct{}{}:
		default:
			return nil, route.Problem(protocol.Errorf(protocol.CodeUnavailable, "export audit log", "%d exports are running", maxExports).WithHint("try again when they have ended"))
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer func() { <-exports }()
			hc.SetHeader("Content-Type", exportType)
			hc.SetHeader("Cache-Control", "no-store")
			// Whoever reads it misses the end.
			if err := a.log.Export(hc.Context(), hc.BodyWriter(), in.From); err != nil {
				a.logger.Warn("audit export ended early", "err", err)
			}
		}}, nil
	})
}

// readAudit collects the entries that fit, out of those that one request may look at.
func readAudit(log AuditLog, in *auditInput) (protoapi.AuditList, error) {
	list := protoapi.AuditList{Items: []protocol.AuditEntry{}, Next: in.From}
	if !in.Since.IsZero() {
		list.Next = max(list.Next, log.Since(in.Since))
	}
	list.Head, list.Hash = log.Head()
	for name, why := range log.Broken() {
		list.Broken = append(list.Broken, protoapi.AuditBreak{Segment: name, Finding: why})
	}
	slices.SortFunc(list.Broken, func(a, b protoapi.AuditBreak) int { return strings.Compare(a.Segment, b.Segment) })
	for looked := 0; looked < auditScan && len(list.Items) < in.Limit; {
		page, next, err := log.Read(list.Next, in.Limit)
		if err != nil {
			return list, err
		}
		if len(page) == 0 {
			list.Next = max(list.Head+1, next)
			break
		}
		looked += len(page)
		list.Next = next
		for _, e := range page {
			if len(list.Items) == in.Limit {
				list.Next = e.Seq // the rest of the page is another answer's
				break
			}
			if in.fits(e) {
				list.Items = append(list.Items, e)
			}
		}
	}
	return list, nil
}
