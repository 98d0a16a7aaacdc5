package bootenv

import (
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Effective is an environment as it is for one server: merged, checked and parsed. It does
// not change, and is safe for concurrent use.
type Effective struct {
	Bundle resource.EnvBundle
	// Spec is the environment with bootenv-customize merged into it; what was outside of
	// os.supportedArchitectures is in its entry of amd64, and all are in Go's spelling.
	Spec resource.BootEnvSpec
	// Arch is the server's architecture.
	Arch string

	arch        resource.EnvArch
	params      *params
	repos       []repository
	bootloaders []map[string]string
	secrets     []string
	sources     *sources
}

const opMerge = "merge boot environment"

// Merge is the first step of changing a server's boot environment: values are checked,
// bootenv-customize is merged, templates are parsed. The result is an error, invalid or
// unsupported, rather than an environment that cannot be rendered.
func Merge(b resource.EnvBundle) (*Effective, error) {
	if err := CheckArch(b.Machine.Architecture); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, opMerge, "architecture of %s: %w", b.Machine.Name, err)
	}
	if err := checkPurpose(b); err != nil {
		return nil, err
	}
	var described findings
	if checkSpec(&described, b.Spec); described.asError(opMerge) != nil {
		return nil, described.asError(opMerge)
	}
	e := &Effective{Bundle: b, Arch: b.Machine.Architecture}
	if why := pathProblem(e.uuid()); why != "" || strings.Contains(e.uuid(), "/") {
		return nil, protocol.Errorf(protocol.CodeInvalid, opMerge, "the UUID of %s cannot be a name: it %s", b.Machine.Name, first(why, "has a slash"))
	}
	var err error
	if e.params, err = newParams(b); err != nil {
		return nil, err
	}
	if e.Spec, err = customize(b.Spec, b.BootEnv, e.params.all(resource.ParamBootEnvCustomize)); err != nil {
		return nil, err
	}
	if e.repos, err = readRepositories(e.params.all(resource.ParamPackageRepositories)); err != nil {
		return nil, err
	}
	if e.bootloaders, err = e.params.bootloaders(); err != nil {
		return nil, err
	}
	if err := e.checkRequired(); err != nil {
		return nil, err
	}
	e.secrets = e.params.secrets()
	e.arch, _ = archOf(e.Spec, e.Arch)
	var fs findings
	checkSpec(&fs, e.Spec)
	e.sources = parseAll(&fs, newLibrary(), e.Spec, e.Arch, paramsPath(b.Spec, e.Arch), b.Templates)
	if err := fs.asError(opMerge); err != nil {
		return nil, err
	}
	if _, ok := archOf(e.Spec, e.Arch); !ok && len(e.Spec.OS.SupportedArchitectures) > 0 {
		return nil, protocol.Errorf(protocol.CodeUnsupported, opMerge, "boot environment %s has nothing for %s", b.BootEnv, e.Arch).
			WithHint("add os.supportedArchitectures.%s, or choose another environment", e.Arch)
	}
	return e, nil
}

// checkPurpose keeps an environment to what it is for: one of discovery is for discovery
// and nothing else is, one that discards disks is for a Maintenance.
func checkPurpose(b resource.EnvBundle) error {
	purpose := b.Purpose.Or()
	switch discovery := purpose == resource.PurposeDiscovery; {
	case b.Spec.OnlyUnknown && !discovery:
		return protocol.Errorf(protocol.CodeInvalid, opMerge, "boot environment %s is only for machines in discovery", b.BootEnv).
			WithHint("choose one without onlyUnknown")
	case !b.Spec.OnlyUnknown && discovery:
		return protocol.Errorf(protocol.CodeInvalid, opMerge, "boot environment %s is not for machines in discovery", b.BootEnv).
			WithHint("choose one with onlyUnknown")
	case b.Spec.Destructive && purpose != resource.PurposeMaintenance:
		return protocol.Errorf(protocol.CodeDenied, opMerge, "boot environment %s discards disks", b.BootEnv).
			WithHint("boot it by a Maintenance whose caller may wipe")
	}
	return nil
}

// checkRequired wants a value for each of requiredParams.
func (e *Effective) checkRequired() error {
	var missing []string
	for _, name := range e.Spec.RequiredParams {
		if len(e.params.all(name)) == 0 {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalid, opMerge, "boot environment %s needs a value for %s, and nobody gives one", e.Bundle.BootEnv, strings.Join(missing, ", ")).
		WithHint("set it on the server, on a profile of it, on its group or on the profile global")
}
