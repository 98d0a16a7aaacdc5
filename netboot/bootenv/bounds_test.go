package bootenv

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// contents is the bundle with one template.
func contents(text string) resource.EnvBundle {
	b := bundle()
	b.Spec.Templates = []resource.EnvTemplate{{Name: "t", Path: "t", Contents: text}}
	return b
}

func output(t testing.TB, text string) (string, error) {
	t.Helper()
	e, err := Merge(contents(text))
	if err != nil {
		return "", err
	}
	tree, err := e.Render(context.Background(), Sample())
	return string(tree.Files["t"].Content), err
}

// doubled is a template that makes $x of 2^n bytes and more.
func doubled(n int) string {
	return `{{$x := "aa"}}` + strings.Repeat(`{{$x = printf "%s%s" $x $x}}`, n)
}

// Whatever a template does, it ends with an error that says why, in bounded memory.
func TestBounds(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"1 GB of output", `{{range until 1000}}{{repeat 1048576 "x"}}{{end}}`, "a file has more than 4 MiB"},
		{"a long list", `{{range until 1000000000}}{{end}}`, "at most 10000 are made"},
		{"a list that goes down", `{{range until -1000000000}}{{end}}`, "at most 10000 are made"},
		{"a list by steps", `{{range untilStep 0 1000000000 1}}{{end}}`, "at most 10000 are made"},
		{"a list without steps", `{{range untilStep 0 10 0}}{{end}}`, "the step is 0"},
		{"seq", `{{seq 0 1 1000000000}}`, "at most 10000 are made"},
		{"seq of one", `{{seq 1000000000}}`, "at most 10000 are made"},
		{"a loop over a number writes nothing", `{{range 1000000000}}{{end}}`, "more than 1048576 steps"},
		{"loops in loops", `{{range until 10000}}{{range until 10000}}{{end}}{{end}}`, "more than 1048576 steps"},
		{"a variable that grows", doubled(40), "a value has more than 4 MiB"},
		{"many values", `{{$x := repeat 4000000 "x"}}{{$l := list}}{{range until 1000}}{{$l = append $l (printf "%d%s" . $x)}}{{end}}`, "MiB"},
		{"a list that grows", `{{$l := list 1}}{{range until 40}}{{$l = concat $l $l}}{{end}}`, "a value has more than 4 MiB"},
		{"repeat", `{{repeat 1000000000 "x"}}`, "the count is negative or too large"},
		{"repeat of nothing", `{{repeat -1 "x"}}`, "the count is negative or too large"},
		{"indent", `{{indent 1000000000 "x"}}`, "the indent is"},
		{"replace", doubled(12) + `{{replace "" $x $x}}`, "a value has more than"},
		{"join", doubled(12) + `{{join $x (until 10000)}}`, "a value has more than"},
		{"wrapWith", doubled(12) + `{{wrapWith 1 $x $x}}`, "a value has more than"},
		{"split", doubled(14) + `{{split "" $x}}`, "at most 10000 are made"},
		{"a width", `{{printf "%100000d" 1}}`, "a width is more than 1024"},
		{"an address", `{{printf "%-20p" (list 1)}}`, "%p is where something lies"},
		{"an error", `{{printf "%w" .}}`, "write %v"},
		{"a width by argument", `{{printf "%*d" 100000 1}}`, "a width is an argument"},
		{"many widths", `{{$f := repeat 100000 "%1000d"}}{{printf $f 1}}`, "a value has more than"},
		{"an argument many times", doubled(16) + `{{$f := repeat 1000 "%[1]s"}}{{printf $f $x}}`, "a value has more than"},
		{"uniq", `{{uniq (until 10000)}}`, "at most 1000 are compared"},
		{"trimAll", doubled(16) + `{{trimAll $x $x}}`, "the set of characters"},
		{"chunk", `{{chunk 0 (until 10)}}`, "the size is less than 1"},
		{"semver", doubled(16) + `{{semver $x}}`, "a version has more than"},
		{"a large pattern", doubled(16) + `{{regexMatch $x "x"}}`, "the pattern has more than"},
		{"pattern and text", doubled(20) + `{{regexMatch "(a{500}){2}b" $x}}`, "too large together"},
		{"groups", doubled(17) + `{{regexReplaceAll "()()()()()()()()()()" $x "y"}}`, "too large together"},
		{"a replacement", doubled(17) + `{{regexReplaceAll "" $x (repeat 1000 "y")}}`, "a value has more than"},
		{"a define calls itself", `{{define "x"}}{{template "x"}}{{end}}{{template "x"}}`, "templates call each other 64 deep"},
		{"a Template calls itself", `{{.CallTemplate "self.tmpl" .}}`, "templates call each other 64 deep"},
		{"two templates call each other", `{{template "ping.tmpl" .}}`, "templates call each other 64 deep"},
		{"a value expands to itself", `{{.ParamExpand "self"}}`, "templates call each other 64 deep"},
		{"a map in itself", `{{$d := dict}}{{$_ := set $d "a" $d}}{{$d}}`, "nested more than 64 deep, or in itself"},
		{"a map in itself as JSON", `{{$d := dict}}{{$_ := set $d "a" $d}}{{toJson $d}}`, "nested more than 64 deep, or in itself"},
		{"a map merged into itself", `{{$d := dict}}{{$_ := merge $d (dict "a" $d)}}{{$d}}`, "nested more than 64 deep, or in itself"},
		{"a tree of itself", `{{$d := dict}}{{range until 40}}{{$d = dict "a" $d "b" $d}}{{end}}{{$d}}`, "a value"},
		{"comparing", doubled(20) + `{{$z := print $x}}{{range 1000000000}}{{if eq $x $z}}{{end}}{{end}}`, "the templates work on more than 256 MiB"},
		{"comparing in brackets", doubled(20) + `{{$z := print $x}}{{range 1000000000}}{{if (and (ne $x $z) true)}}{{end}}{{end}}`, "the templates work on more than 256 MiB"},
		{"copying", `{{$l := until 10000}}{{range 1000000000}}{{$y := deepCopy $l}}{{end}}`, "the templates work on more than 256 MiB"},
		{"expanding", `{{$x := repeat 100000 "x"}}{{range 1000000000}}{{$y := $.StringExpand (print "{{1}}" $x)}}{{end}}`, "the templates work on more than 256 MiB"},
		{"repositories", `{{range 1000000000}}{{$y := $.MachineRepos}}{{end}}`, "the templates work on more than 256 MiB"},
		{"a pattern that takes long to make", `{{$p := repeat 130 "(x{500}){2}"}}{{range 1000000000}}{{$y := regexMatch $p ""}}{{end}}`, "too large together"},
		{"deep JSON", `{{fromJson (printf "%s%s" (repeat 5000 "[") (repeat 5000 "]"))}}`, "nested more than 64 deep"},
		{"print", doubled(21) + `{{print $x $x $x}}`, "a value has more than"},
		{"html", doubled(21) + `{{html $x $x}}`, "a value has more than"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := contents(row.text)
			b.Templates["self.tmpl"] = `{{.CallTemplate "self.tmpl" .}}`
			b.Templates["ping.tmpl"] = `{{template "pong.tmpl" .}}`
			b.Templates["pong.tmpl"] = `{{template "ping.tmpl" .}}`
			b.Params[0].Values["self"] = `{{.ParamExpand "self"}}`
			e, err := Merge(b)
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Render(context.Background(), Sample())
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%.300v, want %q", err, row.want)
			}
			if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
				t.Errorf("code %s, hint %q", protocol.CodeOf(err), protocol.HintOf(err))
			}
		})
	}
}

