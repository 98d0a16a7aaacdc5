package bootenv

import (
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// checkSpec finds what is wrong with an environment as far as it alone tells (facts:
// validity errors of TemplateInfo and BootEnv).
func checkSpec(fs *findings, s resource.BootEnvSpec) {
	checkTemplates(fs, s.Templates)
	for _, k := range sortedKeys(s.Loaders) {
		at := "spec.loaders." + string(k)
		if !slices.Contains(resource.LoaderKeys(), k) {
			fs.err(at, "use one of "+joined(resource.LoaderKeys()), "%s is not a supported loader type", k)
		}
		bootPath(fs, at, s.Loaders[k], false)
	}
	bootPath(fs, "spec.kernel", s.Kernel, true)
	for i, p := range s.Initrds {
		bootPath(fs, fmt.Sprintf("spec.initrds[%d]", i), p, false)
	}
	isoFields(fs, "spec.os", "isoSha256", resource.EnvArch{IsoFile: s.OS.IsoFile, Sha256: s.OS.IsoSha256, IsoURL: s.OS.IsoURL})
	spelt := map[string]string{}
	for _, k := range sortedKeys(s.OS.SupportedArchitectures) {
		at := "spec.os.supportedArchitectures." + k
		arch, err := Arch(k)
		if err != nil {
			fs.err(at, protocol.HintOf(err), "%q is no known architecture", k)
		} else if other, twice := spelt[arch]; twice {
			fs.err(at, "keep "+arch, "it is the same architecture as %s", other)
		}
		spelt[arch] = k
		checkArch(fs, at, s.OS.SupportedArchitectures[k])
	}
	for field, names := range map[string][]string{"requiredParams": s.RequiredParams, "optionalParams": s.OptionalParams} {
		for i, n := range names {
			if n == "" || slices.Contains(names[:i], n) {
				fs.err(fmt.Sprintf("spec.%s[%d]", field, i), "name each param once", "%q is empty or there twice", n)
			}
		}
	}
}

func joined[T ~string](words []T) string {
	var out []string
	for _, w := range words {
		out = append(out, string(w))
	}
	return strings.Join(out, ", ")
}

func checkTemplates(fs *findings, all []resource.EnvTemplate) {
	if limit := bounds().Files; len(all) > limit {
		fs.err("spec.templates", "", "there are %d templates, at most %d are rendered", len(all), limit)
	}
	for i, t := range all {
		at := fmt.Sprintf("spec.templates[%d]", i)
		if t.Name == "" {
			fs.err(at+".name", "give each template a name; bootenv-customize replaces it by that", "the template has no name")
		}
		if j := slices.IndexFunc(all[:i], func(o resource.EnvTemplate) bool { return o.Name == t.Name }); j >= 0 && t.Name != "" {
			fs.err(at+".name", "", "templates %d and %d have the same name %q", j, i, t.Name)
		}
		if j := slices.IndexFunc(all[:i], func(o resource.EnvTemplate) bool { return o.Path == t.Path }); j >= 0 && t.Path != "" {
			fs.err(at+".path", "give one of them another path", "templates %q and %q have the same path %s", all[j].Name, t.Name, t.Path)
		}
		if t.Path == "" {
			fs.err(at+".path", "give it, such as {{.Machine.Path}}/seed", "template %q has no path", t.Name)
		}
		given := []string{}
		for _, f := range []struct{ name, value string }{{"id", t.ID}, {"contents", t.Contents}, {"link", t.Link}} {
			if f.value != "" {
				given = append(given, f.name)
			}
		}
		switch len(given) {
		case 1:
		case 0:
			fs.err(at, "give one of id, contents and link", "template %q has no id, contents or link", t.Name)
		default:
			fs.err(at, "give one of id, contents and link", "template %q has %s", t.Name, strings.Join(given, " and "))
		}
	}
}

// checkArch finds what is wrong with one architecture.
func checkArch(fs *findings, at string, a resource.EnvArch) {
	archPaths(fs, at, a)
	isoFields(fs, at, "sha256", a)
	if a.Image != "" && a.IsoFile != "" {
		fs.err(at+".image", "give one of them", "there are an image and an isoFile")
	}
	if strings.ContainsAny(a.Image, " \t\n") {
		fs.err(at+".image", "write it as registry.example/os:1", "%q is not an OCI reference", a.Image)
	}
	if a.Kernel == "" && len(a.Initrds) > 0 && a.UKI == "" {
		fs.err(at+".initrds", "give a kernel", "there are initrds and no kernel")
	}
}

// bootPath wants a partial path below the root; empty is one where it may be.
func bootPath(fs *findings, at, p string, optional bool) {
	if p == "" && optional {
		return
	}
	if why := pathProblem(p); why != "" {
		fs.err(at, "write it relative to the root of the ISO file or repository, such as install.amd/vmlinuz", "the path %q %s", p, why)
	}
}

// sha256Digits is the length of a SHA-256 in hex.
const sha256Digits = 64

// isoFields checks file, checksum and URL.
func isoFields(fs *findings, at, sha string, a resource.EnvArch) {
	isoParts(fs, at, sha, a)
	if a.IsoFile == "" && (a.Sha256 != "" || a.IsoURL != "") {
		fs.err(at+".isoFile", "name the file as it is uploaded", "there is a checksum or URL of a file without a name")
	}
}
