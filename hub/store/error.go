package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// writeTries bounds how often an operation is tried again after it lost a
// compare-and-set to another writer.
const writeTries = 16

// stateError gives an error of the key-value store or log its code.
func stateError(op string, err error) error {
	switch {
	case errors.Is(err, state.ErrConflict):
		return protocol.Errorf(protocol.CodeConflict, op, "somebody else changed it: %w", err).
			WithHint("read it again and repeat the change")
	case errors.Is(err, state.ErrNotFound):
		return protocol.Errorf(protocol.CodeNotFound, op, "%w", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return protocol.Errorf(protocol.CodeTimeout, op, "the store did not answer in time: %w", err).
			WithHint("whether it was written is unknown; read it back before trying again")
	}
	hint := protocol.HintOf(err)
	if hint == "" {
		hint = "check the hub's store and its disk; then try again"
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "store: %w", err).WithHint("%s", hint)
}

func notFound(op string, kind resource.Kind, name string) error {
	return protocol.Errorf(protocol.CodeNotFound, op, "%s %q does not exist", kind, name).
		WithHint("rackctl get %s lists what there is", kind.Plural())
}

// ApplyError is what is wrong with one object of an Apply.
type ApplyError struct {
	Index       int // in the list given to Apply
	Kind        resource.Kind
	Name        string
	FieldErrors protocol.FieldErrors
}

// ApplyErrors are all objects of an Apply that are wrong, in input order. Apply
// returns them inside a *protocol.Error; get them with errors.As.
type ApplyErrors []ApplyError

// Error joins the errors.
func (a ApplyErrors) Error() string {
	parts := make([]string, len(a))
	for i, e := range a {
		parts[i] = fmt.Sprintf("%s %q: %s", e.Kind, e.Name, e.FieldErrors.Error())
	}
	return strings.Join(parts, "; ")
}

// joined names at most five, so that a message stays readable.
func joined(who []string) string {
	const most = 5
	if len(who) > most {
		return strings.Join(who[:most], ", ") + " and others"
	}
	return strings.Join(who, ", ")
}
