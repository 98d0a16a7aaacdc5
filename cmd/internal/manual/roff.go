package main

import (
	"bytes"
	"fmt"
	"strings"
)

// roff writes text in the language of troff. Whatever it is given is shown as it is.
type roff struct{ bytes.Buffer }

// macro calls a macro of man(7).
func (r *roff) macro(name string, args ...string) {
	fmt.Fprintf(r, ".%s", name)
	for _, a := range args {
		fmt.Fprintf(r, ` "%s"`, strings.ReplaceAll(escape(a), `"`, `\(dq`))
	}
	r.WriteByte('\n')
}

// bold writes a line in bold.
func (r *roff) bold(text string) { fmt.Fprintf(r, "\\fB%s\\fR\n", escape(text)) }

// line writes words that are filled with those around them.
func (r *roff) line(text string) {
	text = escape(strings.Join(strings.Fields(text), " "))
	if text == "" {
		return
	}
	if strings.ContainsRune(".'", rune(text[0])) {
		r.WriteString(`\&`) // else it would be a request
	}
	r.WriteString(text + "\n")
}

// prose writes paragraphs. Lines that are indented stay as they are, such as tables.
func (r *roff) prose(text string) {
	var kept []string
	flush := func() {
		if len(kept) > 0 {
			r.literal(strings.Join(kept, "\n"))
			kept = nil
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, " ") {
			kept = append(kept, line)
			continue
		}
		flush()
		if line == "" && r.Len() > 0 {
			r.macro("PP")
		}
		r.line(line)
	}
	flush()
}

// literal writes lines that are not filled.
func (r *roff) literal(text string) {
	r.macro("PP")
	r.macro("nf")
	for line := range strings.SplitSeq(text, "\n") {
		r.WriteString(`\&` + escape(line) + "\n")
	}
	r.macro("fi")
}

var troffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// escape has troff print each character of a text: a hyphen that can be copied, too.
func escape(text string) string { return troffEscapes.Replace(text) }
