package api

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/access"
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
	// maxISOPulls bounds the answers with content that agents get at once, and
	// maxISOPullsOfAgent those of one.
	maxISOPulls        = 64
	maxISOPullsOfAgent = 2
	// pieceIdle is how long nothing of a piece may come.
	pieceIdle = 30 * time.Second
)

// ISOs keeps uploaded files; see package iso. It is used concurrently.
type ISOs interface {
	Begin(ctx context.Context, r protoapi.ISOUploadRequest, by string) (protoapi.ISOUpload, error)
	Upload(ctx context.Context, id string) (protoapi.ISOUpload, error)
	Append(ctx context.Context, id string, offset int64, r io.Reader) (protoapi.ISOUpload, error)
	Finish(ctx context.Context, id string, r protoapi.ISOFinishRequest) (resource.ISOFile, error)
	Abort(id string) error
	List(ctx context.Context) protoapi.ISOList
	Get(file string) (protoapi.ISOItem, error)
	Remove(ctx context.Context, file string, force bool, by string) (protoapi.ISOItem, error)
	// OpenContent is for agents that may have it.
	OpenContent(digest string) (*os.File, int64, error)
}

// streams says whether a request carries the content of an uploaded file, one way or the
// other. It has bounds of its own, and no place among the requests that are answered at
// once.
func streams(r *http.Request) bool {
	return isPiece(r) || isPull(r)
}

func isPiece(r *http.Request) bool {
	id, ok := strings.CutPrefix(r.URL.Path, protoapi.PathISOUploads+"/")
	return ok && r.Method == http.MethodPut && strings.HasSuffix(id, "/content")
}

func isPull(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, protoapi.PathISOContent) && !mutates(r)
}

// isFinish says whether a request ends an upload, which reads all of a file.
func isFinish(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, protoapi.PathISOUploads+"/") && strings.HasSuffix(r.URL.Path, "/finish")
}

type isoInput struct {
	Name string `path:"name" doc:"the name of the file"`
}

type removeISOInput struct {
	Name  string `path:"name" doc:"the name of the file"`
	Force bool   `query:"force" doc:"remove it although environments name it"`
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
	return problem(err)
}

type contentInput struct {
	Digest string `path:"digest" doc:"sha256: and 64 hex digits"`

	remote string
	chains [][]*x509.Certificate
}

// Resolve implements huma.Resolver.
func (in *contentInput) Resolve(ctx huma.Context) []error {
	in.remote = ctx.RemoteAddr()
	if s := ctx.TLS(); s != nil {
		in.chains = s.VerifiedChains
	}
	return nil
}

// registerISOs adds the routes of uploaded files. A hub without them answers unsupported.
func (a *API) registerISOs(isos ISOs) {
	ready := func() error {
		if isos == nil {
			return problem(protocol.Errorf(protocol.CodeUnsupported, "uploaded files", "this hub keeps none"))
		}
		return nil
	}
	huma.Register(a.huma, a.operation(http.MethodGet, protoapi.PathISOs, "listISOs", "List the uploaded files, and the uploads that have not ended", nil),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.ISOList], error) {
			if err := ready(); err != nil {
				return nil, err
			}
			list := isos.List(ctx)
			for i := range list.Items {
				a.hide(ctx, &list.Items[i])
			}
			return &answer[protoapi.ISOList]{list}, nil
		})
	huma.Register(a.huma, a.operation(http.MethodGet, protoapi.PathISOs+"/{name}", "getISO", "Read what is known of an uploaded file", nil),
		func(ctx context.Context, in *isoInput) (*answer[protoapi.ISOItem], error) {
			if err := ready(); err != nil {
				return nil, err
			}
			item, err := isos.Get(in.Name)
			a.hide(ctx, &item)
			return &answer[protoapi.ISOItem]{item}, problem(err)
		})
	huma.Register(a.huma, a.operation(http.MethodDelete, protoapi.PathISOs+"/{name}", "removeISO", "Remove an uploaded file", nil),
		func(ctx context.Context, in *removeISOInput) (*answer[protoapi.ISOItem], error) {
			if err := ready(); err != nil {
				return nil, err
			}
			item, err := isos.Remove(ctx, in.Name, in.Force, caller(ctx).Name)
			return &answer[protoapi.ISOItem]{item}, problem(err)
		})

	op := a.operation(http.MethodPost, protoapi.PathISOUploads, "beginUpload", "Begin the upload of a file, or go on with it", reflect.TypeFor[protoapi.ISOUploadRequest]())
	register(a, op, func(ctx context.Context, in *struct {
		RawBody []byte `contentType:"application/json"`
	},
	) (*uploadAnswer, error) {
		if err := ready(); err != nil {
			return nil, err
		}
		var req protoapi.ISOUploadRequest
		if err := body("upload file", in.RawBody, &req); err != nil {
			return nil, err
		}
		return uploadOf(isos.Begin(ctx, req, caller(ctx).Name))
	})
	huma.Register(a.huma, a.operation(http.MethodGet, protoapi.PathISOUploads+"/{id}", "getUpload", "Read how far an upload is", nil),
		func(ctx context.Context, in *uploadInput) (*uploadAnswer, error) {
			if err := ready(); err != nil {
				return nil, err
			}
			return uploadOf(isos.Upload(ctx, in.ID))
		})
	huma.Register(a.huma, a.operation(http.MethodDelete, protoapi.PathISOUploads+"/{id}", "removeUpload", "End an upload without a file", nil),
		func(_ context.Context, in *uploadInput) (*struct{}, error) {
			if err := ready(); err != nil {
				return nil, err
			}
			return nil, problem(isos.Abort(in.ID))
		})
	op = a.operation(http.MethodPost, protoapi.PathISOUploads+"/{id}/finish", "finishUpload", "Check an upload, and give it its name", reflect.TypeFor[protoapi.ISOFinishRequest]())
	register(a, op, func(ctx context.Context, in *uploadBody) (*answer[resource.ISOFile], error) {
		if err := ready(); err != nil {
			return nil, err
		}
		var req protoapi.ISOFinishRequest
		if err := body("finish upload", in.RawBody, &req); err != nil {
			return nil, err
		}
		f, err := isos.Finish(ctx, in.ID, req)
		return &answer[resource.ISOFile]{f}, noRoom(err)
	})

	op = a.operation(http.MethodPut, protoapi.PathISOUploads+"/{id}/content", "uploadPiece", "Send the next piece of an upload", nil)
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}}
	huma.Register(a.huma, op, func(ctx context.Context, in *pieceInput) (*uploadAnswer, error) {
		if err := ready(); err != nil {
			return nil, err
		}
		return uploadOf(a.piece(ctx, isos, in))
	})

	op = a.operation(http.MethodGet, protoapi.PathISOContent+"{digest}", "isoContent", "Give an agent the content of an uploaded file that its documents name", nil)
	op.Security = nil // an agent's certificate, and no caller's
	op.Responses["200"] = &huma.Response{Description: "The content; ranges are answered with 206", Content: map[string]*huma.MediaType{"application/octet-stream": {}}}
	huma.Register(a.huma, op, func(ctx context.Context, in *contentInput) (*huma.StreamResponse, error) {
		if err := ready(); err != nil {
			return nil, err
		}
		return a.isoContent(ctx, isos, in)
	})
}

