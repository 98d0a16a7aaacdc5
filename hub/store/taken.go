package store

import (
	"fmt"

	"rackboot/state"
)

// takenError says who has what a change needs. It is a state.ErrConflict.
type takenError struct {
	key string
	by  taker
}

func (e *takenError) Error() string {
	return fmt.Sprintf("%s is that of %s %q: conflict", e.key, e.by.Kind, e.by.Name)
}

func (e *takenError) Unwrap() error { return state.ErrConflict }
