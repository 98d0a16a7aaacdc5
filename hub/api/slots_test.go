package api

import "testing"

// Nobody has more than its share, and all together no more than there are.
func TestSlots(t *testing.T) {
	s := newSlots(3, 2)
	var ends []func()
	for _, row := range []struct {
		who string
		ok  bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"b", false}, {"c", false}} {
		end, ok := s.begin(row.who)
		if ok != row.ok {
			t.Errorf("%s: %t", row.who, ok)
		}
		if ok {
			ends = append(ends, end)
		}
	}
	ends[0]()
	if _, ok := s.begin("c"); !ok {
		t.Error("what was given back is not there")
	}
	ends[1]()
	ends[2]()
	if len(s.by) != 1 {
		t.Errorf("%v is remembered", s.by)
	}
}
