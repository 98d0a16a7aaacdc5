package link

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

func TestMessagesBothWays(t *testing.T) {
	for _, qos := range []byte{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			p, b := newPlace(), &inbox{}
			p.up(t)
			defer p.down()
			c := p.config(b)
			c.QoS = qos
			l := start(t, c)
			synctest.Wait()
			if !l.Connected() || b.connects() != 1 {
				t.Fatalf("connected %v, OnConnect %d times", l.Connected(), b.connects())
			}
			var want []string
			for i := range 100 {
				text := strings.Repeat("x", i)
				p.send(t, "d/hold", text)
				want = append(want, "d/hold="+text)
			}
			p.send(t, "other", "not subscribed")
			if err := l.Publish(t.Context(), "u/hello", []byte("hi")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := b.all(); !slices.Equal(got, want) {
				t.Errorf("%d messages, not the 100 in order", len(got))
			}
			p.acl.mu.Lock()
			defer p.acl.mu.Unlock()
			i := slices.Index(p.acl.topics, "u/hello")
			if i < 0 || p.acl.flags[i].Retain || p.acl.flags[i].Qos != qos {
				t.Errorf("publish with QoS %d arrived as %+v %+v", qos, p.acl.topics, p.acl.flags)
			}
			if !p.acl.clean {
				t.Error("the session is not a clean one of MQTT 3.1.1")
			}
		})
	}
}

// An own loop with decorrelated jitter of 1 to 60 s.
func TestReconnectsWithinTheBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, b := newPlace(), &inbox{}
		p.up(t)
		c := p.config(b)
		l := start(t, c)
		time.Sleep(10 * time.Minute)
		p.down()
		lost := time.Now()
		synctest.Wait()
		if l.Connected() {
			t.Fatal("still connected")
		}
		time.Sleep(time.Hour)
		last := lost
		dials := p.dialTimes()[1:]
		for _, d := range dials {
			if wait := d.Sub(last); wait < time.Second || wait > 61*time.Second {
				t.Errorf("waited %s", wait)
			}
			last = d
		}
		if len(dials) < 60 {
			t.Errorf("%d attempts in an hour", len(dials))
		}
		p.up(t)
		defer p.down()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if !l.Connected() || b.connects() != 2 {
			t.Fatalf("connected %v, OnConnect %d times", l.Connected(), b.connects())
		}
		p.send(t, "d/hold", "again")
		synctest.Wait()
		if got := b.all(); len(got) != 1 {
			t.Errorf("got %v after the reconnection", got)
		}
		p.acl.mu.Lock()
		defer p.acl.mu.Unlock()
		if len(p.acl.ids) != 2 || p.acl.ids[0] == p.acl.ids[1] || len(p.acl.ids[0]) > 23 {
			t.Errorf("client ids %v", p.acl.ids)
		}
	})
}

// A pulled cable: no byte comes, no error either. The ping finds it.
func TestSilentLossIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, b := newPlace(), &inbox{}
		p.up(t)
		defer p.down()
		l := start(t, p.config(b))
		synctest.Wait()
		p.listener.Freeze()
		time.Sleep(keepAlive + pingTimeout + 10*time.Second)
		for !l.Connected() {
			time.Sleep(time.Second)
		}
		if n := b.connects(); n != 2 {
			t.Errorf("OnConnect %d times", n)
		}
	})
}

func TestPublishNeedsAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, b := newPlace(), &inbox{}
		l := start(t, p.config(b))
		synctest.Wait()
		begin := time.Now()
		if err := l.Publish(t.Context(), "u/hello", nil); protocol.CodeOf(err) != protocol.CodeUnavailable || time.Since(begin) != 0 {
			t.Errorf("down: %v after %s", err, time.Since(begin))
		}
		p.up(t)
		defer p.down()
		time.Sleep(4 * time.Second)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Publish(ctx, "u/hello", nil); protocol.CodeOf(err) != protocol.CodeUnavailable || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		for _, topic := range []string{"", "u/#", "u/+/x"} {
			if err := l.Publish(t.Context(), topic, nil); protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("topic %q: %v", topic, err)
			}
		}
		if err := l.Publish(t.Context(), "u/hello", make([]byte, MaxPayload+1)); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("large: %v", err)
		}
		if err := l.Publish(t.Context(), "u/hello", make([]byte, MaxPayload)); err != nil {
			t.Error(err)
		}
	})
}

