//go:build !race

package rack

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/state/statetest"
)

// TestTraceOverCrash: an agent is killed in the middle of a first boot, before and after it powered the server on. The one
// that is started then sends the boot as one trace, with the stages of before, each once.
func TestTraceOverCrash(t *testing.T) {
	t.Parallel()
	child := statetest.NewChild(t, playScript)
	for _, point := range []string{"agent.act.arm", "agent.acted.arm", "agent.act.on", "agent.acted.on"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			var spans *spanStore
			b, dir := newCrashBench(t, crashFlow{patient: true, run: func(b *crashBench) {
				spans, b.spansTo = newSpanStore(t)
				b.claim(0)
				b.stage("claim", "booted")
			}})
			child.KillAt(t, dir, point, 1, nil)
			killed := time.Now()
			if spans.len() > 0 {
				t.Fatal("a boot was sent before it ended")
			}
			for _, m := range b.stages[0].Messages {
				b.link.note(m.Topic, m.Payload)
			}
			a, _ := b.start(nil)
			for _, m := range b.stages[0].Messages {
				b.link.give(a, m.Topic, m.Payload)
			}
			if !b.reach(b.stages[0]) {
				t.Fatalf("it does not boot: %+v", b.servers[0].BMC.History())
			}
			first := spans.root(t, protocol.TargetUefiHTTP)
			spans.root(t, protocol.TargetHdd)
			stagesOf(t, first, networkStages...)
			if at := time.Unix(0, int64(first[0].StartTimeUnixNano)); !at.Before(killed) {
				t.Errorf("it began at %s, and the agent was killed at %s", at, killed)
			}
			if n := spans.len(); n != 1+len(networkStages)+1+len(diskStages) {
				t.Errorf("%d spans were sent", n)
			}
			if !slices.Equal(first, spans.of(first[0].TraceId)) {
				t.Error("more was sent of the boot")
			}
		})
	}
}

func (s *spanStore) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.spans)
}
