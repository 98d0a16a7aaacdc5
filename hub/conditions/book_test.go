package conditions

import (
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// What a unit says replaces what it said, since when is kept, and what another unit has said
// since of the same name stays.
func TestConditionsByUnit(t *testing.T) {
	b, at := New(), func(s int64) time.Time { return time.Unix(s, 0) }
	cond := func(name string, codes ...resource.ConditionCode) map[string][]resource.ConditionState {
		out := map[string][]resource.ConditionState{}
		for _, c := range codes {
			out[name] = append(out[name], resource.ConditionState{Code: c})
		}
		return out
	}
	b.Keep("one", cond("n", resource.CondUnbound), at(1))
	b.Keep("one", cond("n", resource.CondUnbound, resource.CondNoAgent), at(2))
	if got := b.Of("n"); len(got) != 2 || !got[0].Since.Equal(at(1)) || !got[1].Since.Equal(at(2)) {
		t.Errorf("%+v", got)
	}
	b.Keep("two", cond("n", resource.CondNoAgent), at(3))
	b.Keep("one", nil, at(4))
	if got := b.Of("n"); len(got) != 1 || got[0].Code != resource.CondNoAgent || !got[0].Since.Equal(at(2)) {
		t.Errorf("after it moved: %+v", got)
	}
	b.Keep("one", cond("m", resource.CondUnbound), at(5))
	b.Forget(map[string]bool{"one": true})
	if len(b.Of("n")) != 0 || len(b.Of("m")) != 1 || b.Count()[resource.CondUnbound] != 1 {
		t.Errorf("after its unit went: %+v, %+v", b.Of("n"), b.Of("m"))
	}
	b.Keep("one", map[string][]resource.ConditionState{"m": nil}, at(6))
	if len(b.Of("m")) != 0 || len(b.by)+len(b.from)+len(b.said) != 0 {
		t.Errorf("nothing is left to say: %+v", b)
	}
}
