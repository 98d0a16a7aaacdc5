package plan

import (
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// Environments are what boot environments are made of.
type Environments struct {
	BootEnvs  []*resource.BootEnv
	Templates []*resource.Template
	Profiles  []*resource.Profile
	Params    []*resource.Param
	ISOs      map[string]resource.EnvISO // the uploaded files, by name
	// Images are the OCI images of environments as they were resolved.
	Images map[EnvImageKey]resource.Image
	// SecretVersions are status.digest of the Secrets of type params, by name.
	SecretVersions map[string]string
}

// EnvImageKey names an OCI image that an environment has for an architecture.
type EnvImageKey struct{ Reference, Architecture string }

// BootEnv is an environment by its name, or nil.
func (e Environments) BootEnv(name string) *resource.BootEnv { return find(e.BootEnvs, name) }

func (e Environments) profile(name string) *resource.Profile { return find(e.Profiles, name) }

func (e Environments) template(name string) *resource.Template { return find(e.Templates, name) }

// find is the one of a name in a list that is in order of name; nil if there is none.
func find[T resource.Object](list []T, name string) (none T) {
	i, ok := slices.BinarySearchFunc(list, name, func(o T, name string) int { return strings.Compare(o.Head().Metadata.Name, name) })
	if !ok {
		return none
	}
	return list[i]
}
