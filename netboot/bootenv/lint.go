package bootenv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Lint says what is wrong with an environment before any server selects it: what is
// described, every template it can reach, and the values that are given with it. Where the
// bundle has a machine with an architecture, and nothing was wrong so far, it is merged and
// rendered for that one too; have then says whether a path of its file system is there, and
// nil is that nobody knows. Errors come before warnings, each in the order of their paths.
func Lint(b resource.EnvBundle, have func(path string) bool) []Finding {
	var fs findings
	checkSpec(&fs, b.Spec)
	fs.spellings(b.Spec)
	var all []*unit
	seen, lib := map[string]bool{}, newLibrary()
	folded := folded(b.Spec)
	for _, arch := range append(sortedKeys(folded.OS.SupportedArchitectures), "") {
		var found findings
		for _, u := range parseAll(&found, lib, folded, arch, paramsPath(b.Spec, arch), b.Templates).units() {
			if !seen[u.name] {
				seen[u.name] = true
				all = append(all, u)
			}
		}
		for _, f := range found {
			if !slices.Contains(fs, f) {
				fs = append(fs, f)
			}
		}
	}
	fs.name(b, all)
	fs.boots(b, all)
	fs.loaders(b.Spec, have)
	fs.params(b, all)
	fs.unknown(b.Spec, all)
	fs.fields(all)
	fs.loops(all)
	if fs.asError("") == nil && b.Machine.Architecture != "" {
		fs.rendered(b, have)
	}
	slices.SortStableFunc(fs, func(a, b Finding) int {
		if a.Severity != b.Severity {
			return strings.Compare(string(a.Severity), string(b.Severity))
		}
		return strings.Compare(a.Path, b.Path)
	})
	return fs
}

// spellings warns of architectures that are not in Go's spelling.
func (fs *findings) spellings(s resource.BootEnvSpec) {
	for _, k := range sortedKeys(s.OS.SupportedArchitectures) {
		if arch, err := Arch(k); err == nil && arch != k {
			fs.warn("spec.os.supportedArchitectures."+k, "", "use %s instead of %s", arch, k)
		}
	}
}

// name wants -install at the end of the name of an environment that installs, and only
// there.
func (fs *findings) name(b resource.EnvBundle, all []*unit) {
	const suffix = "-install"
	named := strings.HasSuffix(b.BootEnv, suffix)
	if named {
		if b.Spec.OS.Name == "" {
			fs.err("spec.os.name", "write FAMILY-VERSION, such as debian-12", "an environment that installs names its operating system")
		}
		return
	}
	for _, u := range all {
		for _, x := range u.uses {
			if slices.Contains([]string{"InstallRepos", "Env.InstallUrl", "Env.InstallURL"}, x.chain) && b.BootEnv != "" {
				fs.at(SeverityError, u, x.at, "call it "+b.BootEnv+suffix, "it installs an operating system (.%s), and its name does not end with %s", x.chain, suffix)
				return
			}
		}
	}
}

// at adds a finding at a place of a text.
func (fs *findings) at(severity Severity, u *unit, pos parse.Pos, hint, format string, args ...any) {
	line, column := place(u.text, pos)
	*fs = append(*fs, Finding{severity, u.name, line, column, fmt.Sprintf(format, args...), hint})
}

// params checks what is said about params, and the values that are there.
func (fs *findings) params(b resource.EnvBundle, all []*unit) {
	bad := false
	for _, name := range sortedKeys(b.Schemas) {
		if err := CheckParam(b.Schemas[name]); err != nil {
			fs.err("param "+name, protocol.HintOf(err), "%s", messageOf(err))
			bad = true
		}
	}
	for i, name := range b.Spec.RequiredParams {
		if _, ok := b.Schemas[name]; !ok && !builtIn(name) && name != "" {
			fs.warn(fmt.Sprintf("spec.requiredParams[%d]", i), "apply a Param that describes it", "no Param describes %q, and any value is taken", name)
		}
	}
	for _, u := range all {
		for _, x := range u.uses {
			declared := slices.Contains(b.Spec.RequiredParams, x.arg) || slices.Contains(b.Spec.OptionalParams, x.arg) || builtIn(x.arg)
			if s, ok := b.Schemas[x.arg]; ok && !declared {
				compiled, err := newSchema(s)
				declared = err == nil && compiled.hasInitial
			}
			if x.arg != "" && strings.HasPrefix(x.chain, "Param") && x.chain != "ParamExists" && !declared {
				fs.at(SeverityWarning, u, x.at, "name it in requiredParams or optionalParams, or give its schema a default", "param %q may have no value", x.arg)
			}
		}
	}
	if bad {
		return
	}
	p, err := newParams(b)
	if err != nil {
		fs.err("params", protocol.HintOf(err), "%s", messageOf(err))
		return
	}
	for _, check := range []func() error{
		func() error {
			_, err := customize(b.Spec, b.BootEnv, p.all(resource.ParamBootEnvCustomize))
			return err
		},
		func() error {
			_, err := readRepositories(p.all(resource.ParamPackageRepositories))
			return err
		},
		func() error {
			_, err := p.bootloaders()
			return err
		},
	} {
		if err := check(); err != nil {
			fs.err("params", protocol.HintOf(err), "%s", messageOf(err))
		}
	}
}

// builtIn says whether a param is ours.
func builtIn(name string) bool {
	return slices.Contains([]string{resource.ParamBootEnvCustomize, resource.ParamPackageRepositories, resource.ParamBootloaders}, name)
}

// messageOf is an error's text without what was being done.
func messageOf(err error) string {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// unknown refuses templates of an environment for machines in discovery that use what only
// a server with an owner has.
func (fs *findings) unknown(s resource.BootEnvSpec, all []*unit) {
	if !s.OnlyUnknown {
		return
	}
	claims := []string{"Owner", "IgnitionURL", "Machine.Name", "Machine.ShortName", "Machine.Labels", "Machine.OS"}
	for _, u := range all {
		for _, x := range u.uses {
			if slices.Contains(claims, x.chain) {
				fs.at(SeverityError, u, x.at, "a machine in discovery has .Machine.MacAddr, UUID, Path, Address and Arch", "the environment is onlyUnknown, and .%s is of servers with an owner", x.chain)
			}
		}
	}
}

// rendered tries the whole for the bundle's machine.
func (fs *findings) rendered(b resource.EnvBundle, have func(path string) bool) {
	wrong := func(path string, err error) { fs.err(path, protocol.HintOf(err), "%s", messageOf(err)) }
	e, err := Merge(b)
	if err != nil {
		wrong("spec", err)
		return
	}
	if _, err := e.Root(); err != nil {
		wrong("spec.os", err)
		return
	}
	ctx := context.Background() // a rendering is bounded by itself
	tree, err := e.Render(ctx, Sample())
	if err != nil {
		wrong("spec.templates", err)
		return
	}
	for _, key := range resource.LoaderKeys() {
		if archOfKey(key) != e.Arch {
			continue
		}
		boot, err := e.Boot(ctx, key, Sample())
		if err != nil {
			wrong("spec ("+string(key)+")", err)
			continue
		}
		for what, p := range boot.Files() {
			if have != nil && !tree.Has(p) && !have(p) {
				fs.err("spec ("+string(key)+")", "look at the names in the ISO file or repository, with their case", "the %s is not there: %s", what, p)
			}
		}
	}
}