// The peer takes no bytes: Publish ends with its ctx, whatever paho does.
func TestPublishEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &inbox{}
		broker := newStuckBroker()
		defer broker.close()
		c := newPlace().config(b)
		c.Dial = broker.dial
		c.Subscribe = nil
		l := start(t, c)
		synctest.Wait()
		if !l.Connected() {
			t.Fatal("not connected")
		}
		results := make(chan error, 2*window)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 2 * window { // more than the window
			go func() { results <- l.Publish(ctx, "u/report", make([]byte, MaxPayload)) }()
		}
		for range 2 * window {
			if err := <-results; protocol.CodeOf(err) != protocol.CodeUnavailable {
				t.Errorf("%v", err)
			}
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// To paho a SUBACK of 0x80 is no error.
func TestRefusedSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, b := newPlace(), &inbox{}
		p.up(t)
		defer p.down()
		registry := prometheus.NewPedanticRegistry()
		c := p.config(b)
		c.Subscribe = []string{"d/#", "refused/#"}
		c.Registerer = registry
		l := start(t, c)
		time.Sleep(time.Minute)
		synctest.Wait()
		if l.Connected() || b.connects() != 0 {
			t.Errorf("connected %v, OnConnect %d times", l.Connected(), b.connects())
		}
		if n := testutil.ToFloat64(l.metrics.connects.WithLabelValues(resultRefused)); n < 2 {
			t.Errorf("%v refusals", n)
		}
		if !strings.Contains(b.logs.String(), "subscription refused: refused/#") {
			t.Error(b.logs.String())
		}
		if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
			t.Error(problems, err)
		}
		if _, err := New(c); protocol.CodeOf(err) != protocol.CodeInternal {
			t.Errorf("second registration: %v", err)
		}
	})
}

// A reader that is too slow loses the oldest messages, and the connection lives.
func TestOverflowDropsTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, b := newPlace(), &inbox{}
		p.up(t)
		defer p.down()
		c := p.config(b)
		c.QueueMessages = 10
		gate := make(chan struct{})
		c.OnMessage = func(topic string, payload []byte) {
			<-gate
			b.take(topic, payload)
		}
		l := start(t, c)
		synctest.Wait()
		for name := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyz", "") {
			p.send(t, "d/hold", name)
			synctest.Wait()
		}
		time.Sleep(10 * time.Minute)
		if !l.Connected() || b.connects() != 1 {
			t.Error("the connection was lost")
		}
		close(gate)
		synctest.Wait()
		// a is with OnMessage, the newest ten wait.
		if got := strings.ReplaceAll(strings.Join(b.all(), ""), "d/hold=", ""); got != "aqrstuvwxyz" {
			t.Errorf("got %s", got)
		}
		if n := testutil.ToFloat64(l.metrics.dropped); n != 15 {
			t.Errorf("%v counted as dropped", n)
		}
	})
}

// A fleet that was powered on at once, or lost its broker at once, spreads.
func TestFleetSpreads(t *testing.T) {
	const links = 100
	for _, row := range []struct {
		name       string
		firstDelay time.Duration
		from, to   time.Duration
		step       time.Duration
		only       int // the links' first dials only
		most       int // dials in one step; the mean is 3 to 6
	}{
		{"powered on at once", 30 * time.Second, 0, 30 * time.Second, time.Second, 1, 20},
		{"first wave after a loss, 1 to 3 s", 0, time.Second, 3 * time.Second, 100 * time.Millisecond, 2, 25},
		{"later waves", 0, time.Minute, 10 * time.Minute, time.Second, 1000, 25},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlace()
				begin := time.Now()
				for range links {
					c := p.config(&inbox{})
					c.FirstDelay = row.firstDelay
					dials := 0
					c.Dial = func(ctx context.Context) (net.Conn, error) {
						if dials++; dials > row.only {
							return nil, syscall.ECONNREFUSED
						}
						return p.dial(ctx)
					}
					start(t, c)
				}
				time.Sleep(row.to)
				synctest.Wait()
				steps := map[time.Duration]int{}
				for _, d := range p.dialTimes() {
					if at := d.Sub(begin); at >= row.from && at < row.to {
						steps[at/row.step]++
					}
				}
				total := 0
				for at, n := range steps {
					total += n
					if n > row.most {
						t.Errorf("%d of %d links at %s", n, links, at*row.step)
					}
				}
				if total < links {
					t.Errorf("%d dials", total)
				}
			})
		})
	}
}

func TestRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, newPlace().config(&inbox{}))
		synctest.Wait()
		if err := l.Run(t.Context()); protocol.CodeOf(err) != protocol.CodeConflict {
			t.Error(err)
		}
	})
}
