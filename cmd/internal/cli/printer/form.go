package printer

import (
	"os"
	"slices"
	"strings"

	"rackboot/protocol"
)

// The forms of output.
const (
	FormTable = "table"
	FormWide  = "wide"
	FormJSON  = "json"
	FormYAML  = "yaml"
	FormName  = "name"
	// The forms with an argument, as kubectl has them: -o jsonpath=TEMPLATE.
	FormJSONPath = "jsonpath"
	FormColumns  = "custom-columns"
	FormTemplate = "go-template"
)

// formHelp is what --help says of --output.
const formHelp = "table, wide, json, yaml, name, jsonpath=, custom-columns= or go-template="

// maxTemplate bounds a file with a template in bytes.
const maxTemplate = 64 << 10

// plainForms take no argument, argumentForms take one behind =, or a file with it where -file is
// put behind their names.
func plainForms() []string    { return []string{FormTable, FormWide, FormJSON, FormYAML, FormName} }
func argumentForms() []string { return []string{FormJSONPath, FormColumns, FormTemplate} }

// Check reads the form that was asked for, and refuses one that there is not.
func (p *Printer) Check() error {
	if slices.Contains(plainForms(), p.Form) {
		return nil
	}
	name, argument, given := strings.Cut(p.Form, "=")
	base, isFile := strings.CutSuffix(name, "-file")
	if !slices.Contains(argumentForms(), base) {
		return protocol.Errorf(protocol.CodeInvalid, "", "output %q is not one of %s", p.Form, strings.Join(append(plainForms(), "jsonpath=TEMPLATE", "custom-columns=NAME:PATH,...", "go-template=TEMPLATE"), ", "))
	}
	if !given || argument == "" {
		return protocol.Errorf(protocol.CodeInvalid, "", "output %s takes a template: -o %s=...", name, name)
	}
	if isFile {
		raw, err := readTemplate(argument)
		if err != nil {
			return err
		}
		argument = raw
	}
	shape, err := newShape(base, argument)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, "", "the template of -o %s cannot be read: %w", name, err).
			WithHint("write it as for kubectl, in single quotes: -o jsonpath='{.status.phase}'")
	}
	p.Form, p.shape = base, shape
	return nil
}

func readTemplate(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxTemplate {
		return "", protocol.Errorf(protocol.CodeInvalid, "read", "%s is longer than %d bytes", path, maxTemplate)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeNotFound, "read", "%w", err).WithHint("check the path %s", path)
	}
	return string(raw), nil
}
