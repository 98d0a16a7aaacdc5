package protocol

import (
	"fmt"
	"strings"
)

// FieldError is one wrong field: its path as in YAML ("spec.bootPolicy.boot"),
// and what is wrong with what to do.
type FieldError struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// FieldErrors are all wrong fields of a resource.
type FieldErrors []FieldError

// Error joins the errors.
func (f FieldErrors) Error() string {
	parts := make([]string, len(f))
	for i, e := range f {
		parts[i] = e.Path + ": " + e.Message
	}
	return strings.Join(parts, "; ")
}

// Add takes a wrong field down.
func (f *FieldErrors) Add(path, format string, args ...any) {
	*f = append(*f, FieldError{path, fmt.Sprintf(format, args...)})
}
