package manifest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"rackboot/protocol"
)

// indexed are the resources of an Index, and what is wrong.
func indexed(t interface{ Fatal(...any) }, paths []string, stdin io.Reader) (*Set, error) {
	x, err := NewIndex(paths, stdin)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	all := make([]int, x.Len())
	for i := range all {
		all[i] = i
	}
	set, err := x.Set(all)
	if err != nil {
		t.Fatal(err)
	}
	return set, nil
}

// FuzzIndex: a text that is read as a stream, in pieces of one byte, is what it is as a whole, and so is each error
// with its line and its text.
func FuzzIndex(f *testing.F) {
	f.Add(good)
	f.Add("# only\n---\n" + good + "\r\n---\r\n---\n...\n" + good)
	f.Add("apiVersion: rackboot/v1\nkind: Rack\nmetadata: {name: r1}\nspec: {description: |+\n  a\n\n\n---\na: b: c\n...\n")
	f.Add("\t\n--- a\n---b\n---\n...\r")
	f.Add("\n\n---\r\napiVersion: rackboot/v1\r\nkind: Rack\r\nmetadata: {name: r1}\r\n---\nkind: Rack\n")
	f.Fuzz(func(t *testing.T, text string) {
		want, wrong := Parse([]Source{{"stdin", []byte(text)}})
		got, err := indexed(t, []string{"-"}, iotest.OneByteReader(strings.NewReader(text)))
		if (err == nil) != (wrong == nil) || err != nil && sortedText(err) != sortedText(wrong) {
			t.Fatalf("as a stream %v\nas a whole %v", err, wrong)
		}
		if err != nil {
			return
		}
		if d := cmp.Diff(want.Objects(), got.Objects(), cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
		for i := range want.Objects() {
			if w, g := want.At(i, "metadata.name", "x"), got.At(i, "metadata.name", "x"); w.Line != g.Line || w.Document != g.Document {
				t.Errorf("%+v, want %+v", g, w)
			}
		}
	})
}

// sortedText is what is wrong, whatever the order within a line of a file.
func sortedText(err error) string {
	errs, is := errors.AsType[Errors](err)
	if !is {
		return err.Error()
	}
	list := map[string]bool{}
	for _, e := range errs {
		e.Text = "" // the YAML library may blame a line behind the document
		list[e.Error()] = true
	}
	return fmt.Sprint(list)
}

func rackText(name, description string) string {
	return fmt.Sprintf("apiVersion: rackboot/v1\nkind: Rack\nmetadata: {name: %s}\nspec: {description: %q}\n", name, description)
}

// However resources are dealt to files, folders and standard input, an index has the same.
func TestIndexOfAnySplit(t *testing.T) {
	above, tries := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		tries++
		dir := filepath.Join(above, fmt.Sprint(tries))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, 30).Draw(t, "n")
		texts := map[string]string{}
		for i := range n {
			file := rapid.SampledFrom([]string{"-", "a.yaml", "b.yml", "c.json.yaml"}).Draw(t, "file")
			texts[file] += "---\n" + rackText(fmt.Sprintf("r%d", i), strings.Repeat("x", rapid.IntRange(0, 200).Draw(t, "length")))
		}
		for file, text := range texts {
			if file != "-" {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		var paths []string
		if len(texts) > 1 || texts["-"] == "" {
			paths = append(paths, dir)
		}
		set, err := indexed(t, append(paths, "-"), strings.NewReader(texts["-"]))
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, o := range set.Objects() {
			names[o.Head().Metadata.Name] = true
		}
		if len(names) != n || len(set.Objects()) != n {
			t.Errorf("%d of %d", len(set.Objects()), n)
		}
	})
}

// A file of any length is read; a document of it is bounded.
func TestIndexLengths(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := rackText("r1", "") + "---\n"
	long := one + strings.Repeat("#", 1<<20-3) + "\n---\n" + rackText("r2", "")
	var many strings.Builder
	for i := range 20_000 {
		many.WriteString("---\n" + rackText(fmt.Sprintf("m%d", i), strings.Repeat("d", 50)))
	}
	for name, row := range map[string]struct {
		text  string
		n     int
		wrong string
	}{
		"1 MiB and a byte in documents": {one + strings.Repeat("#\n", (1<<20-len(one))/2) + "---\n" + rackText("r2", "x"), 2, ""},
		"a document above 1 MiB":        {long, 0, ":5: document 2: the document is longer than 1 MiB"},
		"20,000":                        {many.String(), 20_000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := write("f.yaml", row.text)
			for _, from := range []string{path, "-"} {
				x, err := NewIndex([]string{from}, strings.NewReader(row.text))
				if row.wrong != "" {
					if err == nil || !strings.Contains(err.Error(), row.wrong) {
						t.Errorf("%v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				set, err := x.Set([]int{x.Len() - 1})
				if err != nil || x.Len() != row.n || set.Objects()[0].Head().Metadata.Name != x.Name(x.Len()-1) {
					t.Errorf("%d, %v", x.Len(), err)
				}
				x.Close()
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "rackctl-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", left, err)
	}
}

// An error of one document among others has its line, its number and the text of that line, unless it may be a secret.
func TestIndexQuotes(t *testing.T) {
	text := "# racks\n---\n" + rackText("r1", "") + "---\n" + rackText("r2", "") + "---\nkind: Secret\n"
	_, err := NewIndex([]string{"-"}, strings.NewReader(text+"x: y\n"))
	if err == nil || strings.Contains(err.Error(), "x: y") || strings.Contains(err.Error(), "\n    kind") {
		t.Errorf("%v", err)
	}
	x, err := NewIndex([]string{"-"}, strings.NewReader(text[:len(text)-len("---\nkind: Secret\n")]))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	want := Error{File: "stdin", Document: 2, Line: 11, Path: "spec.description", Message: "bad", Text: `spec: {description: ""}`}
	if got := x.At(1, "spec.description", "bad"); got != want {
		t.Errorf("%+v", got)
	}
}

// A file that is changed after it was read is not applied as something else.
func TestIndexNoticesAChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	for name, after := range map[string]string{"other": rackText("r1", "y"), "shorter": "a: b\n", "gone": ""} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(rackText("r1", "x")), 0o600); err != nil {
				t.Fatal(err)
			}
			x, err := NewIndex([]string{path}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if err := os.WriteFile(path, []byte(after), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := x.Set([]int{0}); protocol.CodeOf(err) != protocol.CodeConflict {
				t.Errorf("%v", err)
			}
		})
	}
}

// Errors are listed up to a bound, and counted.
func TestIndexBoundsErrors(t *testing.T) {
	_, err := NewIndex([]string{"-"}, strings.NewReader(strings.Repeat("---\nkind: Rac\n", 1500)))
	errs, is := errors.AsType[Errors](err)
	if !is || len(errs) != maxListed+1 || !strings.Contains(err.Error(), "other errors are not listed") {
		t.Errorf("%d", len(errs))
	}
}
