package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxDocument bounds one document of a file in bytes, of a file of any length: the hub takes no longer request.
const MaxDocument = 1 << 20

// span is where a document is in its file.
type span struct {
	offset int64
	length int  // without the line end before the marker that ends it
	skip   int  // lines of the file before it
	long   bool // it has more than MaxDocument bytes, of which only so many were kept
}

// documents calls fn for each document of a file that is read once, with its text, which is fn's until it returns. It
// splits as [split] does, and keeps one document in memory. What fn returns ends it.
func documents(in *bufio.Reader, fn func(span, []byte) error) error {
	var text []byte
	at, here := int64(0), span{}
	line, begins := 0, true
	end := func(marker bool) error {
		if marker { // a line end before it begins no line of its own
			text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		}
		here.length = len(text)
		err := fn(here, text)
		text, here = text[:0], span{offset: at, skip: line}
		return err
	}
	for {
		part, err := in.ReadSlice('\n')
		if begins && marked(part) {
			if err := end(true); err != nil {
				return err
			}
		}
		at += int64(len(part))
		if room := MaxDocument - len(text); len(part) > room {
			here.long, part = true, part[:room]
		}
		text = append(text, part...)
		begins = err == nil
		switch {
		case err == nil:
			line++
		case errors.Is(err, io.EOF):
			return end(false)
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// marked reports whether a line begins a document or ends one.
func marked(line []byte) bool {
	l := string(bytes.TrimSuffix(line[:min(len(line), 5)], []byte("\n")))
	return marker(l, "---") || marker(l, "...")
}

// read makes the document of a span, and says what is wrong with it. It keeps the text of this document only.
// number is the document's where it has more than comments; else it has no object, and empty is true.
func (s span) read(file string, number int, text []byte) (d *document, empty bool, wrong Errors) {
	own := lines(text)
	chunks := split(own)
	c := chunks[len(chunks)-1] // before it is only the empty one before a marker
	c.empty = c.empty && !s.long
	if c.empty {
		number--
	}
	d = &document{
		file: file, number: number, skip: s.skip, above: s.skip, first: s.skip + c.first, lines: map[string]int{}, text: own,
		secret: maySecret(c.text),
	}
	if s.long {
		return d, false, Errors{d.at("", "the document is longer than 1 MiB")}
	}
	body, wrong := d.parse(c)
	if body != nil {
		wrong = d.decode(body)
	}
	return d, c.empty, wrong
}
