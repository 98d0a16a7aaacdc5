package bootenv

import (
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// Part is what a boot does with a file.
type Part string

// The parts. Programs are started by firmware or by a loader, and so are of an architecture.
const (
	PartKernel Part = "kernel"
	PartInitrd Part = "initrd"
	PartUKI    Part = "UKI"
	PartLoader Part = "loader"
	PartLink   Part = "link"
)

// Program says whether the file is started, and not only read.
func (p Part) Program() bool { return p == PartKernel || p == PartUKI || p == PartLoader }

// Need is one file that an environment names.
type Need struct {
	// Field is where it is named: spec.os.supportedArchitectures.amd64.kernel.
	Field string
	Part  Part
	// Path is below the root of the environment; in the server's file system for what
	// [Effective.Needs] gives.
	Path string
	Arch string // in Go's spelling
}

// Needs are the files that an environment names, by the uploaded file that they are to be in,
// before anything is known of a server. What a template lies over is not among them: it need
// not be in the file. sum is the SHA-256 that the file must have, of hex digits, or empty.
func Needs(s resource.BootEnvSpec) (out []NeedsOf) {
	f := folded(s)
	for _, arch := range sortedKeys(f.OS.SupportedArchitectures) {
		a := f.OS.SupportedArchitectures[arch]
		if a.IsoFile == "" {
			continue
		}
		at := fieldsOf(s, arch)
		n := NeedsOf{File: a.IsoFile, Sum: strings.ToLower(a.Sha256)}
		add := func(field string, part Part, path string) {
			if path != "" && pathProblem(path) == "" && !laidOver(s, path) {
				n.Needs = append(n.Needs, Need{field, part, path, arch})
			}
		}
		add(at("kernel"), PartKernel, a.Kernel)
		for i, p := range a.Initrds {
			add(fmt.Sprintf("%s[%d]", at("initrds"), i), PartInitrd, p)
		}
		add(at("uki"), PartUKI, a.UKI)
		add(at("loader"), PartLoader, a.Loader)
		for _, key := range sortedKeys(f.Loaders) {
			if archOfKey(key) == arch && key != resource.LoaderBIOS { // which nothing is booted by
				add("spec.loaders."+string(key), PartLoader, f.Loaders[key])
			}
		}
		out = append(out, n)
	}
	return out
}

// NeedsOf are what one uploaded file must have.
type NeedsOf struct {
	File, Sum string
	Needs     []Need
}

// fieldsOf says where a field of an architecture stands in an environment as it was written.
func fieldsOf(s resource.BootEnvSpec, arch string) func(field string) string {
	spelt := arch
	if _, ok := s.OS.SupportedArchitectures[arch]; !ok {
		for _, k := range sortedKeys(s.OS.SupportedArchitectures) {
			if canonical, err := Arch(k); err == nil && canonical == arch {
				spelt = k
			}
		}
	}
	a, there := s.OS.SupportedArchitectures[spelt]
	outside := map[string]bool{"kernel": a.Kernel == "", "initrds": len(a.Initrds) == 0}
	return func(field string) string {
		if !there || arch == amd64 && outside[field] {
			return "spec." + field
		}
		return "spec.os.supportedArchitectures." + spelt + "." + field
	}
}

// laidOver says whether a template may lie at a path below the root: its own path ends so.
func laidOver(s resource.BootEnvSpec, path string) bool {
	return slices.ContainsFunc(s.Templates, func(t resource.EnvTemplate) bool { return strings.Contains(t.Path, path) })
}

// Needs are the files that a server's boot names, in its file system: what firmware, iPXE and
// loaders may ask for, and what templates link to. What was rendered is not among them, nor
// what a loader of the site is told of an image.
func (e *Effective) Needs(root Root, sample Tree) (out []Need) {
	at := fieldsOf(e.Bundle.Spec, e.Arch)
	add := func(field string, part Part, path string) {
		if !sample.Has(path) {
			out = append(out, Need{field, part, path, e.Arch})
		}
	}
	below := func(field string, part Part, path string) {
		if path != "" {
			add(field, part, root.Path(path, true))
		}
	}
	below(at("kernel"), PartKernel, e.kernel(root))
	for i, p := range e.initrds(root) {
		below(fmt.Sprintf("%s[%d]", at("initrds"), i), PartInitrd, p)
	}
	below(at("uki"), PartUKI, e.uki(root))
	below(at("loader"), PartLoader, e.arch.Loader)
	for _, key := range sortedKeys(e.Spec.Loaders) {
		if archOfKey(key) == e.Arch && key != resource.LoaderBIOS {
			below("spec.loaders."+string(key), PartLoader, e.Spec.Loaders[key])
		}
	}
	for _, from := range sortedKeys(sample.Links) {
		add("the link "+from, PartLink, sample.Links[from])
	}
	return out
}
