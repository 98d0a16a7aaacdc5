package terminal

import (
	"fmt"
	"io"
	"strings"
)

// Block is lines at the end of a screen that are written again in place. Its writer is a
// [Screen]; it is used by one goroutine.
type Block struct {
	Out   io.Writer
	lines int // on the screen
}

// Draw puts lines in the place of those before, each cut to the screen's width, and as
// many as it has room for: what has scrolled away cannot be written again.
func (b *Block) Draw(lines []string) error {
	columns, rows := Size(b.Out)
	_, err := io.WriteString(b.Out, b.frame(lines, columns, rows))
	return err
}

// Erase takes the lines away.
func (b *Block) Erase() error {
	_, err := io.WriteString(b.Out, b.frame(nil, 0, 0))
	return err
}

func (b *Block) frame(lines []string, columns, rows int) string {
	var out strings.Builder
	if b.lines > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", b.lines)
	}
	// The last line of the screen is where the next character would be.
	lines = lines[:min(len(lines), max(rows-1, 0))]
	for _, l := range lines {
		fmt.Fprintf(&out, "\r%s\x1b[K\n", cut(l, columns))
	}
	out.WriteString("\r\x1b[J") // of a longer block
	b.lines = len(lines)
	return out.String()
}

// cut is a line that does not wrap.
func cut(s string, columns int) string {
	if r := []rune(s); len(r) > columns {
		return string(r[:columns])
	}
	return s
}
