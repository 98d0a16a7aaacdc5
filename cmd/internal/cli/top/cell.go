package top

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
)

// cell is a text with its colour.
type cell struct {
	text string
	// short stands in a column that has no room for the text; empty is the text, cut.
	short string
	tone  printer.Tone
}

// say is a cell without a colour.
func say(text string) cell { return cell{text: text} }

// fit is what a cell is in so many columns of a screen: neither more nor less, and nothing that a terminal
// acts on. Wide characters count as two.
func (c cell) fit(width int) string {
	text := plain(c.text)
	if c.short != "" && ansi.StringWidth(text) > width {
		text = plain(c.short)
	}
	text = cut(text, width)
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// plain is a text without what a terminal would act on; empty stays empty.
func plain(s string) string {
	if s == "" {
		return ""
	}
	return terminal.Cell(s)
}

// marks bounds the characters of a text by those columns that it may take: many accents may stand above
// one letter, and take no column.
const marks = 4

// cut is a text of at most so many columns, the last of which says that there is more.
func cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if r := []rune(s); len(r) > marks*width {
		s = string(r[:marks*width])
	}
	return ansi.Truncate(s, width, "…")
}
