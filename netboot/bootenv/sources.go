package bootenv

import (
	"errors"
	"fmt"
	"slices"

	"rackboot/protocol/resource"
)

// file is one template of an environment, parsed.
type file struct {
	resource.EnvTemplate
	path, link, content *unit // one of link and content
}

// sources are the parsed texts of an environment.
type sources struct {
	lib        *library
	common     map[string]*unit
	files      []file
	bootParams *unit // nil if there are none
}

// paramsPath is where an environment that is not folded has the kernel's arguments of an
// architecture.
func paramsPath(s resource.BootEnvSpec, arch string) string {
	for _, k := range sortedKeys(s.OS.SupportedArchitectures) {
		if a, err := Arch(k); err == nil && a == arch && s.OS.SupportedArchitectures[k].BootParams != "" {
			return "spec.os.supportedArchitectures." + k + ".bootParams"
		}
	}
	return "spec.bootParams"
}

// parseAll parses the templates that a folded environment can reach, and the kernel's
// arguments of an architecture, which are at paramsAt. What is wrong is a finding.
func parseAll(fs *findings, lib *library, s resource.BootEnvSpec, arch, paramsAt string, templates map[string]string) *sources {
	out := &sources{lib: lib, common: map[string]*unit{}}
	one := func(path, text string) *unit {
		u, err := newUnit(lib, path, text)
		if err != nil {
			fs.syntax(path, err)
		}
		return u
	}
	for i, t := range s.Templates {
		at := fmt.Sprintf("spec.templates[%d]", i)
		f := file{EnvTemplate: t, path: one(at+".path", t.Path)}
		switch {
		case t.Link != "":
			f.link = one(at+".link", t.Link)
		case t.ID != "":
			if f.content = out.reach(fs, t.ID, templates); f.content == nil {
				if _, ok := templates[t.ID]; !ok {
					fs.err(at+".id", "apply a Template of that name, or write contents", "no Template is named %q", t.ID)
				}
			}
		default:
			f.content = one(at+".contents", t.Contents)
		}
		out.files = append(out.files, f)
	}
	if a, ok := archOf(s, arch); ok && a.BootParams != "" {
		out.bootParams = one(paramsAt, a.BootParams)
	}
	out.closure(fs, templates)
	return out
}

// syntax adds the error of a text that cannot be parsed.
func (fs *findings) syntax(path string, err error) {
	f := Finding{Severity: SeverityError, Path: path, Message: err.Error()}
	if e, ok := errors.AsType[*errAt](err); ok {
		f.Line, f.Column, f.Message = e.line, e.column, e.message
	}
	*fs = append(*fs, f)
}

// reach parses a Template once, nil if it is not there or cannot be.
func (s *sources) reach(fs *findings, name string, templates map[string]string) *unit {
	text, ok := templates[name]
	if !ok {
		return nil
	}
	if u, ok := s.common[name]; ok {
		return u
	}
	u, err := newUnit(s.lib, name, text)
	if err != nil {
		fs.syntax("template "+name, err)
	}
	s.common[name] = u
	return u
}

// closure parses the Templates that others name, and says which names mean nothing or two
// things. A Template that is named by a text only when it is rendered is looked up then.
func (s *sources) closure(fs *findings, templates map[string]string) {
	for _, name := range sortedKeys(templates) {
		s.reach(fs, name, templates)
	}
	defined := map[string]string{} // by whom
	for _, name := range sortedKeys(s.common) {
		if s.common[name] == nil {
			continue
		}
		for _, t := range sortedKeys(s.common[name].trees) {
			if other, twice := defined[t]; twice {
				fs.err("template "+name, "give one of them another name", "%q is defined in Template %s too", t, other)
			}
			defined[t] = name
		}
	}
	for _, u := range s.units() {
		for _, name := range u.calls {
			if _, own := u.trees[name]; own {
				continue
			}
			if _, ok := defined[name]; !ok {
				fs.err(u.name, "apply a Template of that name, or define it", "template %q is not there", name)
			}
		}
	}
}

// units are all that were parsed, those of the environment first.
func (s *sources) units() []*unit {
	var out []*unit
	for _, f := range s.files {
		out = append(out, f.path, f.link, f.content)
	}
	out = append(out, s.bootParams)
	for _, name := range sortedKeys(s.common) {
		out = append(out, s.common[name])
	}
	seen := map[*unit]bool{nil: true}
	return slices.DeleteFunc(out, func(u *unit) bool {
		was := seen[u]
		seen[u] = true
		return was
	})
}
