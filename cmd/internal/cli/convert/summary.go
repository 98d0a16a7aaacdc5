package convert

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/convert"
	"rackboot/cmd/internal/terminal"
)

// maxLines bounds the lines of a summary; the report has all.
const maxLines = 100

var index = regexp.MustCompile(`\[[0-9]+\]`)

// group is what is said alike of fields of several objects.
type group struct {
	fate  convert.Fate
	code  convert.Code
	field string // kind and field without indexes
}

// summary says in brief what became of the input, the worst first.
func summary(pr *printer.Printer, r convert.Report) {
	count, fates := map[group]int{}, map[convert.Fate]int{}
	for _, f := range r.Findings {
		fates[f.Fate]++
		if f.Code == convert.Observed || f.Fate == convert.Taken {
			continue
		}
		kind, _, named := strings.Cut(f.Object, "/")
		if !named {
			kind, _, _ = strings.Cut(f.Object, " ")
		}
		count[group{f.Fate, f.Code, strings.TrimSpace(kind + " " + index.ReplaceAllString(f.Field, "[]"))}]++
	}
	for _, n := range r.Needs {
		kind, _, _ := strings.Cut(n.Object, "/")
		count[group{"lacks", n.Code, kind + " " + n.Field}]++
	}
	groups := make([]group, 0, len(count))
	for g := range count {
		groups = append(groups, g)
	}
	order := []convert.Fate{convert.Refused, "lacks", convert.NoEqual, convert.Changed}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(slices.Index(order, a.fate)-slices.Index(order, b.fate), strings.Compare(a.field, b.field), strings.Compare(string(a.code), string(b.code)))
	})
	for i, g := range groups {
		if i == maxLines {
			pr.Progress("and %d more; --report FILE has all", len(groups)-i)
			break
		}
		pr.Progress("%s", terminal.Cell(g.line(count[g])))
	}
	pr.Progress("%s taken, %d changed, %d without an equal, %d refused; %s written", printer.Plural(fates[convert.Taken], "field"), fates[convert.Changed],
		fates[convert.NoEqual], fates[convert.Refused], printer.Plural(len(r.Written), "resource"))
	if n := secrets(r.Written); n > 0 {
		pr.Progress("%s with passwords or user data: keep the manifests from others", printer.Plural(n, "Secret"))
	}
}

func (g group) line(n int) string {
	word := map[convert.Fate]string{convert.Refused: "refused", "lacks": "lacks", convert.NoEqual: "no equal", convert.Changed: "changed"}[g.fate]
	times := ""
	if n > 1 {
		times = fmt.Sprintf(" (%d times)", n)
	}
	m, _ := g.code.Meaning()
	text := fmt.Sprintf("%s: %s%s: %s: %s", word, g.field, times, g.code, m.Means)
	if m.Do != "" {
		text += "; " + m.Do
	}
	return text
}
