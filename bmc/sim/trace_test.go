package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A trace is what was seen of a BMC, as text: one step in a line.
//
//	# words
//	> PATCH {system}                 a request; {names} are places of the tree
//	> If-Match: {etag}               its header
//	{"Boot":{}}                      its body
//	< 400 Base.1.13.PropertyUnknown  its answer, with the MessageId of an error
//	< /Boot/BootNext = null          a value of the answer's body, or: absent
//	< header Retry-After = 30        a header of the answer, or: absent
//	< closed                         no answer, the connection is closed
//	took 5s..6s                      how long the answer took
//	size 8MiB                        the body has that many bytes at least
//	wait 30s
//	do external-on                   something that no client does
//	is machine shell                 is power On, is override Pxe Once, is media a.iso
//	saw consumed Hdd                 a record of the BMC's history
//	count delivered 3                deliveries to the webhook, events on the stream
//	sample 300 GET {system} mean 100ms..200ms max 18s
//
// A step whose first word ends in "!" is what the preset does and others do not.
type trace struct {
	name  string
	steps []step
}

type step struct {
	line  int
	word  string
	quirk bool
	rest  string
}

func (s step) fail(format string, args ...any) error {
	return &stepError{step: s, text: fmt.Sprintf(format, args...)}
}

type stepError struct {
	step step
	text string
}

func (e *stepError) Error() string {
	return fmt.Sprintf("line %d: %s %s: %s", e.step.line, e.step.word, e.step.rest, e.text)
}

func readTrace(name string) (*trace, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "traces", name+".txt"))
	if err != nil {
		return nil, err
	}
	t := &trace{name: name}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "{"):
			t.steps = append(t.steps, step{line: i + 1, word: "body", rest: line})
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		word, quirk := strings.CutSuffix(word, "!")
		if word == ">" && strings.Contains(strings.SplitN(rest, " ", 2)[0], ":") {
			word = "header"
		}
		t.steps = append(t.steps, step{line: i + 1, word: word, quirk: quirk, rest: rest})
	}
	return t, nil
}

// quirks counts the steps that show the quirk.
func (t *trace) quirks() (n int) {
	for _, s := range t.steps {
		if s.quirk {
			n++
		}
	}
	return n
}
