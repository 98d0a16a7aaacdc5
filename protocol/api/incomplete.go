package api

import "rackboot/protocol"

// Incomplete says of a list that it may lack what there was: the hub's store has lost something. What
// is not in the list may be there all the same.
type Incomplete struct {
	Message string `json:"message"`
	Hint    string `json:"hint"`
	// Lost is what is known to be lost of what is listed.
	Lost []Lost `json:"lost,omitempty"`
}

// Lost is one that was there and is not, or not as it was.
type Lost struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty" doc:"of a hold its server, key and owner"`
	How  string `json:"how" doc:"missing, older, altered, unreadable, or back: deleted, and there again"`
}

// IncompleteError comes together with a list that is incomplete. Its code is unavailable.
type IncompleteError struct {
	Incomplete Incomplete
	cause      error
}

// Error implements error.
func (e *IncompleteError) Error() string { return e.cause.Error() }

// Unwrap has its code and its hint found.
func (e *IncompleteError) Unwrap() error { return e.cause }

// Err is the error that a list comes with; nil where it is complete.
func (i *Incomplete) Err(op string) error {
	if i == nil {
		return nil
	}
	return &IncompleteError{*i, protocol.Errorf(protocol.CodeUnavailable, op, "the list is incomplete, and what it lacks may be there: %s", i.Message).WithHint("%s", i.Hint)}
}
