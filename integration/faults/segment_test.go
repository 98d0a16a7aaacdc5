package faults

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// The hosts of the segment's boot URL, before and after a change of it.
const (
	hostBefore  = "10.7.0.1"
	hostChanged = "10.7.0.2"
	hostOther   = "10.7.0.3"
)

// trialSite is a rack whose segment is changed.
type trialSite struct {
	*site
	broker *broker
}

func (s *trialSite) agent() *agent { return s.agents[0] }

// set gives the segment a boot host, as rackctl apply does.
func (s *trialSite) set(host, try string) {
	s.t.Helper()
	seg := storetest.Segment("boot-"+s.agent().rack, s.agent().rack)
	seg.Spec.BaseURL = "https://" + host
	if try != "" {
		seg.Metadata.Annotations = map[string]string{resource.AnnotationTry: try}
	}
	s.apply(seg)
	s.note("the segment's host is %s", host)
}

// served is the boot host in force.
func (s *trialSite) served() string {
	synctest.Wait()
	return strings.Join(s.agent().core.BootHosts(), " ")
}

func (s *trialSite) serves(when, host string) {
	s.t.Helper()
	if got := s.served(); got != host {
		s.t.Errorf("%s: %s is in force, not %s", when, got, host)
	}
	if back := s.agent().says(resource.CondSegmentRolledBack); back && host == hostChanged {
		s.t.Errorf("%s: %s", when, resource.CondSegmentRolledBack)
	}
}

// rolledBack is what everybody can see of it.
func (s *trialSite) rolledBack(when string) {
	s.t.Helper()
	s.serves(when, hostBefore)
	if !s.agent().says(resource.CondSegmentRolledBack) {
		s.t.Errorf("%s: no condition", when)
	}
}

// takes waits until the agent has a change in force.
func (s *trialSite) takes(host string) {
	s.t.Helper()
	s.until("the segment with "+host, time.Minute, func() bool { return s.served() == host })
}

// lose makes a change that cuts the agent off: nothing comes from it any more, nor to
// it unless deaf is false, once it has the document.
func (s *trialSite) lose(host string, deaf bool) {
	s.t.Helper()
	doc, up := message.TopicDown(s.agent().name, message.LeafRack+"/0"), message.TopicUp(s.agent().name, "")
	var mu sync.Mutex
	lost := false
	s.broker.setPolicy(func(topic string, payload []byte) []delivery {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case lost && (deaf || strings.HasPrefix(topic, up)):
			return nil
		case topic == doc:
			lost = true
		}
		return honest(topic, payload)
	})
	s.set(host, "")
	s.takes(host)
}

func (s *trialSite) heal() { s.broker.setPolicy(honest) }

// restart kills the agent and starts it after a while.
func (s *trialSite) restart(after time.Duration) {
	s.agent().kill()
	s.wait(after)
	s.agent().start()
}

// TestSegmentTrial: a change of a segment that loses the hub is in force for two
// minutes and then rolled back, with a condition and an event; nothing but a word that
// the hub says after the change confirms it.
func TestSegmentTrial(t *testing.T) {
	const nearly = decide.TrialWindow - 20*time.Second
	for name, run := range map[string]func(*trialSite){
		"confirmed at once": func(s *trialSite) {
			s.set(hostChanged, "")
			s.takes(hostChanged)
			s.wait(30 * time.Second)
			s.net.cut(s.agent().name)
			s.wait(time.Hour)
			s.serves("after an hour without the hub", hostChanged)
			s.restart(time.Minute)
			s.wait(time.Hour)
			s.serves("after a restart without the hub", hostChanged)
		},
		"the hub is lost": func(s *trialSite) {
			s.lose(hostChanged, true)
			s.wait(nearly)
			s.serves("shortly before the end", hostChanged)
			s.wait(decide.TrialWindow - nearly + time.Second)
			s.rolledBack("after two minutes")
			s.heal()
			s.until("the condition at the hub", 2*time.Minute, func() bool {
				return s.has(s.hub.agentConditions(s.agent().name), resource.CondSegmentRolledBack)
			})
			b := &table{site: s.site}
			s.until("the event", time.Minute, func() bool { return b.events(resource.EventSegmentRolledBack) == 1 })
			s.wait(time.Hour)
			s.rolledBack("an hour after the hub is back")
			s.claim(claimed) // another document with the same segments
			s.wait(5 * time.Minute)
			s.rolledBack("with a newer document")
			s.restart(time.Minute)
			s.wait(5 * time.Minute)
			s.rolledBack("after a restart")
			s.set(hostChanged, "again")
			s.takes(hostChanged)
			s.wait(10 * time.Minute)
			s.serves("once more", hostChanged)
		},
		"only the agent is not heard": func(s *trialSite) {
			s.lose(hostChanged, false)
			s.wait(decide.TrialWindow + time.Second)
			s.rolledBack("after two minutes of the hub's word alone")
		},
		"taken back": func(s *trialSite) {
			s.lose(hostChanged, true)
			s.wait(decide.TrialWindow + time.Second)
			s.rolledBack("after two minutes")
			s.heal()
			s.set(hostBefore, "")
			s.until("the end of the condition", 5*time.Minute, func() bool { return !s.agent().says(resource.CondSegmentRolledBack) })
			s.set(hostChanged, "") // what was refused before is other content by now
			s.takes(hostChanged)
		},
		"corrected, and lost again": func(s *trialSite) {
			s.lose(hostChanged, true)
			s.wait(decide.TrialWindow + time.Second)
			s.heal()
			s.wait(2 * time.Minute)
			s.lose(hostOther, true)
			s.serves("with the correction", hostOther)
			s.wait(decide.TrialWindow + time.Second)
			s.rolledBack("after the correction")
		},
		"heard just before": func(s *trialSite) {
			s.lose(hostChanged, true)
			s.wait(nearly - 30*time.Second)
			s.heal()
			s.wait(45 * time.Second)
			s.net.cut(s.agent().name)
			s.wait(time.Hour)
			s.serves("after an hour without the hub", hostChanged)
		},
		"restarts in the middle": func(s *trialSite) {
			s.lose(hostChanged, true)
			s.wait(time.Minute)
			s.restart(time.Hour)
			s.serves("after the restart", hostChanged)
			s.wait(30 * time.Second)
			s.serves("half a minute later", hostChanged)
			s.wait(30 * time.Second)
			s.rolledBack("a minute after the restart")
		},
		"restarted again and again": func(s *trialSite) {
			s.lose(hostChanged, true)
			for range 15 {
				s.restart(time.Second)
				s.wait(time.Second)
			}
			s.rolledBack("after fifteen restarts")
		},
		"confirmed after a restart": func(s *trialSite) {
			s.lose(hostChanged, true)
			s.wait(time.Minute)
			s.agent().kill()
			s.heal()
			s.agent().start()
			s.wait(time.Minute)
			s.net.cut(s.agent().name)
			s.wait(time.Hour)
			s.serves("after an hour without the hub", hostChanged)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &trialSite{site: newSite(t, seedOf(t), 1, newBroker)}
				s.broker = s.net.(*broker)
				defer func() { s.stop() }()
				s.wait(2 * time.Minute)
				s.set(hostBefore, "")
				s.takes(hostBefore)
				s.wait(time.Minute)
				run(s)
			})
		})
	}
}
