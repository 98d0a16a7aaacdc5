package resource

import "strings"

// MaxReboots bounds the reboot annotations of one object, of all callers.
const MaxReboots = 64

// RebootSet is a reboot annotation of metal3 that somebody's last apply of an object has set. What
// it asks for is a Hold or a request; this only remembers whose word it was, so that an apply by the
// same caller that leaves it out takes it back, and one by anybody else does not.
type RebootSet struct {
	By         string `json:"by"`
	Annotation string `json:"annotation"`
	Value      string `json:"value,omitempty"`
	// Server is the one that is held, or was to be rebooted.
	Server string `json:"server"`
}

// IsReboot reports whether an annotation is a reboot annotation of metal3, right or wrong.
func IsReboot(annotation string) bool {
	return annotation == AnnotationReboot || strings.HasPrefix(annotation, AnnotationReboot+"/")
}

// Reboots is where an object keeps its RebootSets; nil for kinds that have none.
func Reboots(obj Object) *[]RebootSet {
	switch o := obj.(type) {
	case *Server:
		return &o.Status.Reboots
	case *Claim:
		return &o.Status.Reboots
	}
	return nil
}

// TakeReboots takes the reboot annotations out of an object's metadata: what is stored of
// them are RebootSets.
func TakeReboots(obj Object) (taken map[string]string) {
	m := &obj.Head().Metadata
	for name, value := range m.Annotations {
		if !IsReboot(name) {
			continue
		}
		if taken == nil {
			taken = map[string]string{}
		}
		taken[name] = value
		delete(m.Annotations, name)
	}
	if len(m.Annotations) == 0 {
		m.Annotations = nil
	}
	return taken
}

// ShowReboots puts a caller's own reboot annotations back into an object's metadata, as they were
// applied: the object may be applied again as it was read. Those of others would become the reader's.
func ShowReboots(obj Object, by string) {
	sets := Reboots(obj)
	if sets == nil {
		return
	}
	m := &obj.Head().Metadata
	for _, s := range *sets {
		if s.By != by {
			continue
		}
		if m.Annotations == nil {
			m.Annotations = map[string]string{}
		}
		m.Annotations[s.Annotation] = s.Value
	}
}
