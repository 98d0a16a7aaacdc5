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
	cause  error
}

func (a *answer) Error() string {
	if a.cause != nil {
		return a.cause.Error()
	}
	return fmt.Sprintf("BMC answered with status %d", a.status)
}

func (a *answer) Unwrap() error { return a.cause }

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
