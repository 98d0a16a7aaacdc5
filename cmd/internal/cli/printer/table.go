package printer

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// gap is how far columns are apart, narrowGap how far where a screen has no room for that.
	gap       = 3
	narrowGap = 2
	// longCell is how many characters a cell keeps while columns can be spared, leastCell how many it keeps
	// at last.
	longCell, leastCell = 10, 4
)

// Table shows a view as a table, whatever the form is but wide. On a screen it is made to fit, but a
// wide one; one thing that does not fit whole has a line for each column.
func (p *Printer) Table(v View) error {
	p.Settle()
	l := p.layout(v, nil)
	if width := p.columns(); width > 0 && p.Form != FormWide && v.Single && !v.NoHeader && len(v.Items) == 1 {
		if rows := rowsIn(v, l.asked); total(widthsOf(rows), narrowGap) > width {
			return p.upright(rows)
		}
	}
	return p.laidOut(v, &l)
}

// layout is which columns of a table are shown, and how.
type layout struct {
	asked  []int // columns that the form has
	shown  []int // those of them for which there is room
	silent []int // those that gave way because they said nothing
	widths []int // of those that are shown: the widest cell so far
	// between is how many blanks are between two columns, and screen how wide the screen is; 0 for none.
	between, screen int
}

// layout lays a table out by what is in it, and by one more row of all columns; nil for none.
func (p *Printer) layout(v View, more []string) (l layout) {
	for i, c := range v.Columns {
		if !c.Wide || p.Form == FormWide {
			l.asked = append(l.asked, i)
		}
	}
	l.shown, l.between = l.asked, gap
	if more != nil {
		v.Items = append(slices.Clone(v.Items), Item{Cells: more})
	}
	rows := rowsIn(v, l.asked)
	if p.Form != FormWide {
		l.screen = p.columns()
	}
	if l.screen > 0 {
		kept, fitted, between := fit(rows, pickColumns(v.Columns, l.asked), l.screen)
		l.between, l.shown = between, nil
		for at, i := range l.asked {
			switch {
			case slices.Contains(kept, at):
				l.shown = append(l.shown, i)
			case saysNothing(rows, at):
				l.silent = append(l.silent, i)
			}
		}
		rows = fitted
	}
	l.widths = widthsOf(rows)
	return l
}

// lacks reports whether items say something in a column that was left out because it said nothing.
func (l *layout) lacks(items []Item) bool {
	return slices.ContainsFunc(l.silent, func(i int) bool {
		return slices.ContainsFunc(items, func(it Item) bool { return Dash(it.Cells[i]) != "-" })
	})
}

// rowsIn are the cells of some columns, below their headings if there shall be any.
func rowsIn(v View, at []int) (rows [][]string) {
	pick := func(cell func(int) string) (out []string) {
		for _, i := range at {
			out = append(out, cell(i))
		}
		return out
	}
	if !v.NoHeader {
		rows = append(rows, pick(func(i int) string { return v.Columns[i].Name }))
	}
	for _, it := range v.Items {
		rows = append(rows, pick(func(i int) string { return Dash(it.Cells[i]) }))
	}
	return rows
}

// grow makes columns as wide as rows need them. Where a screen has no room for that they stay as they are,
// and cells are cut; names, in the first column, never are.
func (l *layout) grow(rows [][]string) {
	widths := widthsOf(rows)
	for i := range widths {
		widths[i] = max(widths[i], l.widths[i])
	}
	if l.screen == 0 || total(widths, l.between) <= l.screen {
		l.widths = widths
		return
	}
	for _, row := range rows {
		for i := 1; i < len(row); i++ {
			row[i] = Cut(row[i], l.widths[i])
		}
	}
}

// laidOut writes a table as it was laid out, and makes the layout wider where it must be.
func (p *Printer) laidOut(v View, l *layout) error {
	rows := rowsIn(v, l.shown)
	l.grow(rows)
	var tones [][]Tone
	if p.Colours() {
		for _, it := range v.Items {
			row := make([]Tone, len(l.shown))
			for at, i := range l.shown {
				if i < len(it.Tones) {
					row[at] = it.Tones[i]
				}
			}
			tones = append(tones, row)
		}
		if !v.NoHeader {
			tones = slices.Insert(tones, 0, make([]Tone, len(l.shown)))
		}
	}
	return writeTones(p.Out, rows, tones, l.widths, l.between)
}

