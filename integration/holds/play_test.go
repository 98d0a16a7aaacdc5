package holds

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play runs a row in a bubble of its own and returns what was not as expected.
func play(t *testing.T, r row) (problems []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		problems = newSite(t, r).play()
	})
	return problems
}

func (s *site) play() []string {
	for i, st := range s.row.Steps {
		var wrong []string
		switch {
		case st.Expect != nil:
			wrong = s.check(*st.Expect)
		case st.Until != nil:
			wrong = s.await(*st.Until)
		default:
			if err := s.do(st); err != nil {
				wrong = []string{err.Error()}
			}
		}
		if len(wrong) > 0 {
			return append([]string{fmt.Sprintf("step %d:", i+1)}, wrong...)
		}
	}
	return s.check(s.row.Expect)
}

// await waits until something is so.
func (s *site) await(u untilStep) (wrong []string) {
	limit := u.Within
	if limit == 0 {
		limit = time.Minute
	}
	s.within(limit, func() bool {
		st, err := s.look()
		if err != nil {
			wrong = []string{err.Error()}
			return true
		}
		wrong = u.Is.compare(st)
		return len(wrong) == 0
	})
	if len(wrong) > 0 {
		return append(wrong, "within "+limit.String(), s.story())
	}
	return nil
}

// story is what happened, for people.
func (s *site) story() string {
	var b strings.Builder
	fmt.Fprintf(&b, "now %s\n", time.Now().UTC().Format("15:04:05.000"))
	for _, h := range s.bmc.History()[s.base.history:] {
		fmt.Fprintf(&b, "%s BMC %s %s\n", h.At.UTC().Format("15:04:05.000"), h.What, h.Detail)
	}
	for _, o := range s.agent.orders.since(s.base.orders) {
		fmt.Fprintf(&b, "%s order %s\n", o.at.UTC().Format("15:04:05.000"), o.kind)
	}
	for _, e := range s.hub.control.Events.After(s.base.events, 1<<20) {
		fmt.Fprintf(&b, "%s event %s %s\n", e.At.UTC().Format("15:04:05.000"), e.Code, e.Message)
	}
	if r := s.report(); r != nil {
		for i := range r.Holds {
			r.Holds[i].Receipt = nil
		}
		r.Provisioned = nil
		raw, _ := json.Marshal(r)
		fmt.Fprintf(&b, "report %s", raw)
	}
	return b.String()
}
