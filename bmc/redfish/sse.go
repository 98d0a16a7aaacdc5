package redfish

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line of an event stream.
const maxLine = 64 << 10

// lineBuffer is what a stream reads at once. A BMC sends an event now and then, and each
// stream keeps its buffer for as long as it waits.
const lineBuffer = 512

var (
	errLongLine  = errors.New("a line of the event stream is too long")
	errLongEvent = errors.New("an event of the stream is too large")
)

// readStream reads server-sent events (WHATWG HTML, section 9.2.6) and calls
// each with the data of each. It returns what ended the stream; io.EOF is an
// orderly end. active is called for every line, keep-alives included.
func readStream(from io.Reader, active func(), each func(data []byte)) error {
	r := &lines{r: bufio.NewReaderSize(from, lineBuffer)}
	var data []byte
	has := false
	for first := true; ; first = false {
		line, err := r.next()
		if err != nil {
			return err // an event without the empty line after it is none
		}
		active()
		if first {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(line) == 0 {
			if has {
				each(data)
			}
			data, has = data[:0:0], false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" { // comments have an empty name
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if has {
			data = append(data, '\n')
		}
		has = true
		if data = append(data, value...); len(data) > maxEventBytes {
			return errLongEvent
		}
	}
}

// lines reads lines that end in LF, CR or CR LF.
type lines struct {
	r      *bufio.Reader
	wasEnd bool // the last line ended in CR, so that a LF belongs to it
}

func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		b, err := l.r.ReadByte()
		if err != nil {
			return nil, err
		}
		ended := l.wasEnd
		l.wasEnd = b == '\r'
		switch {
		case b == '\n' && ended && len(line) == 0:
			continue
		case b == '\r', b == '\n':
			return line, nil
		}
		if line = append(line, b); len(line) > maxLine {
			return nil, errLongLine
		}
	}
}