// upright shows the headings and the cells of one thing below each other.
func (p *Printer) upright(rows [][]string) error {
	var facts [][]string
	for i, heading := range rows[0] {
		if rows[1][i] != "-" { // what is not there is not said
			facts = append(facts, []string{heading[:1] + strings.ToLower(heading[1:]) + ":", rows[1][i]})
		}
	}
	return p.wrapped(facts)
}

func pickColumns(all []Column, at []int) (out []Column) {
	for _, i := range at {
		out = append(out, all[i])
	}
	return out
}

// fit makes rows no wider than a screen, as far as that goes, and says which columns are left. In this
// order: columns come nearer; those that say nothing go; texts lose their ends; so do other cells that are
// long; columns that can be spared go, the last first; and then cells become as short as their headings. The
// first column has names, which are never cut.
func fit(rows [][]string, columns []Column, width int) (kept []int, out [][]string, between int) {
	for i := range columns {
		kept = append(kept, i)
	}
	if total(widthsOf(rows), gap) <= width {
		return kept, rows, gap
	}
	kept = slices.DeleteFunc(kept, func(i int) bool { return i > 0 && saysNothing(rows, i) })
	rows = only(rows, kept)
	widths := widthsOf(rows)
	floor := func(least int, which func(Column) bool) {
		for total(widths, narrowGap) > width {
			most := -1
			for i := 1; i < len(widths); i++ {
				heading := utf8.RuneCountInString(rows[0][i])
				if which(columns[kept[i]]) && widths[i] > max(least, min(heading, len(columns[kept[i]].Name))) && (most < 0 || widths[i] >= widths[most]) {
					most = i
				}
			}
			if most < 0 {
				return
			}
			widths[most]--
		}
	}
	every := func(Column) bool { return true }
	floor(leastText, func(c Column) bool { return freeText(c.Name) })
	floor(longCell, func(c Column) bool { return freeText(c.Name) })
	floor(longCell, every)
	for total(widths, narrowGap) > width {
		i := len(kept) - 1
		for i > 0 && !columns[kept[i]].Spare {
			i--
		}
		if i <= 0 {
			break
		}
		kept, widths = slices.Delete(kept, i, i+1), slices.Delete(widths, i, i+1)
		for r := range rows {
			rows[r] = slices.Delete(slices.Clone(rows[r]), i, i+1)
		}
	}
	floor(leastCell, every)
	for _, row := range rows {
		var cells []string
		for i, cell := range row {
			cells = append(cells, Cut(cell, widths[i]))
		}
		out = append(out, cells)
	}
	return kept, out, narrowGap
}

// saysNothing reports whether a column has hyphens only. The first row may be the headings.
func saysNothing(rows [][]string, i int) bool {
	return !slices.ContainsFunc(rows[min(1, len(rows)-1):], func(row []string) bool { return row[i] != "-" })
}

// only are some of the cells of rows.
func only(rows [][]string, at []int) (out [][]string) {
	for _, row := range rows {
		var cells []string
		for _, i := range at {
			cells = append(cells, row[i])
		}
		out = append(out, cells)
	}
	return out
}

// freeText reports whether a column has what people or programs write at length.
func freeText(name string) bool {
	return slices.Contains([]string{"MESSAGE", "REASON", "CONDITIONS", "IMAGE", "LABELS", "DESCRIPTION", "TITLE"}, name)
}

// Cut is a text of at most so many characters, the last of which says that there is more.
func Cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	if most <= 0 {
		return ""
	}
	return string([]rune(s)[:most-1]) + "…"
}

func widthsOf(rows [][]string) (out []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(out) {
				out = append(out, 0)
			}
			out[i] = max(out[i], utf8.RuneCountInString(cell))
		}
	}
	return out
}

func total(widths []int, between int) int {
	n := between * max(len(widths)-1, 0)
	for _, w := range widths {
		n += w
	}
	return n
}

// writeRows writes rows in columns. The last cell of a row has no blanks behind it.
func writeRows(w io.Writer, rows [][]string, between int) error {
	return writeTones(w, rows, nil, widthsOf(rows), between)
}

// writeTones is writeRows in colours, and in columns of these widths; tones are nil for none.
func writeTones(w io.Writer, rows [][]string, tones [][]Tone, widths []int, between int) error {
	var b strings.Builder
	for r, row := range rows {
		for i, cell := range row {
			text := cell
			if tones != nil {
				text = tones[r][i].Paint(cell)
			}
			b.WriteString(text)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(cell), 0)+between))
			}
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
