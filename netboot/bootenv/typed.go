package bootenv

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// fieldError is an error of one field of a value.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

func inField(field string, err error) error { return &fieldError{field, err} }

// CheckTyped says what is wrong with a value of one of our own params, which have a form
// whether a Param describes them or not. Paths are below the value: [0].url, or
// .debian-12.os.supportedArchitectures.amd64.kernel. A value of another param has no form.
func CheckTyped(param string, value any) (wrong protocol.FieldErrors) {
	v, err := normal(value)
	if err != nil {
		return protocol.FieldErrors{{Message: err.Error()}}
	}
	switch param {
	case resource.ParamPackageRepositories:
		return typedRepositories(v)
	case resource.ParamBootEnvCustomize:
		return typedOverrides(v)
	case resource.ParamBootloaders:
		if _, err := readBootloaders([]held{{value: v}}); err != nil {
			return protocol.FieldErrors{{Message: reasonOf(err)}}
		}
	}
	return nil
}

// reasonOf is the reason of an error of a value without its source and name.
func reasonOf(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

func typedRepositories(v any) (wrong protocol.FieldErrors) {
	list, ok := v.([]any)
	if !ok {
		return protocol.FieldErrors{{Message: "is no list of repositories"}}
	}
	sound := true
	for i, entry := range list {
		var r resource.Repository
		err := strict(entry, &r, true)
		if err == nil {
			err = checkRepository(&r)
		}
		if err == nil {
			continue
		}
		sound = false
		at := fmt.Sprintf("[%d]", i)
		if f, ok := errors.AsType[*fieldError](err); ok {
			at += "." + f.field
		}
		wrong = append(wrong, protocol.FieldError{Path: at, Message: err.Error()})
	}
	if sound { // and of what is sound each by itself, two may say the same
		if _, err := readRepositories([]held{{value: v, Origin: Origin{Param: resource.ParamPackageRepositories}}}); err != nil {
			wrong = append(wrong, protocol.FieldError{Message: reasonOf(err)})
		}
	}
	return wrong
}

func typedOverrides(v any) (wrong protocol.FieldErrors) {
	envs, ok := v.(map[string]any)
	if !ok {
		return protocol.FieldErrors{{Message: "is no map of boot environments"}}
	}
	for _, env := range sortedKeys(envs) {
		var o resource.BootEnvOverride
		if err := strict(envs[env], &o, true); err != nil {
			wrong = append(wrong, protocol.FieldError{Path: "." + env, Message: err.Error()})
			continue
		}
		var fs findings
		checkOverride(&fs, o)
		for _, f := range fs {
			message := f.Message
			if f.Hint != "" {
				message += "; " + f.Hint
			}
			wrong = append(wrong, protocol.FieldError{Path: "." + env + strings.TrimPrefix(f.Path, "spec"), Message: message})
		}
	}
	return wrong
}

// checkOverride finds what is wrong with an override as far as it alone tells: each field of
// it replaces one of the environment, and may be there without the others.
func checkOverride(fs *findings, o resource.BootEnvOverride) {
	checkTemplates(fs, o.Templates)
	for _, k := range sortedKeys(o.Loaders) {
		at := "spec.loaders." + string(k)
		if !slices.Contains(resource.LoaderKeys(), k) {
			fs.err(at, "use one of "+joined(resource.LoaderKeys()), "%s is not a supported loader type", k)
		}
		bootPath(fs, at, o.Loaders[k], true)
	}
	isoParts(fs, "spec.os", "isoSha256", resource.EnvArch{IsoFile: o.OS.IsoFile, Sha256: o.OS.IsoSha256, IsoURL: o.OS.IsoURL})
	for _, k := range sortedKeys(o.OS.SupportedArchitectures) {
		at, a := "spec.os.supportedArchitectures."+k, o.OS.SupportedArchitectures[k]
		if _, err := Arch(k); err != nil {
			fs.err(at, protocol.HintOf(err), "%q is no known architecture", k)
		}
		archPaths(fs, at, a)
		isoParts(fs, at, "sha256", a)
	}
	for i, path := range o.Clear {
		empty := folded(resource.BootEnvSpec{})
		if name, ok := strings.CutPrefix(path, "templates."); ok { // which the environment may have
			empty.Templates = []resource.EnvTemplate{{Name: name}}
		}
		if err := clearPath(&empty, path); err != nil {
			fs.err(fmt.Sprintf("spec.clear[%d]", i), "", "%s", err)
		}
	}
}

// archPaths checks the paths of an architecture.
func archPaths(fs *findings, at string, a resource.EnvArch) {
	bootPath(fs, at+".kernel", a.Kernel, true)
	bootPath(fs, at+".uki", a.UKI, true)
	bootPath(fs, at+".loader", a.Loader, true)
	for i, p := range a.Initrds {
		bootPath(fs, fmt.Sprintf("%s.initrds[%d]", at, i), p, false)
	}
}

// isoParts checks file, checksum and URL, each by itself.
func isoParts(fs *findings, at, sha string, a resource.EnvArch) {
	if a.IsoFile != "" && (pathProblem(a.IsoFile) != "" || strings.Contains(a.IsoFile, "/")) {
		fs.err(at+".isoFile", "write the name that rackctl iso list shows", "%q is no name of a file", a.IsoFile)
	}
	if _, err := hex.DecodeString(a.Sha256); err != nil || a.Sha256 != "" && len(a.Sha256) != sha256Digits {
		fs.err(at+"."+sha, "write what sha256sum prints", "it is not 64 hex digits")
	}
	if a.IsoURL == "" {
		return
	}
	if u, err := url.Parse(a.IsoURL); err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		fs.err(at+".isoUrl", "write an http or https URL without a password", "it cannot be downloaded from")
	}
}
