package printer

import (
	"errors"
	"fmt"
	"io"

	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
)

// ExitError is an error with an exit code that only its command has.
type ExitError struct {
	cause error
	Code  int
}

// Error implements error.
func (e *ExitError) Error() string { return e.cause.Error() }

// Unwrap has its code and its hint found.
func (e *ExitError) Unwrap() error { return e.cause }

// WithExit gives an error an exit code that only its command has.
func WithExit(err error, code int) error { return &ExitError{err, code} }

// Fail says on w what went wrong and what to do, and returns the exit code.
func Fail(w io.Writer, err error) int {
	if silent, ok := errors.AsType[Exit](err); ok {
		return int(silent)
	}
	if list, ok := errors.AsType[manifest.Errors](err); ok {
		fmt.Fprintln(w, list.Error())
		err = protocol.Errorf(protocol.CodeInvalid, "", "nothing was changed: %s in the manifests", Plural(len(list), "error"))
	}
	if _, ok := errors.AsType[*protocol.Error](err); !ok { // of cobra: unknown command or flag, wrong arguments
		err = protocol.Errorf(protocol.CodeInvalid, "", "%w", err).WithHint("rackctl --help lists the commands")
	}
	fmt.Fprintf(w, "rackctl: %s\n", err)
	if hint := protocol.HintOf(err); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
	if own, ok := errors.AsType[*ExitError](err); ok {
		return own.Code
	}
	return protocol.CodeOf(err).ExitCode()
}

// Exit is an exit code of a command that has said all it had to say.
type Exit int

// Error implements error.
func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }
