package broker

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/prometheus/client_golang/prometheus"
)

var flood = flag.Int("sessions", 60, "how many connections TestConnectionsOfOneCertificate makes with one certificate")

// One certificate has at most maxPerName connections. The newest are served: an agent
// that comes again is never locked out by connections of its own that are dead and
// that nobody has noticed.
func TestConnectionsOfOneCertificate(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	s := newSiteWith(t, func(c *Config) { c.Registerer = registry })
	hub := s.hub(t)
	_, up := subscribe(t, hub, "rb/v1/a/+/u/#", 0)
	other := s.agent(t, "rack-2")
	config := agentTLS(t, s.keys, "rack-1")
	before := s.broker.server.Load().NumClients()
	heap := heapInUse()
	var last mqtt.Client
	for range *flood {
		last = mqtt.NewClient(options(s.broker.Addr(), config))
		await(t, last.Connect())
	}
	t.Logf("%d connections with one certificate: %d are open; %.1f MB of heap more", *flood, s.broker.server.Load().NumClients()-before, float64(heapInUse()-heap)/1e6)
	if n := s.broker.server.Load().NumClients() - before; n != maxPerName {
		t.Errorf("%d connections with one certificate are open, want the newest %d", n, maxPerName)
	}
	await(t, last.Publish("rb/v1/a/rack-1/u/alive", 0, false, "1"))
	receive(t, up, "rb/v1/a/rack-1/u/alive=1")
	if !other.IsConnectionOpen() || !hub.IsConnectionOpen() {
		t.Error("another name lost its connection")
	}
	if n := gathered(t, registry)["rackboot_broker_connections_replaced_total"]; int(n) != *flood-maxPerName {
		t.Errorf("%v connections were replaced, want %d", n, *flood-maxPerName)
	}
	last.Disconnect(0)
}

// heapInUse is what is left after a collection, clients of the test included.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

// A session that the broker would have to keep is refused: its connection ends, its record
// goes, and who asked for it is not let in again for a while. It is CONNECT of MQTT 3.1.1, §3.1.2.4.
func TestKeptSessionsAreRefused(t *testing.T) {
	t.Parallel()
	registry, log := prometheus.NewRegistry(), new(lines)
	s := newSiteWith(t, func(c *Config) {
		c.Registerer, c.Logger = registry, slog.New(slog.NewTextHandler(log, nil))
	})
	other := s.agent(t, "rack-2")
	config := agentTLS(t, s.keys, "rack-1")
	lost := make(chan error, 1)
	kept := mqtt.NewClient(options(s.broker.Addr(), config).SetCleanSession(false).SetClientID("kept").
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { lost <- err }))
	if token := kept.Connect(); !token.WaitTimeout(patience) {
		t.Fatal("no answer")
	} else if token.Error() == nil { // else it was cut before its CONNACK
		select {
		case <-lost:
		case <-time.After(patience):
			t.Fatal("a session that is to be kept stays connected")
		}
	}
	eventually(t, "the record of the session is removed", func() bool { return gathered(t, registry)["rackboot_broker_mqtt_sessions"] == 1 })
	eventually(t, "it is counted", func() bool { return gathered(t, registry)["rackboot_broker_sessions_refused_total"] == 1 })
	again := mqtt.NewClient(options(s.broker.Addr(), config).SetCleanSession(false))
	if token := again.Connect(); !token.WaitTimeout(patience) || token.Error() == nil {
		t.Error("it was let in again at once")
	}
	if !other.IsConnectionOpen() {
		t.Error("another agent lost its connection")
	}
	if !strings.Contains(log.String(), `msg="MQTT session refused" agent=rack-1`) {
		t.Errorf("the log does not say it:\n%s", log)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so in time: %s", what)
		}
	}
}

// lines is a log that is read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// The table of admit: which connections of a name stay.
func TestAdmit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		have, alive []uint64
		stay, over  []uint64
	}{
		{"the first", nil, nil, []uint64{9}, nil},
		{"one that lives", []uint64{1}, []uint64{1}, []uint64{1, 9}, nil},
		{"those that have gone make room", []uint64{1, 2, 3, 4}, []uint64{4}, []uint64{4, 9}, nil},
		{"full: the oldest goes", []uint64{1, 2, 3, 4}, []uint64{1, 2, 3, 4}, []uint64{2, 3, 4, 9}, []uint64{1}},
		{"the oldest that lives", []uint64{1, 2, 3, 4, 5}, []uint64{2, 3, 4, 5}, []uint64{3, 4, 5, 9}, []uint64{2}},
	} {
		stay, over := admit(row.have, 9, func(id uint64) bool { return bytes.IndexByte(bytesOf(row.alive), byte(id)) >= 0 })
		if fmt.Sprint(stay, over) != fmt.Sprint(row.stay, row.over) {
			t.Errorf("%s: %v stay and %v go, want %v and %v", row.name, stay, over, row.stay, row.over)
		}
	}
}

func bytesOf(ids []uint64) (out []byte) {
	for _, id := range ids {
		out = append(out, byte(id))
	}
	return out
}
