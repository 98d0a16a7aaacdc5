package manifest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// FromJSON writes JSON as YAML, with the fields in the same order. Text is
// written plain only where no reader could take it for something else, in block
// form where it is ordinary lines (certificates), and else in JSON's quotes,
// which are YAML's too.
func FromJSON(raw []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	p := yamlPrinter{d: d}
	if err := p.value("", ""); err != nil {
		return nil, err
	}
	return p.out.Bytes(), nil
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*$`)
	otherWord = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n|\.inf|\.nan)$`) // what a reader takes for something else
	textLines = regexp.MustCompile(`^([!-~][ -~]*\n)+$`)
)

type yamlPrinter struct {
	d   *json.Decoder
	out bytes.Buffer
}

// value writes the next value and what follows on further lines with indent.
// lead says where it stands: "" at the beginning of a line, " " behind a key,
// "-" as an item of a list.
func (p *yamlPrinter) value(lead, indent string) error {
	t, err := p.d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if !p.d.More() {
			p.out.WriteString(strings.TrimPrefix(lead, "-") + t.String())
			t, err := p.d.Token()
			if err == nil {
				p.out.WriteString(t.(json.Delim).String() + "\n")
			}
			return err
		}
		if lead == " " {
			p.out.WriteString("\n")
		}
		return p.collection(t, indent, lead == "-")
	case string:
		p.out.WriteString(strings.TrimPrefix(lead, "-") + p.text(t, indent) + "\n")
	case nil:
		p.out.WriteString(strings.TrimPrefix(lead, "-") + "null\n")
	case bool:
		p.out.WriteString(strings.TrimPrefix(lead, "-") + map[bool]string{true: "true", false: "false"}[t] + "\n")
	case json.Number:
		p.out.WriteString(strings.TrimPrefix(lead, "-") + t.String() + "\n")
	}
	return nil
}

// collection writes the entries of an object or list. The first entry of one
// that is an item of a list goes on the item's line.
func (p *yamlPrinter) collection(open json.Delim, indent string, onLine bool) error {
	for p.d.More() {
		if !onLine {
			p.out.WriteString(indent)
		}
		onLine = false
		if open == '[' {
			p.out.WriteString("- ")
			if err := p.value("-", indent+"  "); err != nil {
				return err
			}
			continue
		}
		key, err := p.d.Token()
		if err != nil {
			return err
		}
		p.out.WriteString(p.text(key.(string), "") + ":")
		if err := p.value(" ", indent+"  "); err != nil {
			return err
		}
	}
	_, err := p.d.Token()
	return err
}

// text writes a string. Keys are never in block form: they have no indent.
func (p *yamlPrinter) text(s, indent string) string {
	switch {
	case plainText.MatchString(s) && !otherWord.MatchString(s):
		return s
	case indent != "" && textLines.MatchString(s) && !strings.Contains(s, " \n"):
		return "|\n" + indent + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+indent)
	}
	quoted, _ := json.Marshal(s) //nolint:errcheck // a string always can be
	return string(quoted)
}
