package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"rackboot/protocol/resource"
)

func parseFile(src Source) (docs []document, errs Errors) {
	text := lines(src.Data)
	chunks := split(text)
	several := len(slices.DeleteFunc(slices.Clone(chunks), func(c chunk) bool { return c.empty })) > 1
	number := 0
	for _, c := range chunks {
		if several && !c.empty {
			number++
		}
		d := document{file: src.Name, number: number, skip: c.skip, first: c.first, lines: map[string]int{}, text: text, secret: maySecret(c.text)}
		body, wrong := d.parse(c)
		if body != nil {
			wrong = d.decode(body)
		}
		errs = append(errs, wrong...)
		if body != nil && len(wrong) == 0 {
			docs = append(docs, d)
		}
	}
	return docs, errs
}

// lines are those of a file, whichever way they end.
func lines(data []byte) []string {
	return strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
}

// parse reads one document; nil if it has nothing but comments.
func (d *document) parse(c chunk) (ast.Node, Errors) {
	file, err := parser.ParseBytes([]byte(c.text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		message := "" // it may quote what is there
		if !d.secret {
			message = err.Error()
		}
		if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok {
			if !d.secret {
				message = syntax.Message
			}
			if t := syntax.Token; t != nil && t.Position != nil {
				d.first = d.skip + min(t.Position.Line, strings.Count(c.text, "\n"))
			}
		}
		return nil, Errors{d.at("", strings.TrimSuffix("is no YAML: "+message, ": "))}
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		if c.empty {
			return nil, nil
		}
		return nil, Errors{d.at("", "is no YAML: the document cannot be read")}
	}
	return file.Docs[0].Body, nil
}

// maySecret says whether a document that was not read yet looks like a Secret.
func maySecret(text string) bool {
	return strings.Contains(text, string(resource.KindSecret)) && strings.Contains(text, "kind")
}

// decode makes the object, or says everything that is wrong with it.
func (d *document) decode(body ast.Node) Errors {
	entries, ok := mapping(body)
	if !ok {
		return Errors{d.at("", "a resource is a mapping with apiVersion, kind, metadata and spec")}
	}
	if len(entries) > 0 {
		d.first = d.lineOf(entries[0].Key)
	}
	kind, errs := d.kind(entries)
	if len(errs) > 0 {
		return errs
	}
	w := walker{lines: d.lines, doc: d}
	obj := resource.NewObject(kind)
	tree := w.object(body, obj)
	raw, err := json.Marshal(tree)
	if err == nil {
		err = json.Unmarshal(raw, obj)
	}
	filled := resource.NewObject(kind)
	if err == nil {
		err = json.Unmarshal(raw, filled)
	}
	if err != nil { // the walk should have found it
		return append(w.errs, d.at("", err.Error()))
	}
	filled.Default()
	errs = w.errs
	for _, f := range filled.Validate() {
		if !w.blamed(f.Path) {
			errs = append(errs, d.at(f.Path, f.Message))
		}
	}
	d.object = obj
	return errs
}

// kind reads apiVersion and kind, which decide what else there may be.
func (d *document) kind(entries []*ast.MappingValueNode) (resource.Kind, Errors) {
	found := map[string]string{}
	for _, e := range entries {
		name := keyText(e.Key)
		if name != "apiVersion" && name != "kind" {
			continue
		}
		d.lines[name] = d.lineOf(e.Key)
		if s, ok := e.Value.(*ast.StringNode); ok {
			found[name] = s.Value
		}
	}
	var errs Errors
	if v := found["apiVersion"]; v != resource.APIVersion {
		errs = append(errs, d.at("apiVersion", fmt.Sprintf("%q is not %s", v, resource.APIVersion)))
	}
	kind := resource.Kind(found["kind"])
	var can []string
	for _, k := range resource.Kinds() {
		if k.Appliable() {
			can = append(can, string(k))
		}
	}
	switch {
	case kind == "":
		errs = append(errs, d.at("kind", "is missing; it is one of "+strings.Join(can, ", ")))
	case resource.NewObject(kind) == nil:
		errs = append(errs, d.at("kind", fmt.Sprintf("%q is not one of %s%s", kind, strings.Join(can, ", "), meantKind(string(kind), can))))
	case !kind.Appliable():
		errs = append(errs, d.at("kind", fmt.Sprintf("%s is made by the hub and cannot be applied", kind)))
	}
	return kind, errs
}

// meantKind says which kind somebody may have meant, also by what it is called elsewhere.
func meantKind(word string, kinds []string) string {
	if other, is := resource.OtherKind(word); is {
		return "; say " + string(other)
	}
	return meant(word, kinds)
}
