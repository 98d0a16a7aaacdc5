package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

const (
	// maxPieces bounds the pieces of uploads that are taken at once, and maxPiecesOfCaller
	// those of one caller.
	maxPieces         = 16
	maxPiecesOfCaller = 4
	// pieceIdle is how long nothing of a piece may come.
	pieceIdle = 30 * time.Second
)

// Uploads takes files. It is used concurrently.
type Uploads interface {
	Begin(ctx context.Context, r protoapi.ISOUploadRequest, by string) (protoapi.ISOUpload, error)
	Upload(ctx context.Context, id string) (protoapi.ISOUpload, error)
	Append(ctx context.Context, id string, offset int64, r io.Reader) (protoapi.ISOUpload, error)
	Finish(ctx context.Context, id string, r protoapi.ISOFinishRequest) (resource.ISOFile, error)
	Abort(id string) error
}

type uploadInput struct {
	ID string `path:"id"`
}

type uploadBody struct {
	ID      string `path:"id"`
	RawBody []byte `contentType:"application/json"`
}

type pieceInput struct {
	ID     string `path:"id"`
	Offset int64  `query:"offset" required:"true" minimum:"0" doc:"where the piece begins: how many bytes are there"`

	w http.ResponseWriter
	r *http.Request
}

// Resolve implements huma.Resolver: the body of a piece is read by its handler.
func (in *pieceInput) Resolve(ctx huma.Context) []error {
	in.r, in.w = humago.Unwrap(ctx)
	return nil
}

// uploadAnswer is an upload, and in a header how far it is.
type uploadAnswer struct {
	Offset string `header:"Upload-Offset"`
	Body   protoapi.ISOUpload
}

func uploadOf(u protoapi.ISOUpload, err error) (*uploadAnswer, error) {
	if err != nil {
		return nil, noRoom(err)
	}
	return &uploadAnswer{strconv.FormatInt(u.Offset, 10), u}, nil
}

// noRoom is problem with a status of its own for want of room (RFC 4918, section 11.5):
// to try again does not help.
func noRoom(err error) error {
	if errors.Is(err, blob.ErrInsufficient) {
		return protoapi.ProblemOf(err).WithStatus(http.StatusInsufficientStorage)
	}
	return route.Problem(err)
}

// uploads has the routes of files that are being uploaded.
type uploads struct {
	shelf  Uploads // nil takes none
	pieces *slots
}

func (u uploads) routes(t *route.Table) {
	ready := func() error { return kept(u.shelf != nil) }
	op := t.Operation(http.MethodPost, protoapi.PathISOUploads, "beginUpload", "Begin the upload of a file, or go on with it", reflect.TypeFor[protoapi.ISOUploadRequest](),
		route.Rule{Right: access.Apply, Target: route.TargetWhole, ISO: true})
	route.Register(t, op, func(ctx context.Context, in *struct {
		RawBody []byte `contentType:"application/json"`
	},
	) (*uploadAnswer, error) {
		if err := ready(); err != nil {
			return nil, err
		}
		var req protoapi.ISOUploadRequest
		if err := route.Body("upload file", in.RawBody, &req); err != nil {
			return nil, err
		}
		return uploadOf(u.shelf.Begin(ctx, req, route.Caller(ctx).Name))
	})
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathISOUploads+"/{id}", "getUpload", "Read how far an upload is", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach}),
		func(ctx context.Context, in *uploadInput) (*uploadAnswer, error) {
			if err := ready(); err != nil {
				return nil, err
			}
			return uploadOf(u.shelf.Upload(ctx, in.ID))
		})
	route.Register(t, t.Operation(http.MethodDelete, protoapi.PathISOUploads+"/{id}", "removeUpload", "End an upload without a file", nil,
		route.Rule{Right: access.Apply, Target: route.TargetWhole, ISO: true}),
		func(_ context.Context, in *uploadInput) (*struct{}, error) {
			if err := ready(); err != nil {
				return nil, err
			}
			return nil, route.Problem(u.shelf.Abort(in.ID))
		})
	op = t.Operation(http.MethodPost, protoapi.PathISOUploads+"/{id}/finish", "finishUpload", "Check an upload, and give it its name", reflect.TypeFor[protoapi.ISOFinishRequest](),
		route.Rule{Right: access.Apply, Target: route.TargetWhole, Noted: "finish", ISO: true})
	route.Register(t, op, func(ctx context.Context, in *uploadBody) (*answer[resource.ISOFile], error) {
		if err := ready(); err != nil {
			return nil, err
		}
		var req protoapi.ISOFinishRequest
		if err := route.Body("finish upload", in.RawBody, &req); err != nil {
			return nil, err
		}
		f, err := u.shelf.Finish(ctx, in.ID, req)
		return &answer[resource.ISOFile]{f}, noRoom(err)
	})

	op = t.Operation(http.MethodPut, protoapi.PathISOUploads+"/{id}/content", "uploadPiece", "Send the next piece of an upload", nil,
		route.Rule{Right: access.Apply, Target: route.TargetWhole, Part: true})
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}}
	route.Register(t, op, func(ctx context.Context, in *pieceInput) (*uploadAnswer, error) {
		if err := ready(); err != nil {
			return nil, err
		}
		return uploadOf(u.piece(ctx, in))
	})
}

// piece takes the next piece of an upload.
func (u uploads) piece(ctx context.Context, in *pieceInput) (out protoapi.ISOUpload, err error) {
	err = takePiece(ctx, u.pieces, in.w, in.r, func(body io.Reader) error {
		out, err = u.shelf.Append(ctx, in.ID, in.Offset, body)
		return err
	})
	return out, err
}

// takePiece takes a piece straight from the connection.
func takePiece(ctx context.Context, pieces *slots, w http.ResponseWriter, r *http.Request, take func(body io.Reader) error) error {
	const op = "upload file"
	end, ok := pieces.begin(route.Caller(ctx).Name)
	if !ok {
		route.Unread(w, r)
		return protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, op, "%d pieces of uploads are being taken already, or %d of this caller", maxPieces, maxPiecesOfCaller).
			WithHint("try again in some seconds"))
	}
	defer end()
	if r.ContentLength > protoapi.MaxISOPiece {
		route.Unread(w, r)
		return protoapi.ProblemOf(protocol.Errorf(protocol.CodeInvalid, op, "the piece is longer than %d bytes", protoapi.MaxISOPiece).
			WithHint("send it in several")).WithStatus(http.StatusRequestEntityTooLarge)
	}
	err := take(&patient{r: http.MaxBytesReader(w, r.Body, protoapi.MaxISOPiece), rc: http.NewResponseController(w)})
	if err == nil {
		return nil
	}
	route.Unread(w, r)
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return protoapi.ProblemOf(protocol.Errorf(protocol.CodeInvalid, op, "the piece is longer than %d bytes", protoapi.MaxISOPiece).
			WithHint("the beginning of it was taken; ask for the offset")).WithStatus(http.StatusRequestEntityTooLarge)
	}
	return err
}

// patient gives each part of a body some time to come.
type patient struct {
	r     io.Reader
	rc    *http.ResponseController
	until time.Time
}

func (p *patient) Read(b []byte) (int, error) {
	if now := time.Now(); p.until.Sub(now) < pieceIdle-time.Second {
		p.until = now.Add(pieceIdle)
		_ = p.rc.SetReadDeadline(p.until) // a writer without deadlines has none to set: that of a test
	}
	n, err := p.r.Read(b)
	if err != nil { // from here on the connection is read to see whether the client is gone
		_ = p.rc.SetReadDeadline(time.Now().Add(protoapi.ISOPieceWait))
	}
	return n, err
}
