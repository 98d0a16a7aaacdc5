package plan

import (
	"maps"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// RebootDo is what an apply of reboot annotations comes to.
type RebootDo string

// What it comes to.
const (
	RebootHold    RebootDo = "hold"    // place a hold, or make the one that lies hard
	RebootAsk     RebootDo = "ask"     // ask for one reboot
	RebootRelease RebootDo = "release" // release the caller's hold
)

// RebootMove is one step, of one annotation.
type RebootMove struct {
	Do RebootDo
	resource.RebootSet
	resource.RebootAnnotation
	// Hold is the caller's that lies already; nil if none does.
	Hold *resource.Hold
}

// Reboots compares the reboot annotations of an object that is applied with those that the same
// caller's last apply of it has set, and says what is to be done. held finds a hold of the caller that lies.
// server is the object's; empty if it has none.
//
//	form | last  | now  | held | move
//	base | *     | no   | *    | none
//	base | same  | yes  | *    | none
//	base | *     | yes  | *    | ask
//	key  | *     | soft | hard | conflict
//	key  | *     | hard | soft | hold
//	key  | *     | soft | no   | hold
//	key  | *     | hard | no   | hold
//	key  | *     | soft | soft | none
//	key  | *     | hard | hard | none
//	key  | no    | no   | *    | none
//	key  | *     | no   | no   | none
//	key  | *     | no   | *    | release
//
// last is what the last apply has set, and now what this one sets; the first row that fits decides.
// The codes are invalid (a value that cannot be read) and conflict.
func Reboots(by, server string, last []resource.RebootSet, now map[string]string, held func(server, key string) *resource.Hold) (moves []RebootMove, err error) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		m := RebootMove{RebootSet: resource.RebootSet{By: by, Annotation: name, Value: now[name], Server: server}}
		if m.RebootAnnotation, err = resource.ParseRebootAnnotation(name, now[name]); err != nil {
			return nil, err
		}
		was := lastOf(last, by, name)
		switch {
		case m.Key == "" && was != nil && was.Value == now[name]:
			continue
		case m.Key == "":
			m.Do = RebootAsk
			moves = append(moves, m)
			continue
		case was != nil && was.Server != server:
			return nil, protocol.Errorf(protocol.CodeConflict, "apply", "%s holds server %q, and the object has server %q now", name, was.Server, server).
				WithHint("nothing was changed; leave the annotation out of one apply, which releases that hold, then set it again")
		}
		m.Hold = held(server, m.Key)
		switch {
		case m.Hold == nil, m.Hold.Spec.Mode == resource.StopSoft && m.Mode == resource.StopHard:
			m.Do = RebootHold
			moves = append(moves, m)
		case m.Hold.Spec.Mode != m.Mode:
			return nil, protocol.Errorf(protocol.CodeConflict, "apply", "%s: hold %s is hard, and no hold becomes soft", name, m.Hold.Metadata.Name).
				WithHint("nothing was changed and the server stays off; give the value as it was, or set another key")
		}
	}
	for _, s := range last {
		if _, stays := now[s.Annotation]; stays || s.By != by {
			continue
		}
		parsed, err := resource.ParseRebootAnnotation(s.Annotation, s.Value)
		if err != nil || parsed.Key == "" {
			continue
		}
		if h := held(s.Server, parsed.Key); h != nil {
			moves = append(moves, RebootMove{Do: RebootRelease, RebootSet: s, RebootAnnotation: parsed, Hold: h})
		}
	}
	return moves, nil
}

func lastOf(last []resource.RebootSet, by, annotation string) *resource.RebootSet {
	i := slices.IndexFunc(last, func(s resource.RebootSet) bool { return s.By == by && s.Annotation == annotation })
	if i < 0 {
		return nil
	}
	return &last[i]
}

// RebootSets are an object's once a caller's apply is done: its own are those of the apply.
func RebootSets(by, server string, last []resource.RebootSet, now map[string]string) (out []resource.RebootSet) {
	for _, s := range last {
		if s.By != by {
			out = append(out, s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		out = append(out, resource.RebootSet{By: by, Annotation: name, Value: now[name], Server: server})
	}
	return out
}
