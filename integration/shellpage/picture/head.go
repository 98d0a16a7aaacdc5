package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode"
)

// Head is the command of a picture, and of the first line below it the words without a digit: a
// table's columns, or what a line begins with. It is an error where that is no picture.
func Head(svg []byte) (string, error) {
	d, lines := xml.NewDecoder(bytes.NewReader(svg)), []string(nil)
	for len(lines) < 3 {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "text" {
				lines = append(lines, "")
			}
		case xml.CharData:
			if n := len(lines); n > 0 {
				lines[n-1] += string(e) + " "
			}
		}
	}
	if len(lines) < 2 {
		return "", errors.New("it shows nothing")
	}
	var out []string
	for w := range strings.FieldsSeq(lines[1]) {
		if !strings.ContainsFunc(w, unicode.IsDigit) {
			out = append(out, w)
		}
	}
	return strings.Join(strings.Fields(lines[0]), " ") + ": " + strings.Join(out, " "), nil
}
