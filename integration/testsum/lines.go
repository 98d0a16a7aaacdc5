package main

import (
	"bufio"
	"errors"
	"io"
)

// lines reads lines of any length, each with its end.
type lines struct{ r *bufio.Reader }

func newLines(in io.Reader) *lines { return &lines{r: bufio.NewReaderSize(in, 1<<16)} }

// next returns io.EOF after the last line, which may lack its end.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		return append(line, '\n'), nil
	}
	return line, err
}
