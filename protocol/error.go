package protocol

import (
	"errors"
	"fmt"
)

// Code classifies an error. The set is closed; errorTable maps each code to
// its HTTP status (RFC 9110) and rackctl exit code.
type Code string

// The codes.
const (
	CodeInvalid     Code = "invalid"     // the input is wrong; change it
	CodeNotFound    Code = "not_found"   // the thing named does not exist
	CodeConflict    Code = "conflict"    // the state changed underneath, or forbids it now
	CodeUnsupported Code = "unsupported" // this server, BMC or release cannot do it
	CodeUnavailable Code = "unavailable" // something needed is away; try again later
	CodeTimeout     Code = "timeout"     // the deadline passed; the outcome may be unknown
	CodeDenied      Code = "denied"      // not allowed with these credentials
	CodeInternal    Code = "internal"    // a defect of Rackboot
)

type codeRow struct {
	code Code
	http int
	exit int
}

// errorTable is the one table code → HTTP status → exit code.
var errorTable = []codeRow{
	{CodeInvalid, 400, 2},
	{CodeNotFound, 404, 3},
	{CodeConflict, 409, 4},
	{CodeUnsupported, 422, 5},
	{CodeUnavailable, 503, 6},
	{CodeTimeout, 504, 7},
	{CodeDenied, 403, 8},
	{CodeInternal, 500, 1},
}

// Codes lists all codes in table order.
func Codes() []Code {
	var out []Code
	for _, r := range errorTable {
		out = append(out, r.code)
	}
	return out
}

// HTTPStatus is the HTTP status of the code; an unknown code is 500.
func (c Code) HTTPStatus() int {
	for _, r := range errorTable {
		if r.code == c {
			return r.http
		}
	}
	return 500
}

// ExitCode is rackctl's exit code for the code; an unknown code is 1.
func (c Code) ExitCode() int {
	for _, r := range errorTable {
		if r.code == c {
			return r.exit
		}
	}
	return 1
}

// CodeFromHTTP is the inverse of HTTPStatus; 401 is denied, and a status that
// is in no row is internal.
func CodeFromHTTP(status int) Code {
	if status == 401 {
		return CodeDenied
	}
	for _, r := range errorTable {
		if r.http == status {
			return r.code
		}
	}
	return CodeInternal
}

// Error is an error with a code, what was being done (Op), and what to do next
// (Hint). Message and Hint never contain secrets.
type Error struct {
	Code    Code
	Op      string
	Message string
	Hint    string
	Err     error
}

// Errorf makes an Error. A %w in the format is kept for errors.Is and As.
func Errorf(code Code, op, format string, args ...any) *Error {
	w := fmt.Errorf(format, args...)
	return &Error{Code: code, Op: op, Message: w.Error(), Err: errors.Unwrap(w)}
}

// WithHint sets the hint and returns the error.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error is "op: message".
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Message
	}
	return e.Op + ": " + e.Message
}

// Unwrap returns the wrapped error, if any.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of the first Error in err's chain; internal if none, and
// empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// HintOf is the first hint in err's chain, or empty.
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// Advice returns the message of an error for people, with what to do about it if the error
// itself says so.
func Advice(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Hint != "" {
		return e.Message + "; " + e.Hint
	}
	return err.Error()
}
