package control

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/hub/store/storetest"
)

// lossy is a hub and an agent with a broker between them that keeps all that was ever
// sent, and delivers what it likes of it, as often and in whatever order it likes.
type lossy struct {
	b        *bench
	m        *modern
	up, down []packet
	disk     *modern // an earlier state of the agent's disk
	rollback int     // how often the disk was taken back
}

// collect takes over what the hub has sent.
func (l *lossy) collect() {
	l.down = append(l.down, l.b.sent...)
	l.b.sent = nil
	l.b.now = l.b.now.Add(10 * time.Millisecond)
}

func (l *lossy) toHub(v packet) {
	l.b.control.Link.Receive(v.topic, v.payload)
	l.collect()
}

func (l *lossy) toAgent(v packet) {
	l.m.takes(v)
	l.collect()
}

// settle lets everything through that is sent from now on, until both ends agree.
func (l *lossy) settle() bool {
	m, b := l.m, l.b
	m.wire = nil
	b.sent = nil
	for range 40 {
		b.now = b.now.Add(3 * time.Second)
		m.hello() // as an agent does that is not answered, or told of other documents
		m.listens()
		m.reports(off("n1"), off("n2"))
		m.listens()
		if err := b.control.reconcile(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
		b.control.tick()
		m.listens()
		if l.agree() {
			return true
		}
	}
	return false
}

// agree says whether the hub knows the agent's disk and everything is acknowledged
// and in force.
func (l *lossy) agree() bool {
	led := l.m.ledger()
	for leaf, s := range led.Sent {
		if l.m.digests[leaf] != s.Sealed {
			return false
		}
	}
	return l.m.acked() && led.Peer.Incarnation == l.m.incarnation && l.b.control.Link.Ready(l.m.name)
}

// Whatever the broker loses, repeats, keeps back and plays back: no disk is taken for
// a rolled-back one that was not, and hub and agent come to agree when it stops.
func TestLossyBroker(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, m := modernSite(t)
		l := &lossy{b: b, m: m}
		m.wire = func(v packet) { l.up = append(l.up, v) }
		holds := 0
		rt.Repeat(map[string]func(*rapid.T){
			"deliver up": func(rt *rapid.T) {
				if len(l.up) > 0 {
					l.toHub(rapid.SampledFrom(l.up).Draw(rt, "up"))
				}
			},
			"deliver down": func(rt *rapid.T) {
				if len(l.down) > 0 {
					l.toAgent(rapid.SampledFrom(l.down).Draw(rt, "down"))
				}
			},
			"deliver the newest": func(*rapid.T) {
				if n := len(l.up); n > 0 {
					l.toHub(l.up[n-1])
				}
				if n := len(l.down); n > 0 {
					l.toAgent(l.down[n-1])
				}
			},
			"connect": func(*rapid.T) {
				m.begins()
				m.hello()
			},
			"hello":  func(*rapid.T) { m.hello() },
			"report": func(*rapid.T) { m.reports(off("n1")) },
			"hold": func(rt *rapid.T) {
				holds++
				if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", fmt.Sprint("k", holds), "n1")); err != nil {
					rt.Fatal(err)
				}
				b.pass()
				l.collect()
			},
			"time": func(*rapid.T) {
				b.now = b.now.Add(5 * time.Second)
				b.control.tick()
				l.collect()
			},
			"the hub starts again": func(*rapid.T) {
				b.restart()
				b.control.Link.Announce()
				b.pass()
				l.collect()
			},
			"copy the disk": func(*rapid.T) {
				disk := *m
				disk.applied, disk.digests = maps.Clone(m.applied), maps.Clone(m.digests)
				l.disk = &disk
			},
			"roll the disk back": func(*rapid.T) {
				if l.disk == nil {
					return
				}
				l.rollback++
				m.applied, m.digests, m.incarnation = maps.Clone(l.disk.applied), maps.Clone(l.disk.digests), l.disk.incarnation
				m.heard = ""
				m.begins()
				m.hello()
			},
			"": func(rt *rapid.T) {
				if l.rollback == 0 && m.incarnation != m.name+"-disk-a" {
					rt.Fatalf("a disk that was never rolled back has the incarnation %s", m.incarnation)
				}
				if p := m.ledger().Peer; l.rollback == 0 && p.Incarnation != m.incarnation {
					rt.Fatalf("the hub knows the agent as %+v", p)
				}
			},
		})
		if !l.settle() {
			led := m.ledger()
			rt.Fatalf("no agreement: agent %s has %v, nonce %q; ledger %+v acked %v, ready %t", m.incarnation, m.applied, m.nonce, led.Peer, led.Acked, b.control.Link.Ready(m.name))
		}
	})
}
