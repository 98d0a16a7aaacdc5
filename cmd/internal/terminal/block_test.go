package terminal

import (
	"bytes"
	"testing"
)

func TestBlock(t *testing.T) {
	var b Block
	for _, row := range []struct {
		name          string
		lines         []string
		columns, rows int
		want          string
	}{
		{"the first", []string{"one", "two"}, 80, 24, "\rone\x1b[K\n\rtwo\x1b[K\n\r\x1b[J"},
		{"in their place, cut", []string{"zürich hb"}, 6, 24, "\x1b[2A\rzürich\x1b[K\n\r\x1b[J"},
		{"no more than there is room for", []string{"1", "2", "3"}, 80, 3, "\x1b[1A\r1\x1b[K\n\r2\x1b[K\n\r\x1b[J"},
		{"taken away", nil, 80, 24, "\x1b[2A\r\x1b[J"},
		{"nothing there", nil, 80, 24, "\r\x1b[J"},
	} {
		if got := b.frame(row.lines, row.columns, row.rows); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	if columns, rows := Size(&bytes.Buffer{}); columns != 80 || rows != 24 {
		t.Errorf("what is no screen has %d columns and %d rows", columns, rows)
	}
}
