package boot

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/netboot/bootenv"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func bootEnvLintCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "lint [FILE|DIR|-|NAME…]", Short: "Say what is wrong with boot environments, before they are applied", Args: cobra.ArbitraryArgs,
		Long: "Say what is wrong with boot environments. Of files, it is done without a hub: give those of\n" +
			"the Templates and Params too that the environments use. What is no file is the name of an\n" +
			"environment at the hub, which is looked at with the Templates that it uses, by id or by a\n" +
			"literal. Without arguments, or with --all, it is all environments and all Templates of the\n" +
			"hub. The exit code is 2 if anything is an error; warnings are printed.",
		Example: "  rackctl bootenv lint debian/ common.yaml\n  rackctl bootenv lint debian-12-install\n  rackctl bootenv lint",
		RunE: func(cmd *cobra.Command, args []string) error {
			var files, names []string
			for _, arg := range args {
				if _, err := os.Stat(arg); err == nil || arg == "-" || strings.ContainsAny(arg, "./") {
					files = append(files, arg)
				} else {
					names = append(names, arg)
				}
			}
			var found []linted
			if len(files) > 0 {
				sources, err := manifest.Read(files, src.Stdin)
				if err != nil {
					return err
				}
				set, err := manifest.Parse(sources)
				if err != nil {
					return err
				}
				found = lintSet(set)
			}
			if all || len(args) == 0 || len(names) > 0 {
				c, err := hubs.Connect()
				if err != nil {
					return err
				}
				more, err := lintHub(cmd.Context(), c, names, all || len(args) == 0)
				if err != nil {
					return err
				}
				found = append(found, more...)
			}
			return showLint(pr, found)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all environments and Templates of the hub")
	return cmd
}

// lintHub checks environments of a hub: those with the names, or everything.
func lintHub(ctx context.Context, c *api.Client, names []string, all bool) (out []linted, err error) {
	var objs []resource.Object
	for _, kind := range []resource.Kind{resource.KindTemplate, resource.KindParam} {
		list, err := c.Objects.List(ctx, kind)
		if err != nil {
			return nil, err
		}
		objs = append(objs, list...)
	}
	var envs []*resource.BootEnv
	for _, name := range names {
		e, err := api.Get[*resource.BootEnv](ctx, c, name)
		if err != nil {
			return nil, err
		}
		envs = append(envs, e)
	}
	if all {
		list, err := c.Objects.List(ctx, resource.KindBootEnv)
		if err != nil {
			return nil, err
		}
		envs = nil
		for _, o := range list {
			envs = append(envs, o.(*resource.BootEnv))
		}
	}
	l := newLinter(objs)
	for _, e := range envs {
		found := l.env(e, func(path, message string) string {
			return "bootenv/" + e.Metadata.Name + ": " + strings.TrimPrefix(path+": ", ": ") + message
		})
		out = append(out, found...)
		if !slices.ContainsFunc(found, func(f linted) bool { return f.Severity == bootenv.SeverityError }) {
			out = append(out, ofHub(e)...)
		}
	}
	if all { // servers and groups were checked when they were applied, and may be many
		profiles, err := c.Objects.List(ctx, resource.KindProfile)
		if err != nil {
			return nil, err
		}
		for _, o := range profiles {
			out = append(out, l.values(o, func(path, message string) string {
				return "profile/" + o.Head().Metadata.Name + ": " + path + ": " + message
			})...)
		}
		out = append(out, l.rest(func(name, message string) string { return "template/" + name + ": " + message })...)
	}
	return out, nil
}

// ofHub is what the hub says of an environment in which nothing is wrong by itself: what
// uploaded files lack that it names.
func ofHub(e *resource.BootEnv) (out []linted) {
	for _, said := range e.Status.Errors {
		out = append(out, linted{bootenv.Finding{Severity: bootenv.SeverityError, Message: said}, e.Metadata.Name, "bootenv/" + e.Metadata.Name + ": " + said})
	}
	return out
}

// linted is one finding, with its place in words.
type linted struct {
	bootenv.Finding
	BootEnv string `json:"bootEnv,omitempty"`
	text    string
}

func showLint(pr *printer.Printer, found []linted) error {
	errs, lines, seen := 0, []string{}, map[string]bool{}
	found = slices.DeleteFunc(found, func(f linted) bool { // a Template is of several environments
		twice := seen[f.text]
		seen[f.text] = true
		return twice
	})
	for _, f := range found {
		if f.Severity == bootenv.SeverityError {
			errs++
		}
		lines = append(lines, string(f.Severity)+": "+f.text)
	}
	if len(found) == 0 {
		lines = []string{"no errors and no warnings"}
	}
	if err := pr.Text(found, nil, strings.Join(lines, "\n")); err != nil {
		return err
	}
	if errs > 0 {
		return protocol.Errorf(protocol.CodeInvalid, "lint", "%s", printer.Plural(errs, "error"))
	}
	return nil
}

