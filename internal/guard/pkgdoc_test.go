package guard

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// Each package says once what it is for, where a reader looks for it.
func TestPackageDocs(t *testing.T) {
	report(t, packageDocs(sources(t, func(string) bool { return true })))
}

// packageDocs returns the packages whose doc comment is missing, doubled, in
// another file than doc.go or main.go, or begins with other words than godoc's.
func packageDocs(all []source) []string {
	var problems []string
	docs := map[string][]source{}
	for _, s := range all {
		dir := path.Dir(s.path)
		switch {
		case s.file.Doc != nil:
			docs[dir] = append(docs[dir], s)
		case docs[dir] == nil:
			docs[dir] = []source{}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(docs)) {
		if len(docs[dir]) != 1 {
			problems = append(problems, fmt.Sprintf("%s: %d package comments, want one", dir, len(docs[dir])))
			continue
		}
		s := docs[dir][0]
		file, begin := "doc.go", "Package "+s.file.Name.Name+" "
		if s.file.Name.Name == "main" {
			file, begin = "main.go", "Command "+path.Base(dir)+" "
		}
		if path.Base(s.path) != file {
			problems = append(problems, fmt.Sprintf("%s: the package comment belongs in %s", s.path, file))
		}
		if !strings.HasPrefix(s.file.Doc.Text(), begin) {
			problems = append(problems, fmt.Sprintf("%s: the package comment must begin with %q", s.path, begin))
		}
	}
	return problems
}

func TestPackageDocsCanFail(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"good", map[string]string{"x/doc.go": "// Package x is.\npackage x", "x/y.go": "package x"}, ""},
		{"good command", map[string]string{"cmd/x/main.go": "// Command x does.\npackage main"}, ""},
		{"none", map[string]string{"x/doc.go": "package x"}, "0 package comments"},
		{"two", map[string]string{"x/doc.go": "// Package x is.\npackage x", "x/y_test.go": "// Package x.\npackage x"}, "2 package comments"},
		{"elsewhere", map[string]string{"x/y.go": "// Package x is.\npackage x"}, "belongs in doc.go"},
		{"licence became it", map[string]string{"x/doc.go": "// Copyright.\npackage x"}, "must begin"},
		{"command as package", map[string]string{"cmd/x/main.go": "// Package main is.\npackage main"}, "must begin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []source
			for p, text := range c.files {
				all = append(all, parse(t, p, []byte(text)))
			}
			expect(t, packageDocs(all), c.want)
		})
	}
}
