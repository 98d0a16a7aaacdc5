package route

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update fielddocs.json")

// What the document of the API says of fields is what the comments say.
func TestFieldDocsAreTheComments(t *testing.T) {
	got := map[string]string{}
	twice := map[string]bool{}
	for _, dir := range []string{"../../../protocol", "../../../protocol/api", "../../../protocol/resource", "../../../protocol/table"} {
		docs := docsOf(t, dir)
		for k, v := range docs {
			name, _, _ := strings.Cut(k, ".")
			if _, there := got[k]; there {
				twice[name] = true
			}
			got[k] = v
		}
	}
	for k := range got {
		if name, _, _ := strings.Cut(k, "."); twice[name] { // nobody knows which one a schema is of
			delete(got, k)
		}
	}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("fielddocs.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := fieldDocs.ReadFile("fielddocs.json")
	if err != nil || !bytes.Equal(want.Bytes(), kept) {
		t.Error("fielddocs.json is not what the comments say: make openapi")
	}
	for _, k := range []string{"Claim", "ClaimSpec.image", "BootPolicy.firstBoot", "ServerSpec.bootMAC"} {
		if got[k] == "" {
			t.Errorf("%s has no text", k)
		}
	}
}

var (
	reference = regexp.MustCompile(`\[([A-Za-z][A-Za-z.]*)\]`)
	internal  = regexp.MustCompile(` ?\((seed [^)]*|P[0-9]+(, P[0-9]+)*)\)`)
)

// plain is a comment as somebody reads it who does not read the source.
func plain(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g != nil {
			text := strings.Join(strings.Fields(g.Text()), " ")
			return reference.ReplaceAllString(internal.ReplaceAllString(text, ""), "$1")
		}
	}
	return ""
}

// docsOf are the texts of one package: of its structs and their fields, with the words of a field that
// has a few.
func docsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files in %s, %v", len(names), dir, err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	words := wordsOf(files)
	out := map[string]string{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec)
				st, ok := spec.Type.(*ast.StructType)
				if !ok || !spec.Name.IsExported() {
					continue
				}
				if text := plain(spec.Doc, g.Doc); text != "" {
					out[spec.Name.Name] = text
				}
				fieldTexts(out, spec.Name.Name, st, words)
			}
		}
	}
	return out
}

func fieldTexts(out map[string]string, name string, st *ast.StructType, words map[string][]string) {
	for _, field := range st.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if key == "" || key == "-" || reflect.StructTag(tag).Get("doc") != "" {
			continue
		}
		text := plain(field.Doc, field.Comment)
		if of, ok := field.Type.(*ast.Ident); ok && len(words[of.Name]) > 0 && len(words[of.Name]) <= maxWords {
			if text != "" && !strings.HasSuffix(text, ".") {
				text += "."
			}
			text = strings.TrimSpace(text + " One of " + strings.Join(words[of.Name], ", ") + ".")
		}
		if text != "" {
			out[name+"."+key] = text
		}
	}
}

// maxWords is how many words of a field are written down.
const maxWords = 12

// wordsOf are the constants of each type that is a word.
func wordsOf(files []*ast.File) map[string][]string {
	out := map[string][]string{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.ValueSpec)
				of, ok := spec.Type.(*ast.Ident)
				if !ok || of.Name == "string" {
					continue
				}
				for _, v := range spec.Values {
					if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						if word, err := strconv.Unquote(lit.Value); err == nil && word != "" {
							out[of.Name] = append(out[of.Name], word)
						}
					}
				}
			}
		}
	}
	return out
}
