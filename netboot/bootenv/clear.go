package bootenv

import (
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// archField is a field of an architecture.
type archField struct {
	name string
	text func(*resource.EnvArch) *string // nil of initrds
}

// archFields lists them.
var archFields = []archField{
	{"isoFile", func(a *resource.EnvArch) *string { return &a.IsoFile }},
	{"sha256", func(a *resource.EnvArch) *string { return &a.Sha256 }},
	{"isoUrl", func(a *resource.EnvArch) *string { return &a.IsoURL }},
	{"image", func(a *resource.EnvArch) *string { return &a.Image }},
	{"kernel", func(a *resource.EnvArch) *string { return &a.Kernel }},
	{"bootParams", func(a *resource.EnvArch) *string { return &a.BootParams }},
	{"uki", func(a *resource.EnvArch) *string { return &a.UKI }},
	{"loader", func(a *resource.EnvArch) *string { return &a.Loader }},
	{"initrds", func(*resource.EnvArch) *string { return nil }},
}

// clearPath empties what a path of clear names in a folded environment:
//
//	loaders                        | all
//	loaders.KIND                   | one
//	templates                      | all
//	templates.NAME                 | one, which must be there
//	os.family, codename, version   | that field
//	os.supportedArchitectures      | all
//	os.supportedArchitectures.ARCH | one
//	os.supportedArchitectures.ARCH.FIELD | that field
//	kernel, initrds, bootParams    | that of amd64
//	os.isoFile, isoSha256, isoUrl  | that of amd64
//
// Anything else is an error: what was meant to be taken away would stay. os.name cannot be
// empty.
func clearPath(s *resource.BootEnvSpec, path string) error {
	head, rest, sub := strings.Cut(path, ".")
	switch {
	case path == "loaders":
		s.Loaders = map[resource.LoaderKey]string{}
	case head == "loaders" && slices.Contains(resource.LoaderKeys(), resource.LoaderKey(rest)):
		delete(s.Loaders, resource.LoaderKey(rest))
	case path == "templates":
		s.Templates = nil
	case head == "templates" && sub:
		i := slices.IndexFunc(s.Templates, func(t resource.EnvTemplate) bool { return t.Name == rest })
		if i < 0 {
			return fmt.Errorf("clears template %q, which is not there", rest)
		}
		s.Templates = slices.Delete(s.Templates, i, i+1)
	case path == "os.family":
		s.OS.Family = ""
	case path == "os.codename":
		s.OS.Codename = ""
	case path == "os.version":
		s.OS.Version = ""
	case path == "os.supportedArchitectures":
		s.OS.SupportedArchitectures = map[string]resource.EnvArch{}
	case strings.HasPrefix(path, "os.supportedArchitectures."):
		return clearArch(s, path, strings.TrimPrefix(path, "os.supportedArchitectures."))
	case path == "kernel", path == "initrds", path == "bootParams":
		return clearArch(s, path, amd64+"."+path)
	case path == "os.isoFile", path == "os.isoUrl":
		return clearArch(s, path, amd64+"."+rest)
	case path == "os.isoSha256":
		return clearArch(s, path, amd64+".sha256")
	default:
		return unclear(path)
	}
	return nil
}

func unclear(path string) error {
	return fmt.Errorf("clears %q, which is no field that can be cleared", path)
}

// clearArch empties an architecture or a field of it: ARCH or ARCH.FIELD.
func clearArch(s *resource.BootEnvSpec, path, name string) error {
	name, field, sub := strings.Cut(name, ".")
	arch, err := Arch(name)
	if err != nil {
		return unclear(path)
	}
	if !sub {
		delete(s.OS.SupportedArchitectures, arch)
		return nil
	}
	i := slices.IndexFunc(archFields, func(f archField) bool { return f.name == field })
	if i < 0 {
		return unclear(path)
	}
	a, there := s.OS.SupportedArchitectures[arch]
	if !there {
		return nil // it is empty
	}
	if text := archFields[i].text(&a); text != nil {
		*text = ""
	} else {
		a.Initrds = nil
	}
	s.OS.SupportedArchitectures[arch] = a
	return nil
}
