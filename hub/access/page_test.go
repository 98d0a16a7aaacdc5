package access

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/guide/access.md says of every operation which role has the right to it.
func TestAccessPage(t *testing.T) {
	raw, err := os.ReadFile("../../docs/guide/access.md")
	if err != nil {
		t.Fatal(err)
	}
	rights, in := map[Operation][]string{}, false
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) > 5 && cells[1] == "right to":
			in = slices.Equal(cells[2:6], words(Roles()))
		case len(cells) < 7:
			in = false
		case in:
			rights[Operation(cells[1])] = cells[2:6]
		}
	}
	delete(rights, "---")
	for _, op := range Operations() {
		var want []string
		for _, r := range Roles() {
			want = append(want, yes(r.has(op)))
		}
		if !slices.Equal(rights[op], want) {
			t.Errorf("%s: the page says %v, the code %v", op, rights[op], want)
		}
	}
	if len(rights) != len(Operations()) {
		t.Errorf("the page has %d operations, there are %d", len(rights), len(Operations()))
	}
}