// lintSet checks the environments of files, and the Templates that none of them uses. What is
// wrong with a resource by itself was found when it was read.
func lintSet(set *manifest.Set) (out []linted) {
	objs := set.Objects()
	l := newLinter(objs)
	for i, o := range objs {
		if e, ok := o.(*resource.BootEnv); ok {
			out = append(out, l.env(e, func(path, message string) string { return located1(set.At(i, path, message)) })...)
		}
		out = append(out, l.values(o, func(path, message string) string { return located1(set.At(i, path, message)) })...)
	}
	return append(out, l.rest(func(name, message string) string {
		i := slices.IndexFunc(objs, func(o resource.Object) bool {
			_, is := o.(*resource.Template)
			return is && o.Head().Metadata.Name == name
		})
		return located1(set.At(i, "spec.contents", message))
	})...)
}

// located1 is FILE:LINE: PATH: message, without the line itself.
func located1(e manifest.Error) string {
	e.Text = ""
	return e.Error()
}

// linter checks environments with the Templates and Params that are described beside them.
type linter struct {
	templates map[string]string
	schemas   map[string]resource.ParamSpec
	used      map[string]bool // Templates, by the environments so far
}

func newLinter(objs []resource.Object) *linter {
	l := &linter{map[string]string{}, map[string]resource.ParamSpec{}, map[string]bool{}}
	for _, o := range objs {
		switch o := o.(type) {
		case *resource.Template:
			l.templates[o.Metadata.Name] = o.Spec.Contents
		case *resource.Param:
			l.schemas[o.Spec.Name] = o.Spec
		}
	}
	return l
}

// env checks an environment, with the Templates that the hub would send with it.
func (l *linter) env(e *resource.BootEnv, at func(path, message string) string) (out []linted) {
	var called []string
	for _, s := range l.schemas {
		called = append(called, resource.CalledTemplates(s.Schema)...)
	}
	b := resource.EnvBundle{BootEnv: e.Metadata.Name, Spec: e.Spec, Schemas: l.schemas}
	b.Templates = resource.EnvTemplates(e.Spec, called, func(name string) (string, bool) {
		text, ok := l.templates[name]
		l.used[name] = true
		return text, ok
	})
	for _, f := range bootenv.Lint(b, nil) {
		out = append(out, linted{f, e.Metadata.Name, at(f.Path, findingText(f))})
	}
	return out
}

// values checks the values of params that a resource has: by what the Params say, and by the
// form of our own.
func (l *linter) values(o resource.Object, at func(path, message string) string) (out []linted) {
	var params map[string]any
	switch o := o.(type) {
	case *resource.Profile:
		params = o.Spec.Params
	case *resource.Server:
		params = o.Spec.Params
	case *resource.ServerGroup:
		params = o.Spec.Params
	default:
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		path := "spec.params." + name
		add := func(path, message string) {
			out = append(out, linted{Finding: bootenv.Finding{Severity: bootenv.SeverityError, Path: path, Message: message}, text: at(path, message)})
		}
		wrong := bootenv.CheckTyped(name, params[name])
		for _, w := range wrong {
			add(path+w.Path, w.Message)
		}
		if s, ok := l.schemas[name]; ok && len(wrong) == 0 {
			if err := bootenv.CheckValue(s, "it", params[name], false); err != nil {
				add(path, protocol.Advice(err))
			}
		}
	}
	return out
}

// rest checks the Templates that no environment uses.
func (l *linter) rest(at func(name, message string) string) (out []linted) {
	for _, f := range bootenv.Lint(resource.EnvBundle{Templates: l.templates}, nil) {
		name := strings.TrimPrefix(f.Path, "template ")
		if _, is := l.templates[name]; is && !l.used[name] && f.Severity == bootenv.SeverityError {
			out = append(out, linted{Finding: f, text: at(name, findingText(f))})
		}
	}
	return out
}

// findingText is a finding without its path.
func findingText(f bootenv.Finding) string {
	message := f.Message
	if f.Line > 0 {
		message = fmt.Sprintf("line %d of it: %s", f.Line, message)
	}
	if f.Hint != "" {
		message += " (" + f.Hint + ")"
	}
	return message
}
