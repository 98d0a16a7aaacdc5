package manifest

import (
	"fmt"
	"strings"
)

// Error is one thing that is wrong in a file.
type Error struct {
	File    string
	Line    int    // from 1; 0 if no line is to blame
	Path    string // as in YAML: spec.macs[1]; empty for the whole document
	Message string
	Text    string // of the line
}

// Error is FILE:LINE: PATH: message, then the line itself, indented.
func (e Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Path != "" {
		b.WriteString(": " + e.Path)
	}
	b.WriteString(": " + e.Message)
	if text := strings.TrimSpace(e.Text); text != "" {
		b.WriteString("\n    " + text)
	}
	return b.String()
}

// Errors is everything that is wrong, in the order of files and lines.
type Errors []Error

// Error has one error below the other.
func (e Errors) Error() string {
	parts := make([]string, len(e))
	for i, one := range e {
		parts[i] = one.Error()
	}
	return strings.Join(parts, "\n")
}
