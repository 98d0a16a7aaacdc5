package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxLine bounds a line that is typed, in bytes.
const maxLine = 4096

// Person is the terminal behind a reader, or nil if nobody types there: a pipe, a file, or
// /dev/null, which is a character device too.
func Person(in io.Reader) *os.File {
	f, ok := in.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || !isTerminal(f) {
		return nil
	}
	return f
}

// Ask writes a question and reads one line. The answer to a secret question is not shown
// while it is typed; where the system cannot do that, it is not asked.
func Ask(out io.Writer, in *os.File, question string, secret bool) (string, error) {
	if secret {
		show, err := hide(in)
		if err != nil {
			return "", err
		}
		defer func() {
			show()
			fmt.Fprintln(out)
		}()
	}
	fmt.Fprint(out, question)
	return line(in)
}

// line reads one line and nothing behind it: that is the answer to the next question.
func line(in io.Reader) (string, error) {
	var b strings.Builder
	one := make([]byte, 1)
	for b.Len() < maxLine {
		n, err := in.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return strings.TrimRight(b.String(), "\r"), nil
		case n == 1:
			b.WriteByte(one[0])
		case errors.Is(err, io.EOF) && b.Len() > 0:
			return b.String(), nil
		case err != nil:
			return "", err
		}
	}
	return "", fmt.Errorf("the line is longer than %d bytes", maxLine)
}
