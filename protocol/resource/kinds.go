package resource

import "strings"

// kindRow is what a kind is.
type kindRow struct {
	kind    Kind
	applied bool // may be written with rackctl apply
	make    func() Object
}

var kindTable = []kindRow{
	{KindSecret, true, func() Object { return &Secret{} }},
	{KindParam, true, func() Object { return &Param{} }},
	{KindProfile, true, func() Object { return &Profile{} }},
	{KindTemplate, true, func() Object { return &Template{} }},
	{KindBootEnv, true, func() Object { return &BootEnv{} }},
	{KindBootImage, true, func() Object { return &BootImage{} }},
	{KindManagedBootImages, true, func() Object { return &ManagedBootImages{} }},
	{KindServerGroup, true, func() Object { return &ServerGroup{} }},
	{KindFirmwareProfile, true, func() Object { return &FirmwareProfile{} }},
	{KindRack, true, func() Object { return &Rack{} }},
	{KindSegment, true, func() Object { return &Segment{} }},
	{KindBMC, true, func() Object { return &BMC{} }},
	{KindServer, true, func() Object { return &Server{} }},
	{KindClaim, true, func() Object { return &Claim{} }},
	{KindMaintenance, true, func() Object { return &Maintenance{} }},
	{KindFreeze, true, func() Object { return &Freeze{} }},
	{KindAgentUpgrade, true, func() Object { return &AgentUpgrade{} }},
	{KindAgent, false, func() Object { return &Agent{} }},
	{KindBootConfiguration, false, func() Object { return &BootConfiguration{} }},
	{KindGroupRevision, false, func() Object { return &GroupRevision{} }},
	{KindHold, false, func() Object { return &Hold{} }},
}

// Kinds lists the kinds in the order in which a manifest should be applied.
func Kinds() []Kind {
	var out []Kind
	for _, r := range kindTable {
		out = append(out, r.kind)
	}
	return out
}

// Appliable says whether people write resources of the kind with rackctl apply.
func (k Kind) Appliable() bool {
	for _, r := range kindTable {
		if r.kind == k {
			return r.applied
		}
	}
	return false
}

// ParseKind finds a kind by its name, plural or lower-case singular.
func ParseKind(s string) (Kind, bool) {
	for _, r := range kindTable {
		if strings.EqualFold(s, string(r.kind)) || strings.EqualFold(s, r.kind.Plural()) {
			return r.kind, true
		}
	}
	return "", false
}

// NewObject makes an empty resource of the kind; nil for an unknown one.
func NewObject(k Kind) Object {
	for _, r := range kindTable {
		if r.kind == k {
			return r.make()
		}
	}
	return nil
}
