package bootenv

import (
	"fmt"
	"slices"
	"strings"
)

// env is .Env. A server's file system has what is for its architecture.
type env struct{ r *run }

// Format implements fmt.Formatter.
func (v env) Format(f fmt.State, _ rune) { fmt.Fprint(f, v.Name()) }

// Name is the environment's.
func (v *env) Name() string { return v.r.e.Bundle.BootEnv }

// OS is the operating system.
func (v *env) OS() *system { return &system{v.r} }

// Kernel is the kernel's partial path.
func (v *env) Kernel() string { return v.r.kernel() }

// Initrds are the partial paths of the initrds.
func (v *env) Initrds() []string { return v.r.initrds() }

// KernelFor is the kernel's partial path for the server's architecture; for another one
// it is an error.
func (v *env) KernelFor(arch string) (string, error) { return v.Kernel(), v.r.own(arch) }

// InitrdsFor are the partial paths of the initrds for the server's architecture.
func (v *env) InitrdsFor(arch string) ([]string, error) { return v.Initrds(), v.r.own(arch) }

// BootParams are the kernel's arguments, as .BootParams.
func (v *env) BootParams() (string, error) { return v.r.commandLine() }

// PathFor is where a file of the environment's root is found by a protocol:
//
//	protocol | gives
//	tftp     | a path without a slash before it
//	disk     | the same; it is for the path of a template that lies beside the file
//	http     | a URL, https where the segment boots by it
//	https    | a URL; an error where the segment does not boot by https
func (v *env) PathFor(protocol, file string) (string, error) {
	if why := pathProblem(file); why != "" {
		return "", wrongf("the path %q %s", file, why)
	}
	p := v.r.root.Path(file, v.r.bootFile(file))
	switch protocol {
	case "tftp", "disk":
		return p, nil
	case "https":
		if err := v.r.scheme(protocol); err != nil {
			return "", err
		}
		return v.r.site.url(p), nil
	case "http":
		return v.r.site.url(p), nil
	}
	return "", wrongf("no file is served by %q; use tftp, http, https or disk", protocol)
}

// PathForArch is PathFor for the server's architecture.
func (v *env) PathForArch(protocol, file, arch string) (string, error) {
	if err := v.r.own(arch); err != nil {
		return "", err
	}
	return v.PathFor(protocol, file)
}

// JoinInitrds are the initrds by a protocol, with spaces between them.
func (v *env) JoinInitrds(protocol string) (string, error) {
	var out []string
	for _, f := range v.Initrds() {
		p, err := v.PathFor(protocol, f)
		if err != nil {
			return "", err
		}
		out = append(out, p)
	}
	return strings.Join(out, " "), nil
}

// JoinInitrdsFor is JoinInitrds for the server's architecture.
func (v *env) JoinInitrdsFor(protocol, arch string) (string, error) {
	if err := v.r.own(arch); err != nil {
		return "", err
	}
	return v.JoinInitrds(protocol)
}

// InstallUrl is the URL of what the operating system is installed from: the uploaded
// file's root, or the agent's proxy of the install repository.
//
//nolint:revive,staticcheck // the name of dr-provision's templates
func (v *env) InstallUrl() string { return v.r.installURL() }

// InstallURL is InstallUrl.
func (v *env) InstallURL() string { return v.r.installURL() }

// kernel is the kernel's partial path; that of an image where none is named.
func (r *run) kernel() string { return r.e.kernel(r.root) }

func (r *run) initrds() []string { return slices.Clone(r.e.initrds(r.root)) }

// bootFile says whether a file of the root is kernel, initrd, UKI or loader, which
// a repository may have in a place of their own.
func (r *run) bootFile(file string) bool {
	a := r.e.arch
	if file == a.Kernel || file == a.UKI || file == a.Loader || slices.Contains(a.Initrds, file) {
		return true
	}
	for _, l := range r.e.Spec.Loaders {
		if l == file {
			return true
		}
	}
	return false
}

// system is .Env.OS.
type system struct{ r *run }

// Format implements fmt.Formatter.
func (o system) Format(f fmt.State, _ rune) { fmt.Fprint(f, o.Name()) }

// Name is FAMILY-VERSION.
func (o *system) Name() string { return o.r.e.Spec.OS.Name }

// Family is the family, of the name where it is not given.
func (o *system) Family() string { return familyOf(o.r.e.Spec.OS) }

// FamilyName is Family.
func (o *system) FamilyName() string { return familyOf(o.r.e.Spec.OS) }

// FamilyType is rhel, debian or suse, or the family.
func (o *system) FamilyType() string { return familyType(o.Family()) }

// Codename is the release's.
func (o *system) Codename() string { return o.r.e.Spec.OS.Codename }

// Version is the version, of the name where it is not given.
func (o *system) Version() string { return versionOf(o.r.e.Spec.OS) }

// FamilyVersion is Version.
func (o *system) FamilyVersion() string { return versionOf(o.r.e.Spec.OS) }

// VersionEq compares the version as far as want goes: 12.5 is equal to 12.
func (o *system) VersionEq(want string) bool { return versionEq(o.Version(), want) }

// IsoFile is the name of the uploaded file for the server's architecture.
func (o *system) IsoFile() string { return o.r.e.arch.IsoFile }
