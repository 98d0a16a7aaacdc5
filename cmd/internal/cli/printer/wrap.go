package printer

import (
	"io"
	"strings"
	"unicode/utf8"
)

// leastText is how many characters a text has at least beside its heading; a screen that has no room for
// that breaks the lines itself.
const leastText = 20

// wrapped writes headings and their texts in two columns. On a screen a text that is too long goes on
// below itself.
func (p *Printer) wrapped(rows [][]string) error {
	widths := widthsOf(rows)
	if len(widths) == 0 {
		return nil
	}
	at, room := widths[0]+narrowGap, 0
	if columns := p.columns(); columns-at >= leastText {
		room = columns - at
	}
	var b strings.Builder
	for _, row := range rows {
		for i, line := range Wrap(row[1], room) {
			head := ""
			if i == 0 {
				head = row[0]
			}
			b.WriteString(head + strings.Repeat(" ", at-utf8.RuneCountInString(head)) + line + "\n")
		}
	}
	_, err := io.WriteString(p.Out, b.String())
	return err
}

// Broken breaks the lines of a text that are longer than a screen, between words. What goes on stands below
// the last column of its line, or further in where that leaves no room.
func (p *Printer) Broken(text string) string {
	columns := p.columns()
	if columns == 0 {
		return text
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if utf8.RuneCountInString(line) <= columns {
			out = append(out, line)
			continue
		}
		out = append(out, hung(line, columns)...)
	}
	return strings.Join(out, "\n")
}

// hung breaks a line that is too long.
func hung(line string, columns int) (out []string) {
	body := strings.TrimLeft(line, " ")
	margin := line[:len(line)-len(body)]
	head, tail := "", body
	if at := strings.LastIndex(body, strings.Repeat(" ", narrowGap)); at >= 0 {
		head, tail = body[:at+narrowGap], body[at+narrowGap:]
	}
	further := len(margin) + narrowGap
	if columns-further < leastText {
		return []string{line}
	}
	at, first := len(margin)+utf8.RuneCountInString(head), margin+head
	switch {
	case head == "":
		at = further
	case columns-at < leastText, longestWord(tail) > columns-at && longestWord(tail) <= columns-further: // the tail begins a line of its own
		out = append(out, strings.TrimRight(first, " "))
		at, first = further, strings.Repeat(" ", further)
	}
	for i, l := range Wrap(tail, columns-at) {
		if i > 0 {
			first = strings.Repeat(" ", at)
		}
		out = append(out, first+l)
	}
	return out
}

func longestWord(text string) (most int) {
	for word := range strings.FieldsSeq(text) {
		most = max(most, utf8.RuneCountInString(word))
	}
	return most
}

// Wrap breaks a text between words into lines of at most so many characters; 0 is no bound. A word that
// is longer than a line is broken too.
func Wrap(text string, most int) []string {
	if most <= 0 || utf8.RuneCountInString(text) <= most {
		return []string{text}
	}
	var lines []string
	var line []rune
	for word := range strings.FieldsSeq(text) {
		w := []rune(word)
		if len(line) > 0 && len(line)+1+len(w) > most {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, w...)
		for len(line) > most {
			lines, line = append(lines, string(line[:most])), line[most:]
		}
	}
	return append(lines, string(line))
}