// hide leaves out the servers that a caller may not see.
func (a *API) hide(ctx context.Context, item *protoapi.ISOItem) {
	item.Servers = visible(a, caller(ctx), item.Servers, func(server string, w access.World) []access.Labels {
		return []access.Labels{access.AtServer(w, server)}
	})
}

// piece takes the next piece of an upload, straight from the connection.
func (a *API) piece(ctx context.Context, isos ISOs, in *pieceInput) (protoapi.ISOUpload, error) {
	const op = "upload file"
	var none protoapi.ISOUpload
	refuse := func(p *protoapi.Problem) (protoapi.ISOUpload, error) {
		unread(in.w, in.r)
		return none, p
	}
	end, ok := a.pieces.begin(caller(ctx).Name)
	if !ok {
		return refuse(protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, op, "%d pieces of uploads are being taken already, or %d of this caller", maxPieces, maxPiecesOfCaller).
			WithHint("try again in some seconds")))
	}
	defer end()
	if in.r.ContentLength > protoapi.MaxISOPiece {
		return refuse(protoapi.ProblemOf(protocol.Errorf(protocol.CodeInvalid, op, "the piece is longer than %d bytes", protoapi.MaxISOPiece).
			WithHint("send it in several")).WithStatus(http.StatusRequestEntityTooLarge))
	}
	u, err := isos.Append(ctx, in.ID, in.Offset, &patient{
		r: http.MaxBytesReader(in.w, in.r.Body, protoapi.MaxISOPiece), rc: http.NewResponseController(in.w),
	})
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return refuse(protoapi.ProblemOf(protocol.Errorf(protocol.CodeInvalid, op, "the piece is longer than %d bytes", protoapi.MaxISOPiece).
			WithHint("the beginning of it was taken; ask for the offset")).WithStatus(http.StatusRequestEntityTooLarge))
	}
	if err != nil {
		unread(in.w, in.r)
	}
	return u, err
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

// isoContent gives an agent what its documents name, whole or in ranges.
func (a *API) isoContent(_ context.Context, isos ISOs, in *contentInput) (*huma.StreamResponse, error) {
	const op = "fetch file"
	if err := a.pulls.admit(in.remote); err != nil {
		return nil, throttledProblem(err)
	}
	agent := a.agentOf(in.chains)
	if err := a.rooms.Carried.MayFetchISO(agent, in.Digest); err != nil {
		return nil, problem(err)
	}
	end, ok := a.isoPulls.begin(agent)
	if !ok {
		return nil, problem(protocol.Errorf(protocol.CodeUnavailable, op, "%d agents fetch already, or this one %d times", maxISOPulls, maxISOPullsOfAgent).
			WithHint("it is tried again by itself"))
	}
	f, _, err := isos.OpenContent(in.Digest)
	if err != nil {
		end()
		return nil, problem(err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer end()
		defer f.Close()
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("ETag", strconv.Quote(in.Digest))
		http.ServeContent(w, r, "", time.Time{}, f)
	}}, nil
}
