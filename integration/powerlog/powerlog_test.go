package powerlog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	const (
		start = `{"at":1,"what":"start"}` + "\n"
		on    = `{"at":2,"what":"on"}` + "\n"
		again = `{"at":3,"what":"start"}` + "\n"
	)
	for _, c := range []struct {
		name, log string
		want      []Entry
		err       string
	}{
		{"empty", "", nil, ""},
		{"whole", start + on, []Entry{{At: 1, What: Start}, {At: 2, What: On}}, ""},
		{"torn at the end", start + on + `{"at":9,"wh`, []Entry{{At: 1, What: Start}, {At: 2, What: On}}, ""},
		{"an entry without its end is not believed", start + strings.TrimSuffix(on, "\n"), []Entry{{At: 1, What: Start}}, ""},
		{"torn, and started again", start + `{"at":2,` + "\n" + again, []Entry{{At: 1, What: Start}, {At: 3, What: Start}}, ""},
		{"torn without a start", start + `{"at":2,` + "\n" + on, nil, "line 2 is no entry"},
		{"torn twice", start + "{\n{\n" + again, nil, "line 3"},
		{"nothing follows a broken line", start + "{\n", nil, "line 2 is no entry"},
		{"time goes back", on + start, nil, "line 2: the time goes back"},
		{"unknown word", `{"at":1,"what":"oops"}` + "\n" + on, nil, "line 1 is no entry"},
		{"unknown field", `{"at":1,"what":"on","x":1}` + "\n" + on, nil, "line 1 is no entry"},
		{"two entries in a line", `{"at":1,"what":"on"}{"at":1,"what":"on"}` + "\n" + on, nil, "line 1 is no entry"},
		{"no time", `{"what":"on"}` + "\n" + on, nil, "line 1 is no entry"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read([]byte(c.log))
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A log goes on after a process that was killed in the middle of a line.
func TestWriteAfterATornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	w, before, err := Open(path)
	if err != nil || len(before) != 0 {
		t.Fatal(before, err)
	}
	w.Add(On, "")
	w.Add(Installed, "sha256:a")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"at":12`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	w, before, err = Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := DiskOf(before); got != "sha256:a" {
		t.Errorf("disk %q", got)
	}
	w.Add(On, "")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var what []What
	for _, e := range got {
		what = append(what, e.What)
	}
	if d := cmp.Diff([]What{Start, On, Installed, Start, On}, what); d != "" {
		t.Error(d)
	}
}

// What is read is in order and known, whatever the bytes.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"at":1,"what":"start"}` + "\n" + `{"at":2,"what":"on"}` + "\n" + `{"at"`))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		got, err := Read(log)
		if err != nil {
			return
		}
		for i, e := range got {
			if i > 0 && e.At < got[i-1].At {
				t.Fatalf("entry %d goes back", i)
			}
		}
		if len(got) > strings.Count(string(log), "\n") {
			t.Fatalf("%d entries out of fewer lines", len(got))
		}
	})
}
