package gate

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// endTimeout bounds the write of an answer.
const endTimeout = 5 * time.Second

// once is what becomes of a request with an idempotency key.
type once string

const (
	onceAct      once = "act"
	onceRepeat   once = "repeat the answer"
	onceConflict once = "conflict"
	onceUnknown  once = "unknown"
	onceTooLong  once = "done, not repeated"
)

// onceRule judges a request by what is stored under its key, for its caller. The first
// row that fits decides.
//
//	key is known | same request | answered | body kept | outcome
//	no           | *            | *        | *         | act
//	yes          | no           | *        | *         | conflict
//	yes          | yes          | no       | *         | unknown
//	yes          | yes          | yes      | no        | done, not repeated
//	yes          | yes          | yes      | yes       | repeat the answer
func onceRule(known, same, answered, kept bool) once {
	switch {
	case !known:
		return onceAct
	case !same:
		return onceConflict
	case !answered:
		return onceUnknown
	case !kept:
		return onceTooLong
	}
	return onceRepeat
}

// answers keeps what requests with an idempotency key were answered.
type answers struct {
	answers *store.Answers
	table   *route.Table
	logger  *slog.Logger
}

// once acts on a request with an idempotency key a single time, also over a restart of
// the hub. What fails after it was begun is kept as it was answered: whether something
// was done may not be known, and another key says that it shall be tried anew.
func (a answers) once(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	key, who := r.Header.Get(protoapi.HeaderIdempotencyKey), route.Caller(r.Context()).Name
	if key == "" || !mutates(r) || who == "" {
		next(ctx)
		return
	}
	const op = "repeat"
	if len(key) > route.MaxKey || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		route.WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeInvalid, op, "%s is not 1 to %d visible ASCII characters", protoapi.HeaderIdempotencyKey, route.MaxKey).
			WithHint("give each intent a key of its own, such as a UUID")))
		return
	}
	sum := digest(r, key)
	kept, found, err := a.answers.Begin(r.Context(), who, key, sum)
	if err != nil {
		route.WriteProblem(w, protoapi.ProblemOf(err))
		return
	}
	conflict := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.CodeConflict, op, format, args...)
	}
	switch onceRule(found, bytes.Equal(kept.Request, sum), kept.Status != 0, !kept.Dropped) {
	case onceConflict:
		route.WriteProblem(w, protoapi.ProblemOf(conflict("this key was used for another request at %s", kept.At.Format(time.RFC3339)).
			WithHint("a key is for one request with one body; make a new one for another intent")))
	case onceUnknown:
		route.WriteProblem(w, protoapi.ProblemOf(conflict("this request was begun at %s, and is not answered yet or never will be", kept.At.Format(time.RFC3339)).
			WithHint("look whether it was done before you ask again with another key")))
	case onceTooLong:
		route.WriteProblem(w, protoapi.ProblemOf(conflict("this request was answered with status %d at %s; the answer was not kept: it was too long, or has a secret", kept.Status, kept.At.Format(time.RFC3339)).
			WithHint("read what it has changed; nothing was done now")))
	case onceRepeat:
		repeat(w, kept)
	case onceAct:
		a.act(ctx, next, w.(*recorder), who, key, kept)
	}
}

// act begins a request and keeps what it is answered. One that ends in a panic stays
// begun: what it did is not known.
func (a answers) act(ctx huma.Context, next func(huma.Context), w *recorder, who, key string, kept store.Answer) {
	w.keep = store.MaxAnswerBody + 1
	next(ctx)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx.Context()), endTimeout)
	defer cancel()
	var err error
	if w.untouched {
		err = a.answers.Drop(end, who, key, kept)
	} else {
		kept.Status, kept.Type, kept.ETag, kept.Body = w.status, w.Header().Get("Content-Type"), w.Header().Get("ETag"), w.kept
		if secret := a.table.Rule(ctx.Operation().OperationID).Secret; secret && w.status < http.StatusBadRequest {
			kept.Body, kept.Dropped = nil, true
		}
		err = a.answers.End(end, who, key, kept)
	}
	if err != nil {
		a.logger.Warn("answer under an idempotency key not kept", "by", who, "status", w.status, "err", err)
	}
}

func repeat(w http.ResponseWriter, kept store.Answer) {
	h := w.Header()
	h.Set("Content-Type", kept.Type)
	h.Set("Cache-Control", "no-store")
	h.Set(protoapi.HeaderReplayed, "true")
	if kept.ETag != "" {
		h.Set("ETag", kept.ETag)
	}
	w.WriteHeader(kept.Status)
	w.Write(kept.Body) //nolint:errcheck // the client is gone
}

// digest tells requests apart. The key keeps it from telling what a short body was.
func digest(r *http.Request, key string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(h, "%s %s\n%s\n", r.Method, r.URL.RequestURI(), r.Header.Get("If-Match"))
	h.Write(rawBody(r))
	return h.Sum(nil)
}
