package resource

import (
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"rackboot/protocol"
)

// References names the Templates of the environment.
func (e *BootEnv) References() []Reference {
	var refs []Reference
	for i, t := range e.Spec.Templates {
		if t.ID != "" {
			refs = append(refs, Reference{fmt.Sprintf("spec.templates[%d].id", i), KindTemplate, t.ID})
		}
	}
	return refs
}

// Validate reports wrong fields: what the description alone shows. What its templates and
// the params of a server make of it is package netboot/bootenv's to judge.
func (e *BootEnv) Validate() protocol.FieldErrors {
	var f fields
	e.check(&f)
	s := e.Spec
	f.osName("spec.os.name", s.OS.Name)
	f.templates("spec.templates", s.Templates)
	f.loaders("spec.loaders", s.Loaders)
	f.bootFiles("spec", s.Kernel, s.Initrds)
	f.iso("spec.os", "isoSha256", s.OS.IsoFile, s.OS.IsoSha256, s.OS.IsoURL)
	for _, arch := range slices.Sorted(maps.Keys(s.OS.SupportedArchitectures)) {
		f.envArch("spec.os.supportedArchitectures."+arch, s.OS.SupportedArchitectures[arch])
	}
	for i, p := range s.RequiredParams {
		f.param(fmt.Sprintf("spec.requiredParams[%d]", i), p)
	}
	for i, p := range s.OptionalParams {
		f.param(fmt.Sprintf("spec.optionalParams[%d]", i), p)
	}
	if s.OnlyUnknown && s.Destructive {
		f.Add("spec.destructive", "an environment with onlyUnknown is booted by discovery, which discards nothing; set one of them")
	}
	f.fits("spec", s, MaxBootEnv)
	return f.FieldErrors
}

func (f *fields) osName(path, s string) {
	switch {
	case s == "":
		f.Add(path, "is missing; it selects package repositories, such as debian-12")
	case strings.ContainsAny(s, " \t\r\n/\\"):
		f.Add(path, "%.80q has white space or a slash", s)
	}
}

// templates checks a list of templates (facts of dr-provision: models/templateInfo.go).
func (f *fields) templates(path string, list []EnvTemplate) {
	if n := len(list); n > maxEnvTemplates {
		f.Add(path, "has %d entries; give at most %d", n, maxEnvTemplates)
	}
	first := map[string]int{}
	for i, t := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if was, twice := first[t.Name]; t.Name == "" {
			f.Add(at+".name", "is missing")
		} else if twice {
			f.Add(at+".name", "%.80q is the name of template %d too; a name is an entry's own, by which bootenv-customize replaces it", t.Name, was)
		} else {
			first[t.Name] = i
		}
		f.relativeTemplate(at+".path", t.Path)
		given := 0
		for _, s := range []string{t.Contents, t.ID, t.Link} {
			if s != "" {
				given++
			}
		}
		if given != 1 {
			f.Add(at, "give exactly one of contents, id and link")
		}
		if t.ID != "" {
			f.name(at+".id", t.ID)
		}
		if t.Link != "" {
			f.relativeTemplate(at+".link", t.Link)
		}
		f.contents(at+".contents", t.Contents)
	}
}

func (f *fields) loaders(path string, m map[LoaderKey]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(LoaderKeys(), k) {
			oneOf(f, path, k, LoaderKeys()...)
			continue
		}
		f.relative(path+"."+string(k), m[k])
	}
}

func (f *fields) bootFiles(path, kernel string, initrds []string) {
	if kernel != "" {
		f.relative(path+".kernel", kernel)
	}
	for i, p := range initrds {
		f.relative(fmt.Sprintf("%s.initrds[%d]", path, i), p)
	}
}

func (f *fields) envArch(path string, a EnvArch) {
	f.iso(path, "sha256", a.IsoFile, a.Sha256, a.IsoURL)
	f.bootFiles(path, a.Kernel, a.Initrds)
	for name, p := range map[string]string{"uki": a.UKI, "loader": a.Loader} {
		if p != "" {
			f.relative(path+"."+name, p)
		}
	}
	if a.UKI != "" && (a.Kernel != "" || len(a.Initrds) > 0 || a.BootParams != "") {
		f.Add(path+".uki", "is in place of kernel, initrds and bootParams; give either")
	}
	switch {
	case a.Image == "":
	case a.IsoFile != "":
		f.Add(path+".image", "is in place of isoFile; give either")
	case strings.ContainsAny(a.Image, " \t\n"):
		f.Add(path+".image", "%.200q is not an OCI reference such as registry.example/os:1", a.Image)
	}
}

// iso checks an uploaded file: a name without folders, its digest, and where people may
// download it.
func (f *fields) iso(path, shaField, file, sha, from string) {
	if file != "" && !ValidISOFile(file) {
		f.Add(path+".isoFile", "%.80q is not the name of an uploaded file: no slash, no dot at its beginning, at most 255 bytes", file)
	}
	if sha != "" {
		if raw, err := hex.DecodeString(sha); err != nil || len(raw) != 32 {
			f.Add(path+"."+shaField, "%.80q is not a SHA-256: 64 hex digits", sha)
		}
	}
	if from == "" {
		return
	}
	u, err := url.Parse(from)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		f.Add(path+".isoUrl", "is not a URL such as https://mirror.example/os.iso")
	case u.User != nil:
		f.Add(path+".isoUrl", "has a user or password in it, which everybody can read here; leave it out")
	}
}
