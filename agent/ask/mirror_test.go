package ask

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// hub keeps what it is answered.
type hub struct {
	mu      sync.Mutex
	ahead   time.Duration
	blind   bool
	answers map[string][]message.Answer
}

func (h *hub) Now() time.Time {
	if h.blind {
		return time.Time{}
	}
	return time.Now().Add(h.ahead)
}

func (h *hub) Answer(id string, body []byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := message.Answer{ID: id, Body: body}
	if err != nil {
		m = message.Answer{ID: id, Code: protocol.CodeOf(err), Message: err.Error(), Hint: protocol.HintOf(err)}
	}
	h.answers[id] = append(h.answers[id], m)
}

func (h *hub) answer(id string) []message.Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answers[id]
}

// cache has some objects until it is flushed.
type cache struct {
	mu      sync.Mutex
	objects int
	flushes []string
}

func (c *cache) MirrorStatus() (resource.MirrorStatus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return resource.MirrorStatus{Repositories: []resource.MirrorRepository{{Objects: c.objects}}}, nil
}

func (c *cache) FlushMirror(_ context.Context, what string, force bool) (resource.MirrorFlushed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushes = append(c.flushes, what)
	if !force {
		return resource.MirrorFlushed{}, protocol.Errorf(protocol.CodeConflict, "flush", "it does not answer").WithHint("--force")
	}
	out := resource.MirrorFlushed{What: what, Objects: c.objects}
	c.objects = 0
	return out, nil
}

// A flush is done once, however often it comes; not after its time; and not while the agent cannot
// tell its age, as somebody may repeat an old one.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := &hub{answers: map[string][]message.Answer{}, ahead: time.Hour}, &cache{objects: 3}
		q := New(Config{Hub: h, Mirror: c, Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go q.Run(ctx)
		take := func(id string, kind message.AskKind, force bool, in time.Duration) []message.Answer {
			q.Take(message.Ask{ID: id, Kind: kind, What: "/debian", Force: force, NotAfter: time.Now().Add(h.ahead + in)})
			synctest.Wait()
			return h.answer(id)
		}
		h.blind = true
		if got := take("blind", message.AskFlush, true, time.Minute); len(got) != 1 || got[0].Code != protocol.CodeUnavailable || got[0].Hint == "" {
			t.Errorf("while the hub's time is unknown: %+v", got)
		}
		if got := take("look", message.AskMirror, false, time.Minute); len(got) != 1 || got[0].Code != "" {
			t.Errorf("a look changes nothing: %+v", got)
		}
		h.blind = false
		if got := take("late", message.AskFlush, true, -time.Second); len(got) != 0 {
			t.Errorf("after its time: %+v", got)
		}
		if got := take("refused", message.AskFlush, false, time.Minute); len(got) != 1 || got[0].Code != protocol.CodeConflict || got[0].Hint != "--force" {
			t.Errorf("refused: %+v", got)
		}
		if c.objects != 3 {
			t.Fatal("something was dropped")
		}
		got := take("flush", message.AskFlush, true, time.Minute)
		var out resource.MirrorFlushed
		if len(got) != 1 || json.Unmarshal(got[0].Body, &out) != nil || out.Objects != 3 || out.What != "/debian" {
			t.Errorf("%+v", got)
		}
		c.objects = 1 // fetched meanwhile
		if got := take("flush", message.AskFlush, true, time.Minute); len(got) != 1 || c.objects != 1 {
			t.Errorf("once more: %+v, %d objects", got, c.objects)
		}
		cancel()
		synctest.Wait()
	})
}
