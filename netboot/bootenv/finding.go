package bootenv

import (
	"fmt"
	"strings"

	"rackboot/protocol"
)

// Severity says whether a description with a finding can be used.
type Severity string

// The severities. A server is refused an environment with an error.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Finding is one thing that is wrong with a description.
type Finding struct {
	Severity Severity `json:"severity"`
	// Path is where it is, as in the resource: spec.templates[2].path.
	Path string `json:"path"`
	// Line and Column, from 1, are in the template at Path; Column is 0 where only the
	// line is known, and both where it is about the whole.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String is one line for people.
func (f Finding) String() string {
	at := f.Path
	if f.Line > 0 {
		at += fmt.Sprintf(":%d", f.Line)
	}
	if f.Column > 0 {
		at += fmt.Sprintf(":%d", f.Column)
	}
	s := fmt.Sprintf("%s: %s: %s", f.Severity, at, f.Message)
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

// findings collects them.
type findings []Finding

func (fs *findings) err(path, hint, format string, args ...any) {
	*fs = append(*fs, Finding{Severity: SeverityError, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (fs *findings) warn(path, hint, format string, args ...any) {
	*fs = append(*fs, Finding{Severity: SeverityWarning, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// maxSaid bounds how many findings an error quotes.
const maxSaid = 5

// asError is an invalid error of the findings that are errors; nil if none is.
func (fs findings) asError(op string) error {
	var said []string
	hint, more := "", 0
	for _, f := range fs {
		switch {
		case f.Severity != SeverityError:
		case len(said) == maxSaid:
			more++
		default:
			if hint == "" {
				hint = f.Hint
			}
			f.Hint = ""
			said = append(said, strings.TrimPrefix(f.String(), string(SeverityError)+": "))
		}
	}
	if said == nil {
		return nil
	}
	if more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	err := protocol.Errorf(protocol.CodeInvalid, op, "%s", strings.Join(said, "; "))
	if hint != "" {
		return err.WithHint("%s", hint)
	}
	return err
}
