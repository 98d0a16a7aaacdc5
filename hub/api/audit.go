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

// AuditSite is the audit logs of all hubs that share a store; see package auditcopy. It is used concurrently.
type AuditSite interface {
	// List reads the logs of all hubs or of one, in the order of their times.
	List(ctx context.Context, q protoapi.AuditQuery, fits func(protocol.AuditEntry) bool) (protoapi.AuditList, error)
	// Export makes an export of all logs; what it refuses, it refuses before anything is written.
	Export(ctx context.Context) (func(ctx context.Context, w io.Writer) error, error)
	// ExportOf makes an export of one hub's log, from the segment of an entry on.
	ExportOf(ctx context.Context, hub string, from uint64) (func(ctx context.Context, w io.Writer) error, error)
}

type auditInput struct {
	From   uint64    `query:"from" doc:"number of the first entry; 0 is where the log begins"`
	Limit  int       `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"at most so many"`
	Since  time.Time `query:"since" doc:"only entries that are not older"`
	Caller string    `query:"caller" doc:"only entries of this caller"`
	Target string    `query:"target" doc:"only entries about this, Kind/name"`
	All    bool      `query:"all" doc:"the logs of all hubs that share the store; a hub that is alone has its own"`
	Hub    string    `query:"hub" maxLength:"64" doc:"the log of this hub, of those that share the store"`
	// Continue is of an answer.
	Continue string `query:"continue" maxLength:"16384" doc:"go on where the answer with that continue ended"`
}

// ofSite reports whether the logs of a site are asked for. Errors: unsupported for a hub's name where no other shares the
// store; invalid for a number that is of no one log.
func ofSite(site AuditSite, all bool, hub string, from uint64) (bool, error) {
	const op = "read audit log"
	switch {
	case site == nil && hub != "":
		return false, protocol.Errorf(protocol.CodeUnsupported, op, "this hub shares its store with no other").WithHint("leave the hub's name away")
	case site == nil:
		return false, nil
	case all && hub == "" && from > 0:
		return false, protocol.Errorf(protocol.CodeInvalid, op, "each hub numbers its own entries").WithHint("name the hub: --hub NAME")
	}
	return all || hub != "", nil
}

func (in *auditInput) fits(e protocol.AuditEntry) bool {
	return (in.Caller == "" || e.Caller == in.Caller) && (in.Target == "" || e.Target == in.Target) && !e.At.Before(in.Since)
}

type exportInput struct {
	From uint64 `query:"from" doc:"begin with the segment that has this entry"`
	All  bool   `query:"all" doc:"the logs of all hubs that share the store; a hub that is alone has its own"`
	Hub  string `query:"hub" maxLength:"64" doc:"the log of this hub, of those that share the store"`
}

// audits has the routes of the audit log. A hub without one answers unsupported.
type audits struct {
	log    AuditLog  // nil is none
	site   AuditSite // nil where no other hub shares the store
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
			all, err := ofSite(a.site, in.All, in.Hub, in.From)
			if err != nil {
				return nil, route.Problem(err)
			}
			var list protoapi.AuditList
			if all {
				list, err = a.site.List(ctx, protoapi.AuditQuery{From: in.From, Limit: in.Limit, Since: in.Since, Hub: in.Hub, Continue: in.Continue}, in.fits)
			} else {
				list, err = readAudit(a.log, in)
			}
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
		select {
		case exports <- struct{}{}:
		default:
			return nil, route.Problem(protocol.Errorf(protocol.CodeUnavailable, "export audit log", "%d exports are running", maxExports).WithHint("try again when they have ended"))
		}
		export, err := a.export(ctx, in)
		if err != nil {
			<-exports
			return nil, route.Problem(err)
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer func() { <-exports }()
			hc.SetHeader("Content-Type", exportType)
			hc.SetHeader("Cache-Control", "no-store")
			// Whoever reads it misses the end.
			if err := export(hc.Context(), hc.BodyWriter()); err != nil {
				a.logger.Warn("audit export ended early", "err", err)
			}
		}}, nil
	})
}

// export makes the export that is asked for, and refuses what can be refused before a byte is sent.
func (a audits) export(ctx context.Context, in *exportInput) (func(ctx context.Context, w io.Writer) error, error) {
	all, err := ofSite(a.site, in.All, in.Hub, in.From)
	switch {
	case err != nil:
		return nil, err
	case all && in.Hub == "":
		return a.site.Export(ctx)
	case all:
		return a.site.ExportOf(ctx, in.Hub, in.From)
	}
	if head, _ := a.log.Head(); in.From > head {
		return nil, protocol.Errorf(protocol.CodeInvalid, "export audit log", "the log ends with entry %d", head).WithHint("give a smaller number")
	}
	return func(ctx context.Context, w io.Writer) error { return a.log.Export(ctx, w, in.From) }, nil
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
