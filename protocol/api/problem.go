package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ProblemType is the media type of a Problem (RFC 9457, section 3).
const ProblemType = "application/problem+json"

// problemURN begins the type of each problem; the code follows.
const problemURN = "urn:rackboot:problem:"

// Problem is an error as it travels (RFC 9457). It is an error itself, so that
// errors.As finds its Errors in what the client returns.
type Problem struct {
	Type   string        `json:"type" doc:"urn:rackboot:problem: and the code"`
	Title  string        `json:"title" doc:"the text of the status"`
	Status int           `json:"status"`
	Detail string        `json:"detail" doc:"what is wrong"`
	Code   protocol.Code `json:"code"`
	Op     string        `json:"op,omitempty" doc:"what was being done"`
	Hint   string        `json:"hint,omitempty" doc:"what to do next"`
	// Errors are the wrong fields, if fields are wrong.
	Errors []FieldProblem `json:"errors,omitempty"`
	// After is when to come again, of the answer's Retry-After; 0 if it says nothing.
	After time.Duration `json:"-"`
}

// FieldProblem is one wrong field.
type FieldProblem struct {
	Index   int           `json:"index" doc:"of the object in the request's list; 0 where there is one object"`
	Kind    resource.Kind `json:"kind,omitempty"`
	Name    string        `json:"name,omitempty"`
	Path    string        `json:"path" doc:"as in YAML, such as spec.bootPolicy.boot"`
	Message string        `json:"message"`
}

// ProblemOf makes the Problem of an error. The text of an internal error that
// is no protocol.Error is not shown: it was not written for callers.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	code := protocol.CodeOf(err)
	p := &Problem{
		Type: problemURN + string(code), Code: code, Status: code.HTTPStatus(),
		Title: http.StatusText(code.HTTPStatus()), Hint: protocol.HintOf(err),
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		p.Op, p.Detail = e.Op, e.Message
	} else {
		p.Detail = "the hub failed"
		p.Hint = "see the hub's log"
	}
	if fields, ok := errors.AsType[protocol.FieldErrors](err); ok {
		for _, f := range fields {
			p.Errors = append(p.Errors, FieldProblem{Path: f.Path, Message: f.Message})
		}
	}
	return p
}

// WithStatus gives the problem a status that its code has no row for, such as
// 413, and returns it.
func (p *Problem) WithStatus(status int) *Problem {
	p.Status, p.Title = status, http.StatusText(status)
	return p
}

// Error is the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is the media type of a problem in JSON.
func (p *Problem) ContentType(string) string { return ProblemType }

// Err is the problem as the error that it was at the hub. errors.As finds the
// problem in it.
func (p *Problem) Err() error {
	code := p.Code
	if code == "" {
		code = protocol.CodeFromHTTP(p.Status)
	}
	message := p.Detail
	if message == "" {
		message = fmt.Sprintf("answered status %d", p.Status)
	}
	return &protocol.Error{Code: code, Op: p.Op, Message: message, Hint: p.Hint, Err: p}
}
