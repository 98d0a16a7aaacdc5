package resource

import (
	"strings"
	"unicode/utf8"

	"rackboot/protocol"
)

// Template is a template that several boot environments share, by its name as their
// templates' id.
type Template struct {
	Header
	Spec TemplateSpec `json:"spec"`
}

// TemplateSpec is the template.
type TemplateSpec struct {
	Description string `json:"description,omitempty"`
	// Contents is text/template with Sprig's functions but those that read the host, the
	// clock or chance.
	Contents string `json:"contents"`
}

// MaxTemplate bounds one template, in bytes. The hub stores it as one value.
const MaxTemplate = 128 << 10

// Default sets kind and version.
func (t *Template) Default() { t.APIVersion, t.Kind = APIVersion, KindTemplate }

// Validate reports wrong fields.
func (t *Template) Validate() protocol.FieldErrors {
	var f fields
	t.check(&f)
	f.contents("spec.contents", t.Spec.Contents)
	return f.FieldErrors
}

// contents checks the text of a template by itself.
func (f *fields) contents(path, s string) {
	switch {
	case len(s) > MaxTemplate:
		f.Add(path, "has %d bytes; give at most %d", len(s), MaxTemplate)
	case !utf8.ValidString(s):
		f.Add(path, "is not UTF-8")
	case strings.ContainsRune(s, 0):
		f.Add(path, "has a zero byte")
	}
}
