package terminal

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	in := strings.NewReader("yes\r\ntoken\nlast")
	for _, want := range []string{"yes", "token", "last"} {
		if got, err := line(in); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if _, err := line(in); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if got, err := line(strings.NewReader(strings.Repeat("x", maxLine+1))); err == nil {
		t.Errorf("%d bytes are taken", len(got))
	}
}

func TestNobodyTypesInAFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Person(f) != nil || Person(strings.NewReader("")) != nil {
		t.Error("somebody types")
	}
}

// Nobody types at /dev/null, which is what programs that nobody watches have.
func TestPerson(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if Person(null) != nil {
		t.Error("somebody types at /dev/null")
	}
	if Person(strings.NewReader("yes")) != nil {
		t.Error("somebody types into a text")
	}
}