// The files of an environment together are bounded too, and so are all values that one
// rendering holds at a time.
func TestBoundsInAll(t *testing.T) {
	b := contents("")
	b.Spec.Templates = nil
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		b.Spec.Templates = append(b.Spec.Templates, resource.EnvTemplate{Name: n, Path: n, Contents: `{{repeat 4000000 "x"}}`})
	}
	e := merged(t, b)
	_, err := e.Render(context.Background(), Sample())
	if err == nil || !strings.Contains(err.Error(), "all files together have more than 32 MiB") {
		t.Error(err)
	}
	b = contents(`{{$x := repeat 4000000 "x"}}{{$l := list}}{{range until 1000}}{{$l = append $l (printf "%d%s" . $x)}}{{end}}`)
	e = merged(t, b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := e.Render(context.Background(), Sample()); err == nil {
		t.Error("no error")
	}
	runtime.ReadMemStats(&after)
	if made, limit := after.TotalAlloc-before.TotalAlloc, uint64(4*bounds().MadeBytes); made > limit {
		t.Errorf("%d bytes were allocated, more than %d", made, limit)
	}
}

// countdown is a context that ends when it was looked at some times.
type countdown struct {
	context.Context
	left int
	end  error
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	return c.end
}

// A context ends a rendering in the middle of a loop that writes nothing.
func TestRenderEndsWithItsContext(t *testing.T) {
	e := merged(t, contents(`{{range 2000000}}{{end}}`))
	for _, row := range []struct {
		end  error
		code protocol.Code
	}{
		{context.Canceled, protocol.CodeUnavailable},
		{context.DeadlineExceeded, protocol.CodeTimeout},
	} {
		ctx := &countdown{context.Background(), 1000, row.end}
		if _, err := e.Render(ctx, Sample()); protocol.CodeOf(err) != row.code || !errors.Is(err, row.end) {
			t.Errorf("%s: %v", protocol.CodeOf(err), err)
		}
		if ctx.left < -10 {
			t.Errorf("it went on for %d steps after its context had ended", -ctx.left)
		}
	}
}
