package decide

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A row is found by the name that boot policies use and by its target, and no two are the same.
func TestMethods(t *testing.T) {
	targets := map[protocol.BootTarget]bool{}
	for _, m := range methods {
		named, ok := methodNamed(m.first)
		if !ok || named != m || methodOf(m.target) != m || targets[m.target] {
			t.Errorf("%+v is found as %+v and %+v", m, named, methodOf(m.target))
		}
		if m.first.Target() != m.target {
			t.Errorf("%s is of target %s, the policy says %s", m.first, m.target, m.first.Target())
		}
		targets[m.target] = true
	}
	if _, ok := methodNamed(resource.FirstBoot(protocol.TargetCd)); ok {
		t.Error("the target Cd is no name of a method")
	}
	if m := methodOf(protocol.TargetHdd); m.medium || m.url {
		t.Errorf("the disk has %+v", m)
	}
	for class, target := range askedFor {
		if !targets[target] {
			t.Errorf("%s asks for %s, which is no method", class, target)
		}
	}
}
