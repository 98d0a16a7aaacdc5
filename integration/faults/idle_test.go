package faults

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdle: where nothing happens, little is said: a report every 15 s, the hub's
// word every minute, and nothing that answers itself.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, seedOf(t), 2, newBroker)
		defer func() { s.stop() }()
		b := &table{site: s, broker: s.net.(*broker)}
		b.live(10 * time.Minute)
		b.settle()
		var said atomic.Int64
		b.broker.setPolicy(func(topic string, payload []byte) []delivery {
			said.Add(1)
			return honest(topic, payload)
		})
		const hours = 1
		s.wait(hours * time.Hour)
		perMinute := float64(said.Load()) / float64(len(s.agents)) / (hours * 60)
		t.Logf("%.1f messages per agent and minute", perMinute)
		if perMinute > 7 {
			t.Errorf("%.1f messages per agent and minute, want about 5", perMinute)
		}
	})
}
