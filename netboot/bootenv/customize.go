package bootenv

import (
	"maps"
	"slices"

	"rackboot/protocol/resource"
)

// customize merges the values of bootenv-customize that are for an environment into it,
// from the least specific source to the most specific one, which so wins. For each value,
// what its clear names is emptied first, then:
//
//	field                         | merged
//	loaders                       | key by key
//	templates                     | one of the same name is replaced whole, another added
//	os.name, family, codename, version | replaced where given
//	os.supportedArchitectures.ARCH | each field replaced where given; initrds as a whole;
//	                              | an architecture that was not there is added
//	os.isoFile, isoSha256, isoUrl | as those of amd64
//
// dr-provision's own text says least to most specific, in order, and its loop runs from
// the last element to the first: one of the two is wrong for every caller. Here the order
// is that of all params, and the same for every value.
func customize(s resource.BootEnvSpec, env string, all []held) (resource.BootEnvSpec, error) {
	s = folded(s)
	for _, h := range slices.Backward(all) {
		var values map[string]any
		if err := strict(h.value, &values, !h.Secret); err != nil {
			return s, valueError(h.Source, h.Param, err)
		}
		v, ok := values[env]
		if !ok {
			continue
		}
		var o resource.BootEnvOverride
		if err := strict(v, &o, !h.Secret); err != nil {
			return s, valueError(h.Source, h.Param+"."+env, err)
		}
		if err := override(&s, o); err != nil {
			return s, valueError(h.Source, h.Param+"."+env, err)
		}
	}
	return s, nil
}

// folded is a deep enough copy of an environment with Go's spellings, and with the fields
// of amd64 outside of os.supportedArchitectures moved to where they are merged and cleared.
// Two spellings of an architecture are a finding, and the first in order is taken.
func folded(s resource.BootEnvSpec) resource.BootEnvSpec {
	arches := map[string]resource.EnvArch{}
	for _, k := range sortedKeys(s.OS.SupportedArchitectures) {
		arch, err := Arch(k)
		if err != nil {
			arch = k // a finding
		}
		if _, twice := arches[arch]; !twice || k == arch {
			a := s.OS.SupportedArchitectures[k]
			a.Initrds = slices.Clone(a.Initrds)
			arches[arch] = a
		}
	}
	legacy := s.Kernel != "" || len(s.Initrds) > 0 || s.BootParams != ""
	_, there := arches[amd64]
	if there || legacy || s.OS.IsoFile != "" && len(arches) == 0 {
		a := fallback(s, amd64)
		a.Initrds = slices.Clone(a.Initrds)
		arches[amd64] = a
	}
	s.OS.SupportedArchitectures = arches
	s.Kernel, s.Initrds, s.BootParams = "", nil, ""
	s.OS.IsoFile, s.OS.IsoSha256, s.OS.IsoURL = "", "", ""
	s.Loaders = maps.Clone(s.Loaders)
	if s.Loaders == nil {
		s.Loaders = map[resource.LoaderKey]string{}
	}
	s.Templates = slices.Clone(s.Templates)
	return s
}

// override applies one value to a folded environment.
func override(s *resource.BootEnvSpec, o resource.BootEnvOverride) error {
	for _, path := range o.Clear {
		if err := clearPath(s, path); err != nil {
			return err
		}
	}
	for k, l := range o.Loaders {
		if l != "" {
			s.Loaders[k] = l
		}
	}
	for _, t := range o.Templates {
		same := func(have resource.EnvTemplate) bool { return have.Name == t.Name }
		if i := slices.IndexFunc(s.Templates, same); i >= 0 {
			s.Templates[i] = t
		} else {
			s.Templates = append(s.Templates, t)
		}
	}
	given(&s.OS.Name, o.OS.Name)
	given(&s.OS.Family, o.OS.Family)
	given(&s.OS.Codename, o.OS.Codename)
	given(&s.OS.Version, o.OS.Version)
	legacy := resource.EnvArch{IsoFile: o.OS.IsoFile, Sha256: o.OS.IsoSha256, IsoURL: o.OS.IsoURL}
	if legacy.IsoFile != "" || legacy.Sha256 != "" || legacy.IsoURL != "" {
		s.OS.SupportedArchitectures[amd64] = mergedArch(s.OS.SupportedArchitectures[amd64], legacy)
	}
	for _, k := range sortedKeys(o.OS.SupportedArchitectures) {
		arch, err := Arch(k)
		if err != nil {
			return err
		}
		s.OS.SupportedArchitectures[arch] = mergedArch(s.OS.SupportedArchitectures[arch], o.OS.SupportedArchitectures[k])
	}
	return nil
}

// mergedArch replaces what is given.
func mergedArch(a, o resource.EnvArch) resource.EnvArch {
	for _, f := range archFields {
		if to := f.text(&a); to != nil {
			given(to, *f.text(&o))
		}
	}
	if len(o.Initrds) > 0 {
		a.Initrds = slices.Clone(o.Initrds)
	}
	return a
}

func given(to *string, value string) {
	if value != "" {
		*to = value
	}
}
