package redfish

import (
	"errors"
	"fmt"

	"rackboot/protocol"
)

// answer is in the chain of every error that the BMC itself caused by an
// answer, as against one that came of no answer. It wraps a *bmc.Busy or nil.
type answer struct {
	status int // 0: an answer that could not be used
	said   message
	fault  protocol.BMCFault // the same for callers: bounded, printable, without credentials
	cause  error
}

func (a *answer) Error() string {
	if a.cause != nil {
		return a.cause.Error()
	}
	return fmt.Sprintf("BMC answered with status %d", a.status)
}

func (a *answer) Unwrap() error { return a.cause }

// Fault implements bmc.Faulty.
func (a *answer) Fault() protocol.BMCFault { return a.fault }

// slowAnswer is in the chain of an error of an answer that began and did not end in time.
// It is no answer: the breaker counts it as none.
type slowAnswer struct{ cause error }

func (s *slowAnswer) Error() string { return s.cause.Error() }

func (s *slowAnswer) Unwrap() error { return s.cause }

// Fault implements bmc.Faulty.
func (s *slowAnswer) Fault() protocol.BMCFault {
	return protocol.BMCFault{Kind: protocol.FaultSlow, Text: "the answer began and did not end in time"}
}

// refault changes the kind of the fault in an error's chain, and its hint.
func refault(err error, kind protocol.FaultKind, hint string) error {
	e, is := errors.AsType[*protocol.Error](err)
	a, answered := errors.AsType[*answer](err)
	if is && answered {
		a.fault.Kind, e.Hint = kind, hint
	}
	return err
}

// powerFor is the power state to report with an error.
func powerFor(err error) protocol.PowerState {
	if _, ok := errors.AsType[*answer](err); ok {
		return protocol.PowerUnknown
	}
	return protocol.PowerUnreachable
}

// refusal is what a BMC said to a request that it refused with a status of 4xx,
// so that nothing was done: false for success, no answer and failures.
func refusal(err error) (status int, said message, ok bool) {
	a, is := errors.AsType[*answer](err)
	if !is || a.status < 400 || a.status >= 500 {
		return 0, message{}, false
	}
	return a.status, a.said, true
}
