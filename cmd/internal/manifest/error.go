package manifest

import (
	"fmt"
	"strings"
)

// Error is one thing that is wrong in a file.
type Error struct {
	File     string
	Document int    // which of several in the file, from 1; 0 if it has one
	Line     int    // from 1; 0 if no line is to blame
	Path     string // as in YAML: spec.macs[1]; empty for the whole document
	Message  string
	Text     string // of the line
}

// Error is FILE:LINE: PATH: message, then the line itself, indented. Of a file with several documents it
// is FILE:LINE: document N: PATH: message.
func (e Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Document > 0 {
		fmt.Fprintf(&b, ": document %d", e.Document)
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
