package link

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/sys/unix"

	"rackboot/protocol"
)

// The numbers are the rows of testdata/pitfalls.txt. Rows that other tests show are named there.

// 1, 3. A handler may publish and wait for the acknowledgement, and one that is slow
// keeps neither the reader nor the broker's PUBACK waiting.
func TestHandlerMayPublishAndBeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &scripted{suback: 1, early: []*packets.PublishPacket{publish("d/a", 1), publish("d/b", 2)}}, &inbox{}
		var l atomic.Pointer[Link]
		results := make(chan error, 2)
		l.Store(withScript(t, s, b, func(c *Config) {
			c.QoS = 1
			c.OnMessage = func(string, []byte) {
				time.Sleep(time.Minute) // until after the connection is up
				results <- l.Load().Publish(context.Background(), "u/applied", nil)
			}
		}))
		synctest.Wait()
		if n := len(heardOf[*packets.PubackPacket](s)); n != 2 {
			t.Errorf("%d of 2 messages were acknowledged while the first is handled", n)
		}
		for range 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if s.dials.Load() != 1 {
			t.Errorf("%d connections", s.dials.Load())
		}
	})
}

func publish(topic string, id uint16) *packets.PublishPacket {
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.TopicName, p.Qos, p.MessageID = topic, 1, id
	return p
}

// 4, 8, 10, 11. A publish whose connection is lost before its PUBACK fails, and is not
// sent again by anybody but its owner.
func TestLostPublishFailsAndIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &scripted{suback: 1, noPuback: true}, &inbox{}
		l := withScript(t, s, b, func(c *Config) { c.QoS = 1 })
		synctest.Wait()
		result := make(chan error, 1)
		go func() { result <- l.Publish(context.Background(), "u/report", []byte("1")) }()
		synctest.Wait()
		s.cut()
		if err := <-result; protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("got %v", err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(heardOf[*packets.ConnectPacket](s)); n != 2 || !l.Connected() {
			t.Errorf("%d connections, connected %v", n, l.Connected())
		}
		if n := len(heardOf[*packets.PublishPacket](s)); n != 1 {
			t.Errorf("the message went out %d times", n)
		}
	})
}

// 4, 10. A broker that answers pings and acknowledges nothing: the window fills, each
// publish ends with its ctx, and the connection is given up after ackTimeout.
func TestNoPuback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &scripted{suback: 1, noPuback: true}, &inbox{}
		l := withScript(t, s, b, func(c *Config) { c.QoS = 1 })
		synctest.Wait()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		results := make(chan error, window+3)
		for range window + 3 {
			go func() { results <- l.Publish(ctx, "u/report", nil) }()
		}
		synctest.Wait()
		if n, waiting := l.inFlight(), testutil.ToFloat64(l.metrics.waiting); n != window || waiting != 3 {
			t.Errorf("%d in flight, %v waiting", n, waiting)
		}
		for range window + 3 {
			if err := <-results; protocol.CodeOf(err) != protocol.CodeUnavailable {
				t.Error(err)
			}
		}
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("the publishes ended after %s", took)
		}
		if n := len(heardOf[*packets.PublishPacket](s)); n != window {
			t.Errorf("%d publishes were sent, the window is %d", n, window)
		}
		time.Sleep(ackTimeout - 5*time.Second + time.Millisecond)
		synctest.Wait()
		if l.Connected() {
			t.Error("still connected")
		}
		if logs := b.logs.String(); !strings.Contains(logs, errNoAck.Error()) {
			t.Error(logs)
		}
		if n := testutil.ToFloat64(l.metrics.waiting); n != 0 {
			t.Errorf("%v publishes wait for ever", n)
		}
	})
}

