package resource

// Target is the object that an event is about, beside its server. UID is empty where only
// the name is known.
type Target struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

// TargetOf is an object as a target.
func TargetOf(o Object) Target {
	h := o.Head()
	return Target{Kind: h.Kind, Name: h.Metadata.Name, UID: h.Metadata.UID}
}

// String is Kind/name, as the audit log writes it.
func (t Target) String() string { return string(t.Kind) + "/" + t.Name }
