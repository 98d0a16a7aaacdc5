package resource

import "rackboot/protocol"

// Profile is a set of params for servers that name it. The one named [GlobalProfile] is
// for all of them.
type Profile struct {
	Header
	Spec ProfileSpec `json:"spec"`
}

// GlobalProfile is the profile of every server, after those that it names.
const GlobalProfile = "global"

// ProfileSpec is the profile.
type ProfileSpec struct {
	Description string `json:"description,omitempty"`
	// Params are values by the names of their params.
	Params map[string]any `json:"params,omitempty"`
	// ParamsSecretRef names a Secret of type params, whose values are strings; they are
	// beside Params, and of a name that is in both the Secret's counts.
	ParamsSecretRef *Ref `json:"paramsSecretRef,omitempty"`
}

// Default sets kind and version.
func (p *Profile) Default() { p.APIVersion, p.Kind = APIVersion, KindProfile }

// Validate reports wrong fields.
func (p *Profile) Validate() protocol.FieldErrors {
	var f fields
	p.check(&f)
	f.params("spec.params", p.Spec.Params)
	if r := p.Spec.ParamsSecretRef; r != nil {
		f.name("spec.paramsSecretRef.name", r.Name)
	}
	return f.FieldErrors
}

// References names the Secret with the secret values, if there is one.
func (p *Profile) References() []Reference {
	return paramsReference("spec.paramsSecretRef", p.Spec.ParamsSecretRef)
}

// Param describes one param: what values it may have, and which it has where nobody
// gives one. A param that nobody describes may have any value.
type Param struct {
	Header
	Spec ParamSpec `json:"spec"`
}

// ParamSpec is the description. Params are named in Name, which may have more characters
// than the name of a resource, such as package-repositories or kernel/console.
type ParamSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Schema is a JSON Schema (2020-12); its default is the value where nobody gives one.
	// It refers to nothing outside of itself.
	Schema any `json:"schema"`
}

// Default sets kind and version.
func (p *Param) Default() { p.APIVersion, p.Kind = APIVersion, KindParam }

// Validate reports wrong fields.
func (p *Param) Validate() protocol.FieldErrors {
	var f fields
	p.check(&f)
	f.param("spec.name", p.Spec.Name)
	switch p.Spec.Schema.(type) {
	case map[string]any, bool: // JSON Schema 2020-12, section 4.3
		f.fits("spec.schema", p.Spec.Schema, MaxSchema)
	case nil:
		f.Add("spec.schema", "is missing; true takes any value")
	default:
		f.Add("spec.schema", "is neither an object nor a boolean")
	}
	return f.FieldErrors
}

// The params that are built in.
const (
	ParamBootEnvCustomize    = "bootenv-customize"
	ParamPackageRepositories = "package-repositories"
	ParamBootloaders         = "bootloaders"
)
