package watch

import (
	"maps"
	"reflect"

	"rackboot/hub/access"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// judge says what a caller is told of resources. It is of one goroutine.
type judge struct {
	ask   Ask
	world world
	// scoped says that the caller may not see everything.
	scoped bool
	// less says that the caller wants less than his board shows.
	less bool
	// has are the names that the caller has; nil where it may have any: what he may see of a resource that is not
	// selected is that it is not.
	has map[string]bool
}

// newJudge makes a judge of what was asked. again says that the caller is told everything first.
func newJudge(r *Room, ask Ask, again bool) judge {
	j := judge{ask: ask, world: world{r.cfg.Store.Objects}, scoped: !ask.Who.Scope.Everywhere()}
	if again && (j.scoped || !ask.Labels.Empty() || len(ask.Fields) > 0) {
		j.has = map[string]bool{}
	}
	return j
}

// may reports whether the caller may see a stored resource now.
func (j judge) may(stored resource.Object) bool {
	return !j.scoped || j.sees(access.Places(stored, j.world))
}

func (j judge) sees(places []access.Labels) bool {
	return access.May(j.ask.Who, access.Read, access.Target{Places: places}) == access.Allowed
}

// mayBeSelected reports whether the labels of a stored resource may be those that are wanted, before anything is made of
// it. Labels of its rack may count or not.
func (j judge) mayBeSelected(stored resource.Object) bool {
	if j.ask.Labels.Empty() || j.ask.Labels.Matches(stored.Head().Metadata.Labels) {
		return true
	}
	rack := j.world.Rack(selector.RackOf(stored, j.world))
	return rack != nil && j.ask.Labels.Matches(selector.Labels(stored, rack.Metadata.Labels))
}

// where is where what is shown is, and whether the caller may know of it. What it was made of may have left his scope
// since: that is judged by what is stored now. moved says that it is elsewhere than it is shown; it may be back before
// anybody looks, as if nothing had been.
func (j judge) where(s *shown) (at where, there, moved bool) {
	at, there = s.at, s.raw != nil
	if !there || !j.scoped {
		return at, there, false
	}
	stored := j.world.objects.PeekOf(j.ask.Kind, s.name)
	if stored == nil {
		return at, false, false
	}
	at = whereIs(stored, j.world)
	return at, j.sees(at.Places), !reflect.DeepEqual(at, s.at)
}

// line is what the caller is told of what is shown: that it is there, that it is gone, or nothing. moved is as of where.
func (j judge) line(s *shown) (word protoapi.WatchWord, line []byte, moved bool, err error) {
	at, there, moved := j.where(s)
	rackSeen := at.Rack == s.at.Rack && at.Rack != ""
	if there && j.scoped && rackSeen {
		rack := j.world.Rack(at.Rack)
		rackSeen = rack != nil && j.sees(access.Places(rack, j.world))
	}
	if there {
		if there, err = j.selects(s, at, rackSeen); err != nil {
			return "", nil, moved, err
		}
	}
	if there {
		if j.has != nil {
			j.has[s.name] = true
		}
		line, err = s.lineFor(j.ask.Who.Name, j.ask.Only, j.less, rackSeen)
		return protoapi.WatchPut, line, moved, err
	}
	if j.has != nil && !j.has[s.name] {
		return "", nil, moved, nil
	}
	delete(j.has, s.name)
	return protoapi.WatchGone, gone(s.name).line, moved, nil
}

// selects reports whether a resource is among what was asked for. Labels of a rack that the caller may not see do not
// count.
func (j judge) selects(s *shown, at where, rackSeen bool) (bool, error) {
	if !j.ask.Labels.Empty() {
		labels := map[string]string{}
		if rackSeen {
			maps.Copy(labels, at.RackLabels)
		}
		maps.Copy(labels, s.labels)
		if !j.ask.Labels.Matches(labels) {
			return false, nil
		}
	}
	if len(j.ask.Fields) > 0 {
		plain, err := s.plain()
		if err != nil {
			return false, protocol.Errorf(protocol.CodeInternal, "select", "%w", err)
		}
		return j.ask.Fields.Matches(plain), nil
	}
	return true, nil
}

var _ selector.Site = world{}