// 7. A grant of another QoS than was asked for is no grant (MQTT 3.1.1 §3.8.4 lets a
// broker grant less).
func TestGrantMustBeWhatWasAsked(t *testing.T) {
	for _, row := range []struct {
		asked, granted byte
		ok             bool
		says           string
	}{
		{0, 0, true, ""},
		{1, 1, true, ""},
		{1, 0, false, "granted with QoS 0 instead of 1"},
		{0, 1, false, "granted with QoS 1 instead of 0"},
		{1, 0x80, false, "subscription refused: d/#"},
		{0, 0x80, false, "subscription refused: d/#"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, b := &scripted{suback: row.granted}, &inbox{}
			l := withScript(t, s, b, func(c *Config) { c.QoS = row.asked })
			synctest.Wait()
			if l.Connected() != row.ok || !strings.Contains(b.logs.String(), row.says) {
				t.Errorf("asked %d, granted %d: connected %v, %s", row.asked, row.granted, l.Connected(), b.logs.String())
			}
		})
	}
}

// 14, 19. A refused CONNECT is tried once, as MQTT 3.1.1, and the reason is said.
func TestRefusedConnect(t *testing.T) {
	for code, says := range map[byte]string{
		packets.ErrRefusedBadProtocolVersion: "protocol version", packets.ErrRefusedServerUnavailable: "navailable",
		packets.ErrRefusedNotAuthorised: "uthorized",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, b := &scripted{connack: code}, &inbox{}
			withScript(t, s, b, nil)
			synctest.Wait()
			connects := heardOf[*packets.ConnectPacket](s)
			if s.dials.Load() != 1 || len(connects) != 1 || connects[0].ProtocolVersion != 4 || connects[0].ProtocolName != "MQTT" {
				t.Errorf("%d dials, %d CONNECTs %v", s.dials.Load(), len(connects), connects)
			}
			if !strings.Contains(b.logs.String(), says) {
				t.Errorf("code %d: %s", code, b.logs.String())
			}
		})
	}
}

// 15. OnConnect of a connection has returned before the next one is told.
func TestConnectionsDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &scripted{}, &inbox{}
		var open, most atomic.Int32
		withScript(t, s, b, func(c *Config) {
			c.OnConnect = func(ctx context.Context) {
				most.Store(max(most.Load(), open.Add(1)))
				<-ctx.Done()
				time.Sleep(time.Minute) // slow to see it
				open.Add(-1)
			}
		})
		for range 5 {
			time.Sleep(3 * time.Minute)
			s.cut()
		}
		synctest.Wait()
		if most.Load() != 1 || s.dials.Load() < 5 {
			t.Errorf("%d at once in %d connections", most.Load(), s.dials.Load())
		}
	})
}

// 16. What arrives before SUBACK is delivered and acknowledged.
func TestMessageBeforeSuback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &scripted{suback: 1, early: []*packets.PublishPacket{publish("d/early", 7)}}, &inbox{}
		withScript(t, s, b, func(c *Config) { c.QoS = 1 })
		synctest.Wait()
		if got := b.all(); !slices.Equal(got, []string{"d/early="}) {
			t.Errorf("got %v", got)
		}
		if acks := heardOf[*packets.PubackPacket](s); len(acks) != 1 || acks[0].MessageID != 7 {
			t.Errorf("acknowledged %v", acks)
		}
	})
}

// 17, 18. Each connection has a client of its own, with an id of its own, no will and
// no session.
func TestEachConnectionIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &scripted{}, &inbox{}
		withScript(t, s, b, nil)
		ids := map[string]bool{}
		for range 4 {
			synctest.Wait()
			s.cut()
			time.Sleep(2 * time.Minute)
		}
		all := heardOf[*packets.ConnectPacket](s)
		for _, c := range all {
			ids[c.ClientIdentifier] = true
			if !c.CleanSession || c.WillFlag || c.Keepalive != uint16(keepAlive/time.Second) {
				t.Errorf("%v", c)
			}
		}
		if len(all) != 5 || len(ids) != len(all) {
			t.Errorf("%d ids in %d connections", len(ids), len(all))
		}
	})
}

// 13. The kernel gives up on bytes that nobody acknowledges, which a write deadline
// does not see.
func TestUserTimeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	l := &Link{at: endpoint{address: listener.Addr().String()}}
	conn, err := target{at: l.at}.dialTCP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	if failed := raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) }); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	if time.Duration(got)*time.Millisecond != userTimeout {
		t.Errorf("TCP_USER_TIMEOUT is %d ms", got)
	}
}
