package resource

import "rackboot/protocol"

// ManagedBootImages says which groups' boot images are managed, and how old an image may
// be. There is one, named [ManagedBootImagesName]; without it nothing is managed. It is
// heeded where the hub's file has features.managedBootImages (seed 001, ManagedBootImageConfig
// and its feature gate).
type ManagedBootImages struct {
	Header
	Spec ManagedBootImagesSpec `json:"spec"`
}

// ManagedBootImagesName is the name of the only one.
const ManagedBootImagesName = "default"

// OptIn says which groups are managed.
type OptIn string

// The modes. None is the default.
const (
	OptInNone    OptIn = "None"
	OptInPartial OptIn = "Partial"
	OptInAll     OptIn = "All"
)

// OptIns lists the modes.
func OptIns() []OptIn { return []OptIn{OptInNone, OptInPartial, OptInAll} }

// optInAliases are the seed's words, which are read and never written.
var optInAliases = map[OptIn]OptIn{"Enabled": OptInAll, "MatchSelector": OptInPartial, "Disabled": OptInNone}

func optInAlias(o OptIn) OptIn {
	if ours, ok := optInAliases[o]; ok {
		return ours
	}
	return o
}

// ManagedBootImagesSpec is the opt-in and the limit of age.
type ManagedBootImagesSpec struct {
	Mode OptIn `json:"mode"`
	// Selector selects groups by their labels, for Partial. The seed's matchSelector is
	// another name of it.
	Selector      *Selector `json:"selector,omitempty"`
	MatchSelector *Selector `json:"matchSelector,omitempty"`
	Skew          SkewSpec  `json:"skew,omitzero"`
}

// SkewMode is how the oldest image in use is judged.
type SkewMode string

// The modes. None is the default.
const (
	SkewNone      SkewMode = "None"      // not judged; a metric says so
	SkewAutomatic SkewMode = "Automatic" // by what servers were seen to boot
	SkewManual    SkewMode = "Manual"    // by Version, somebody's word
)

// SkewModes lists the modes.
func SkewModes() []SkewMode { return []SkewMode{SkewNone, SkewAutomatic, SkewManual} }

// SkewSpec bounds the age of images.
type SkewSpec struct {
	Mode SkewMode `json:"mode,omitempty"`
	// Limits are the oldest versions that are allowed, by catalogue.
	Limits map[string]string `json:"limits,omitempty"`
	// Versions are what is said to be in use, by catalogue, for Manual.
	Versions map[string]string `json:"versions,omitempty"`
}

// Default fills the modes, and takes the seed's words for ours.
func (m *ManagedBootImages) Default() {
	m.APIVersion, m.Kind = APIVersion, KindManagedBootImages
	m.Spec.Mode = optInAlias(m.Spec.Mode)
	if m.Spec.Mode == "" {
		m.Spec.Mode = OptInNone
	}
	if m.Spec.Selector == nil {
		m.Spec.Selector, m.Spec.MatchSelector = m.Spec.MatchSelector, nil
	}
	if m.Spec.Skew.Mode == "" {
		m.Spec.Skew.Mode = SkewNone
	}
}

// Validate reports wrong fields.
func (m *ManagedBootImages) Validate() protocol.FieldErrors {
	var f fields
	m.check(&f)
	if m.Metadata.Name != ManagedBootImagesName {
		f.Add("metadata.name", "%q is not %q: there is one, so that no two can contradict each other", m.Metadata.Name, ManagedBootImagesName)
	}
	oneOf(&f, "spec.mode", m.Spec.Mode, OptIns()...)
	switch {
	case m.Spec.MatchSelector != nil:
		f.Add("spec.matchSelector", "is another name of selector; give one of them")
	case m.Spec.Mode != OptInPartial && m.Spec.Selector != nil:
		f.Add("spec.selector", "is for mode %s; with %s leave it out", OptInPartial, m.Spec.Mode)
	case m.Spec.Mode == OptInPartial && m.Spec.Selector == nil:
		Selector{}.check(&f, "spec.selector", "for every group say mode "+string(OptInAll))
	case m.Spec.Mode == OptInPartial:
		m.Spec.Selector.check(&f, "spec.selector", "for every group say mode "+string(OptInAll))
	}
	m.Spec.Skew.check(&f, "spec.skew")
	return f.FieldErrors
}

func (s SkewSpec) check(f *fields, path string) {
	oneOf(f, path+".mode", s.Mode, SkewModes()...)
	if s.Mode == SkewNone && len(s.Limits)+len(s.Versions) > 0 || s.Mode == SkewAutomatic && len(s.Versions) > 0 {
		f.Add(path, "mode %s has no use for all of limits and versions", s.Mode)
	}
	if s.Mode != SkewNone && len(s.Limits) == 0 {
		f.Add(path+".limits", "give the oldest version that is allowed, by catalogue")
	}
	for at, versions := range map[string]map[string]string{".limits": s.Limits, ".versions": s.Versions} {
		for catalogue, v := range versions {
			f.name(path+at, catalogue)
			if _, err := ParseImageVersion(v); err != nil {
				f.Add(path+at+"["+catalogue+"]", "%s", err)
			}
		}
	}
}
