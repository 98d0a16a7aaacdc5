package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Set is the resources of all files, in order.
type Set struct {
	docs []document
}

// document is one resource and where its fields are.
type document struct {
	file   string
	number int            // of the document among those that have something, from 1; 0 if the file has no other
	skip   int            // lines of the file before it
	first  int            // line of its first field
	lines  map[string]int // path -> line
	text   []string       // lines of the file
	above  int            // lines of the file before those
	object resource.Object
	// secret is set where the document is, or may be, a Secret: no line of it is quoted.
	secret bool
}

// Parse reads the resources of all sources. One that several files have alike counts once:
// files that need the same Param may each have it. If anything is
// wrong, it returns [Errors] with all of it.
func Parse(sources []Source) (*Set, error) {
	set := &Set{}
	var errs Errors
	for _, src := range sources {
		docs, wrong := parseFile(src)
		set.docs = append(set.docs, docs...)
		slices.SortStableFunc(wrong, func(a, b Error) int { return cmp.Compare(a.Line, b.Line) })
		errs = append(errs, wrong...)
	}
	seen := map[string]document{}
	set.docs = slices.DeleteFunc(set.docs, func(d document) bool {
		h := d.object.Head()
		key := string(h.Kind) + "/" + h.Metadata.Name
		first, twice := seen[key]
		switch {
		case !twice:
			seen[key] = d
		case first.file != d.file && reflect.DeepEqual(first.object, d.object):
			return true
		default:
			errs = append(errs, d.at("metadata.name",
				fmt.Sprintf("%s %q is given twice, first in %s:%d", h.Kind, h.Metadata.Name, first.file, first.line("metadata.name"))))
		}
		return false
	})
	switch {
	case len(errs) > 0:
		return nil, errs
	case len(set.docs) == 0:
		return nil, protocol.Errorf(protocol.CodeInvalid, "read", "there is no resource in what was given")
	}
	return set, nil
}

// Objects are the resources as they were written, without defaults.
func (s *Set) Objects() []resource.Object {
	out := make([]resource.Object, len(s.docs))
	for i, d := range s.docs {
		out[i] = d.object
	}
	return out
}

// At is an Error at a path of the resource with an index in Objects; if the
// path was not written, at what of it was.
func (s *Set) At(index int, path, message string) Error {
	if index < 0 || index >= len(s.docs) {
		return Error{File: "answer of the hub", Path: path, Message: message}
	}
	return s.docs[index].at(path, message)
}

func (d *document) at(path, message string) Error {
	line := d.line(path)
	e := Error{File: d.file, Document: d.number, Line: line, Path: path, Message: message}
	e.Text = d.quoted(line)
	return e
}

// quoted is the text of a line of the file; empty where it is not known, or may be a secret.
func (d *document) quoted(line int) string {
	if n := line - d.above; n >= 1 && n <= len(d.text) && !d.secret {
		return d.text[n-1]
	}
	return ""
}

// line is that of the path or of its nearest parent that was written.
func (d *document) line(path string) int {
	for path != "" {
		if n, ok := d.lines[path]; ok {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return d.first
}

// lineOf is the line of a node in the file.
func (d *document) lineOf(n ast.Node) int { return d.skip + lineOf(n) }
