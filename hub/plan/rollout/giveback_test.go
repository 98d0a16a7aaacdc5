package rollout

import (
	"reflect"
	"testing"

	"rackboot/protocol/resource"
)

// A server that was ordered down, and serves the revision when the roll-out is rolled back, is out of service already: it
// is returned in its own room, and once only.
func TestReturnOfWhatIsOutAlready(t *testing.T) {
	for name, most := range map[string]resource.Share{"room for it alone": "1", "room for another": "2"} {
		t.Run(name, func(t *testing.T) {
			in := start(few(3), func(s *resource.RolloutSpec) { s.MaxUnavailable = most })
			begun := in.Now
			for _, name := range []string{"s0", "s1"} {
				in = booted(in, name)
			}
			in.Status.Phase = resource.RolloutRolledBack
			m := in.Status.Members["s0"]
			m.State, m.BegunAt = resource.MemberBegun, &begun
			in.Status.Members["s0"] = m
			m = in.Status.Members["s1"]
			m.State = resource.MemberDone
			in.Status.Members["s1"] = m
			r := Step(in)
			want := map[resource.Share]string{"1": "s0", "2": "s0 s1"}[most]
			if got := ordered(r); got != want {
				t.Errorf("%q are ordered, want %q: %s", got, want, r.Message)
			}
			again := in
			again.Status = r.Status
			if next := Step(again); !reflect.DeepEqual(next.Status, r.Status) {
				t.Errorf("the step is not settled: %+v, then %+v", r.Status.Members, next.Status.Members)
			}
		})
	}
}
