package route

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// etag gives each resource that is answered the revision of what is stored of it
// (RFC 9110, section 8.8.3). Reports of agents that are shown with it have none.
func etag(ctx huma.Context, _ string, v any) (any, error) {
	if obj, ok := v.(resource.Object); ok && obj.Head().Metadata.Revision > 0 {
		ctx.SetHeader("ETag", strconv.Quote(strconv.FormatUint(obj.Head().Metadata.Revision, 10)))
	}
	return v, nil
}

// ifMatch reads the revision that a resource must have (RFC 9110, section 13.1.1); 0 is
// any.
func ifMatch(header string) (uint64, error) {
	if header == "" {
		return 0, nil
	}
	text, quoted := strings.CutPrefix(header, `"`)
	text, end := strings.CutSuffix(text, `"`)
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 || !quoted || !end {
		return 0, Problem(protocol.Errorf(protocol.CodeInvalid, "compare revisions", "If-Match is not one revision in quotes").
			WithHint(`give the ETag of the resource as it was read, such as "17"`))
	}
	return n, nil
}

// Unless returns the guard of a deletion with If-Match; nil without the header.
func Unless(header string) ([]store.Guard, error) {
	revision, err := ifMatch(header)
	if err != nil || revision == 0 {
		return nil, err
	}
	at := store.AtRevision(revision)
	return []store.Guard{func(obj resource.Object) error {
		if err := at(obj); err != nil {
			return protoapi.ProblemOf(err).WithStatus(http.StatusPreconditionFailed)
		}
		return nil
	}}, nil
}

// Expect puts the revision of If-Match into a resource that is written.
func Expect(header string, m *resource.Metadata) error {
	revision, err := ifMatch(header)
	switch {
	case err != nil || revision == 0:
		return err
	case m.Revision != 0 && m.Revision != revision:
		return Problem(protocol.Errorf(protocol.CodeInvalid, "compare revisions", "If-Match says revision %d, metadata.revision %d", revision, m.Revision).
			WithHint("leave one of them out"))
	}
	m.Revision = revision
	return nil
}

// Failed returns the problem of a write that failed, with status 412 if its If-Match does not hold.
func Failed(header string, err error) error {
	out := Problem(err)
	if p, ok := errors.AsType[*protoapi.Problem](out); ok && header != "" && p.Code == protocol.CodeConflict &&
		slices.ContainsFunc(p.Errors, func(f protoapi.FieldProblem) bool { return f.Path == "metadata" || f.Path == "metadata.revision" }) {
		return p.WithStatus(http.StatusPreconditionFailed)
	}
	return out
}
