package protocol

import (
	"strings"
	"unicode/utf8"
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
func (t *Template) Validate() FieldErrors {
	var f FieldErrors
	t.check(&f)
	f.contents("spec.contents", t.Spec.Contents)
	return f
}

// contents checks the text of a template by itself.
func (f *FieldErrors) contents(path, s string) {
	switch {
	case len(s) > MaxTemplate:
		f.add(path, "has %d bytes; give at most %d", len(s), MaxTemplate)
	case !utf8.ValidString(s):
		f.add(path, "is not UTF-8")
	case strings.ContainsRune(s, 0):
		f.add(path, "has a zero byte")
	}
}
