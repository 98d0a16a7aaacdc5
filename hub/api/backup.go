package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// Backups makes copies of the hub; see package backup. It is used concurrently.
type Backups interface {
	// Begin takes the place of the one backup that may be made, and returns what makes it, which must be
	// called.
	Begin() (write func(ctx context.Context, w io.Writer) error, err error)
	// Status says how the hub is backed up.
	Status() protoapi.BackupStatus
}

// backups has the routes of backups. A hub without them answers unsupported.
type backups struct {
	room   Backups // nil is none
	logger *slog.Logger
}

func (b backups) routes(t *route.Table) {
	ready := func() error {
		if b.room == nil {
			return protocol.Errorf(protocol.CodeUnsupported, "make backup", "this hub makes none")
		}
		return nil
	}
	op := t.Operation(http.MethodGet, protoapi.PathBackup, "backup", "Make a backup of the hub, encrypted as its file says", nil,
		route.Rule{Right: access.Backup, Target: route.TargetWhole, Read: true})
	op.Responses["200"] = &huma.Response{Description: "The backup; it is whole if it has its end", Content: map[string]*huma.MediaType{protoapi.BackupType: {}}}
	route.Register(t, op, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		if err := ready(); err != nil {
			return nil, route.Problem(err)
		}
		write, err := b.room.Begin()
		if err != nil {
			return nil, route.Problem(err)
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			hc.SetHeader("Content-Type", protoapi.BackupType)
			hc.SetHeader("Cache-Control", "no-store")
			// Who reads it misses the end.
			_, w := humago.Unwrap(hc)
			if err := write(hc.Context(), flowing{w, http.NewResponseController(w)}); err != nil {
				b.logger.Warn("backup ended early", "err", err)
			}
		}}, nil
	})

	route.Register(t, t.Operation(http.MethodGet, protoapi.PathBackupStatus, "backupStatus", "Say how the hub is backed up", nil,
		route.Rule{Right: access.Read, Target: route.TargetWhole}),
		func(context.Context, *struct{}) (*answer[protoapi.BackupStatus], error) {
			if err := ready(); err != nil {
				return nil, route.Problem(err)
			}
			return &answer[protoapi.BackupStatus]{b.room.Status()}, nil
		})
}

// stallTimeout bounds how long a reader of a backup may take nothing: others wait for it.
const stallTimeout = time.Minute

// flowing fails when what it writes is not taken.
type flowing struct {
	w  io.Writer
	rc *http.ResponseController
}

func (p flowing) Write(b []byte) (int, error) {
	_ = p.rc.SetWriteDeadline(time.Now().Add(stallTimeout)) // a writer without deadlines has none to set
	return p.w.Write(b)
}
