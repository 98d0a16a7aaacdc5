package bootenv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"rackboot/protocol"
)

// run is one rendering of an environment. It is for one goroutine.
type run struct {
	*meter
	e       *Effective
	site    Site
	root    Root
	funcs   template.FuncMap
	origins map[string]Origin // of the file that is rendered
	secret  bool              // it has read a secret
	opaque  bool              // a secret's value is itself a template
}

func (e *Effective) newRun(ctx context.Context, site Site) (*run, error) {
	if err := site.check(); err != nil {
		return nil, err
	}
	root, err := e.Root()
	if err != nil {
		return nil, err
	}
	r := &run{meter: &meter{ctx: ctx, max: bounds()}, e: e, site: site, root: root}
	var names []string
	for _, u := range e.sources.units() {
		names = append(names, u.funcs...)
	}
	slices.Sort(names)
	r.funcs = r.bind(e.sources.lib, slices.Compact(names))
	r.reset()
	return r, nil
}

// reset begins another file.
func (r *run) reset() { r.origins, r.secret, r.opaque = map[string]Origin{}, false, false }

// used are the params that the file used, by name.
func (r *run) used() []Origin {
	var out []Origin
	for _, k := range sortedKeys(r.origins) {
		out = append(out, r.origins[k])
	}
	return out
}

// note keeps where a value came from.
func (r *run) note(o Origin) {
	r.origins[o.Param+"\n"+o.Source] = o
	r.secret = r.secret || o.Secret
}

// text renders a unit. The error has its place and no secret.
func (r *run) text(u *unit, data any) (string, error) {
	out, err := r.exec(u, data)
	if err != nil {
		return "", r.explain(u, err)
	}
	return out, nil
}

// exec renders a unit within another one, whose caller explains the error.
func (r *run) exec(u *unit, data any) (string, error) {
	t, err := r.compile(u)
	if err != nil {
		return "", err
	}
	w := &sink{m: r.meter}
	depth := r.depth
	err = t.Execute(w, data)
	r.depth = depth
	if err != nil {
		return "", err
	}
	return string(w.buf), nil
}

// compile puts a unit and what it can reach together. The trees are shared, and are not
// changed by being executed.
func (r *run) compile(u *unit) (*template.Template, error) {
	t := template.New(u.name).Option("missingkey=error").Funcs(r.funcs)
	have := map[*unit]bool{}
	var add func(u *unit) error
	add = func(u *unit) error {
		if have[u] {
			return nil
		}
		have[u] = true
		for _, name := range sortedKeys(u.trees) {
			if t.Lookup(name) != nil && t.Lookup(name).Tree != nil {
				continue // what a text defines itself comes first
			}
			if _, err := t.AddParseTree(name, u.trees[name]); err != nil {
				return err
			}
		}
		for _, name := range u.calls {
			for _, c := range r.e.sources.common {
				if _, ok := c.trees[name]; ok {
					if err := add(c); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	if err := add(u); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, opRender, "%s: %w", u.name, err)
	}
	return t.Lookup(u.name), nil
}

// expand renders a text that became a template only now, as the value of a param.
func (r *run) expand(text string) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	if _, err := r.enter(); err != nil {
		return "", err
	}
	defer r.leave()
	r.names++
	if err := r.use(len(text) * sizeParse); err != nil {
		return "", err
	}
	u, err := newUnit(r.e.sources.lib, fmt.Sprintf("expanded[%d]", r.names), text)
	if err != nil {
		if e, ok := errors.AsType[*errAt](err); ok && e.line > 0 {
			return "", fmt.Errorf("the value is no template: line %d: %w", e.line, err)
		}
		return "", fmt.Errorf("the value is no template: %w", err)
	}
	for _, name := range u.calls {
		if _, own := u.trees[name]; !own && !r.defines(name) {
			return "", fmt.Errorf("the value is no template: template %q is not there", name)
		}
	}
	missing := slices.DeleteFunc(u.funcs, func(n string) bool { return r.funcs[n] != nil })
	maps.Copy(r.funcs, r.bind(r.e.sources.lib, missing))
	return r.exec(u, &scope{r})
}

func (r *run) defines(name string) bool {
	for _, c := range r.e.sources.common {
		if _, ok := c.trees[name]; ok {
			return true
		}
	}
	return false
}

// shortest is the length from which a secret is replaced in a text; all else is left out
// where a shorter one was read.
const shortest = 4

var (
	// executionSays is the form of the errors of templates that are executed: file and line, column, action, and what is wrong.
	executionSays = regexp.MustCompile(`(?s)^template: (.*?:\d+):(\d+): executing ".*?" at <(.*?)>: (.*)$`)
	// typeNames are what people know our types by.
	typeNames = strings.NewReplacer(
		"type *bootenv.scope", "the dot", "type *bootenv.machine", ".Machine", "type *bootenv.env", ".Env",
		"type *bootenv.system", ".Env.OS", "type *bootenv.repo", "a repository",
	)
)

// explain makes an error of what text/template says. Where a secret was read, what others
// say is left out, because functions quote what they are given; what we say is kept,
// without the secrets in it.
func (r *run) explain(u *unit, err error) error {
	code, said, ours := protocol.CodeInvalid, "", false
	hint := "rackctl bootenv lint and rackctl bootenv render show what is wrong"
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		code, said, ours = e.Code, e.Message, true
		hint = first(e.Hint, hint)
	} else {
		said = strings.TrimPrefix(err.Error(), "template: ")
	}
	where := u.name
	if e, ok := errors.AsType[template.ExecError](err); ok {
		if m := executionSays.FindStringSubmatch(e.Err.Error()); m != nil {
			column, _ := strconv.Atoi(m[2]) // digits, from 0
			where = fmt.Sprintf("%s:%d", m[1], column+1)
			if !r.opaque {
				where += ": " + strings.TrimSuffix(m[3], " | "+funcOutput)
			}
			if !ours {
				said = typeNames.Replace(m[4])
			}
		}
	}
	if r.secret {
		said = r.hide(u, said, ours)
	}
	out := protocol.Errorf(code, opRender, "%s: %s", where, said).WithHint("%s", hint)
	if ended := r.ctx.Err(); ended != nil && errors.Is(err, ended) {
		out.Err = ended
	}
	return out
}

// hide leaves secrets out of what is said.
func (r *run) hide(u *unit, said string, ours bool) string {
	const hidden = "the reason is left out, because a secret param was read before"
	if i := strings.Index(said, "error calling fail: "); !ours && i >= 0 && !r.opaque {
		// What the template says itself is no secret.
		if why := said[i+len("error calling fail: "):]; why != "" && strings.Contains(u.text, why) {
			return why
		}
	}
	if !ours || r.opaque {
		return hidden
	}
	for _, s := range r.e.secrets {
		if len(s) < shortest && strings.Contains(said, s) {
			return hidden
		}
		said = strings.ReplaceAll(said, s, "(secret)")
	}
	return said
}
