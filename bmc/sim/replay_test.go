package sim

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// replay plays a trace to a BMC, in a bubble: waits take no time.
type replay struct {
	bmc     *BMC
	machine *hardware.Simulated
	use     *lastUse
	sender  *webhook
	streams []*eventStream
	places  *strings.Replacer
	sent    struct {
		method, target, body string
		header               http.Header
	}
	got  *httptest.ResponseRecorder // nil: closed
	body any
	took time.Duration
	etag string
	vars map[string]string
}

// play runs a trace in a bubble of its own.
func play(t *testing.T, tr *trace, p Personality) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		disk := installed()
		r := &replay{use: new(lastUse), sender: new(webhook), vars: map[string]string{}}
		r.machine = hardware.NewSimulated(hardware.SimulatedConfig{Post: 30 * time.Second, Shutdown: 5 * time.Second, Disk: disk, Firmware: bootsAll{}})
		b, failed := New(Config{Machine: r.machine, Personality: p, Username: "u", Password: "p", Listen: newDeaf, Sender: r.sender, Seed: 1})
		if failed != nil {
			t.Fatal(failed)
		}
		r.bmc = b
		ctx, cancel := context.WithCancel(t.Context())
		defer func() {
			cancel()
			if failed := b.Close(); failed != nil {
				t.Error(failed)
			}
			synctest.Wait()
		}()
		for _, s := range tr.steps {
			if err = r.step(ctx, s); err != nil {
				return
			}
		}
	})
	return err
}

func (r *replay) step(ctx context.Context, s step) error {
	rest := r.fill(s.rest)
	switch s.word {
	case ">":
		r.sent.method, r.sent.target, _ = strings.Cut(rest, " ")
		r.sent.header, r.sent.body = http.Header{}, ""
		r.body, r.got = nil, nil
		r.took = -1
	case "header":
		name, value, _ := strings.Cut(rest, ":")
		r.sent.header.Set(name, strings.TrimSpace(value))
	case "body":
		r.sent.body = r.fill(s.rest)
	case "<":
		if r.took < 0 {
			r.send(ctx)
		}
		return r.expect(s, rest)
	case "took":
		return within(s, r.took, rest)
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			return s.fail("%v", err)
		}
		time.Sleep(d)
		synctest.Wait()
	case "do":
		return r.external(ctx, s, rest)
	case "is", "saw", "count":
		synctest.Wait()
		if got := r.look(s.word, rest); !got {
			return s.fail("power %s, machine %s, override %+v, history %v", r.bmc.PowerState(), r.machine.State(), r.bmc.Override(), r.bmc.History())
		}
	case "sample":
		return r.sample(ctx, s, rest)
	case "size":
		if r.got == nil || r.got.Body.Len() < 8<<20 {
			return s.fail("is smaller")
		}
	default:
		return s.fail("no such step")
	}
	return nil
}

// send sends the request that was put together.
func (r *replay) send(ctx context.Context) {
	start := time.Now()
	target, proto2 := strings.CutSuffix(r.sent.target, " h2")
	target, tls10 := strings.CutSuffix(target, " tls1.0")
	req := httptest.NewRequestWithContext(context.WithValue(ctx, useKey{}, r.use), r.sent.method, target, strings.NewReader(r.sent.body))
	if proto2 {
		req.ProtoMajor, req.Proto = 2, "HTTP/2.0"
	}
	if tls10 {
		req.TLS = &tls.ConnectionState{Version: tls.VersionTLS10}
	}
	req.Header = r.sent.header
	if len(req.Header.Values("Authorization")) == 0 && req.Header.Get("X-Auth-Token") == "" {
		req.SetBasicAuth("u", "p")
	}
	w := httptest.NewRecorder()
	r.got = w
	if !r.roundTrip(w, req) {
		r.got = nil
	}
	r.took = time.Since(start)
	synctest.Wait()
	if r.got == nil {
		return
	}
	if w.Body.Len() < 1<<20 {
		_ = json.Unmarshal(w.Body.Bytes(), &r.body)
	}
	for name, key := range map[string]string{"ETag": "etag", "Location": "location", "X-Auth-Token": "token"} {
		if values := w.Header().Values(name); len(values) > 0 {
			r.vars[key] = values[0]
		}
	}
}

// roundTrip is false if the connection was closed.
func (r *replay) roundTrip(w http.ResponseWriter, req *http.Request) (answered bool) {
	defer func() {
		if e := recover(); e != nil {
			if err, ok := e.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(e)
			}
			answered = false
		}
	}()
	f := r.bmc.front
	f.mu.Lock()
	down := f.server == nil
	f.mu.Unlock()
	if down {
		return false
	}
	f.serveHTTP(w, req)
	return true
}

// expect checks one line about the answer.
func (r *replay) expect(s step, rest string) error {
	if rest == "closed" {
		if r.got != nil {
			return s.fail("answered %d", r.got.Code)
		}
		return nil
	}
	if r.got == nil {
		return s.fail("closed")
	}
	if left, want, ok := strings.Cut(rest, " = "); ok && strings.HasPrefix(left, "/") {
		var value any
		if err := json.Unmarshal([]byte(want), &value); err != nil {
			return s.fail("%v", err)
		}
		if got, ok := pointer(r.body, left); !ok || !reflect.DeepEqual(got, value) {
			return s.fail("is %v", got)
		}
		return nil
	}
	if path, ok := strings.CutSuffix(rest, " absent"); ok && strings.HasPrefix(rest, "/") {
		if got, ok := pointer(r.body, path); ok {
			return s.fail("is %v", got)
		}
		return nil
	}
	if header, ok := strings.CutPrefix(rest, "header "); ok {
		name, want, _ := strings.Cut(header, " = ")
		name, absent := strings.CutSuffix(name, " absent")
		values := r.got.Header().Values(name)
		if absent != (len(values) == 0) || !absent && !strings.Contains(values[0], strings.Trim(want, "*")) {
			return s.fail("is %q", values)
		}
		return nil
	}
	status, id, _ := strings.Cut(rest, " ")
	got, _ := pointer(r.body, "/error/@Message.ExtendedInfo/0/MessageId")
	if fmt.Sprint(r.got.Code) != status || id != "" && got != id || id == "" && r.got.Code >= 400 && got != nil {
		return s.fail("is %d %v", r.got.Code, got)
	}
	return nil
}

func (r *replay) external(ctx context.Context, s step, rest string) error {
	word, arg, _ := strings.Cut(rest, " ")
	var err error
	switch word {
	case "external-on":
		r.bmc.ExternalOn()
	case "power-button":
		r.bmc.PressPowerButton()
	case "mains-lost":
		err = r.bmc.PullPower()
	case "mains-back":
		err = r.bmc.RestorePower()
	case "bmc-restart":
		r.bmc.Restart()
	case "answer":
		err = r.bmc.SetReach(ReachOK)
	case "clock":
		var by time.Duration
		by, err = time.ParseDuration(arg)
		r.bmc.Adjust(func(p *Personality) { p.Report.Clock += by })
	case "event":
		r.bmc.SendEvent("Sim.1.0.Alert", r.bmc.hosts[0].URI())
	case "webhook":
		r.sender.set(arg)
	case "stream":
		r.open(ctx, arg)
	default:
		return s.fail("no such thing")
	}
	synctest.Wait()
	if err != nil {
		return s.fail("%v", err)
	}
	return nil
}

func (r *replay) look(word, rest string) bool {
	what, want, _ := strings.Cut(rest, " ")
	if word == "saw" {
		for _, record := range r.bmc.History() {
			if record.What == what && record.Detail == want {
				return true
			}
		}
		return false
	}
	o := r.bmc.Override()
	switch what {
	case "machine":
		return string(r.machine.State()) == want
	case "power":
		return r.bmc.PowerState() == protocol.PowerState(want)
	case "override":
		return fmt.Sprintf("%s %s", o.Target, o.Enabled) == want
	case "media":
		return r.bmc.hosts[0].Media(r.bmc.hosts[0].place.Media[0]) == want
	case "delivered":
		return fmt.Sprint(r.sender.count()) == want
	case "streamed":
		return fmt.Sprint(r.streams[0].count()) == want
	default:
		return false
	}
}

func (r *replay) sample(ctx context.Context, s step, rest string) error {
	var n int
	var method, target, mean, longest string
	if _, err := fmt.Sscanf(rest, "%d %s %s mean %s max %s", &n, &method, &target, &mean, &longest); err != nil {
		return s.fail("%v", err)
	}
	limit, err := time.ParseDuration(longest)
	if err != nil {
		return s.fail("%v", err)
	}
	var sum, most time.Duration
	for range n {
		r.sent.method, r.sent.target, r.sent.header, r.sent.body = method, target, http.Header{}, ""
		r.send(ctx)
		sum += r.took
		most = max(most, r.took)
	}
	if most > limit {
		return s.fail("one took %s", most)
	}
	return within(s, sum/time.Duration(n), mean)
}

func within(s step, d time.Duration, span string) error {
	low, high, _ := strings.Cut(span, "..")
	from, err := time.ParseDuration(low)
	to, err2 := time.ParseDuration(high)
	if err = errors.Join(err, err2); err != nil {
		return s.fail("%v", err)
	}
	if d < from || d > to {
		return s.fail("is %s", d)
	}
	return nil
}

// pointer is a value in a body by its JSON pointer (RFC 6901, without escapes).
func pointer(v any, path string) (any, bool) {
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		switch c := v.(type) {
		case map[string]any:
			e, ok := c[part]
			if !ok {
				return nil, false
			}
			v = e
		case []any:
			var i int
			if _, err := fmt.Sscan(part, &i); err != nil || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// fill puts places and what was seen into a line.
func (r *replay) fill(line string) string {
	if r.places == nil {
		h, l := r.bmc.hosts[0].place, r.bmc.events.layout
		list := []string{
			"{system}", h.URI, "{reset}", h.Reset, "{settings}", h.Settings, "{oem}", h.OEMBoot, "{order}", h.FixedOrder,
			"{bios}", h.BIOS, "{biossettings}", h.BIOSSettings, "{secure}", h.SecureBoot, "{log}", h.PowerLog,
			"{manager}", l.Managers[0], "{sessions}", l.Sessions, "{subscriptions}", l.Subscriptions, "{update}", l.Update,
			"{tasks}", l.Tasks[0], "{testevent}", l.TestEvent,
		}
		for i, slot := range h.Media {
			list = append(list, fmt.Sprintf("{media%d}", i), slot)
		}
		for i := range list {
			if list[i] == "" {
				list[i] = "/nothing"
			}
		}
		for i := len(h.Media); i < 3; i++ {
			list = append(list, fmt.Sprintf("{media%d}", i), "/nothing")
		}
		r.places = strings.NewReplacer(list...)
	}
	line = r.places.Replace(line)
	for _, name := range []string{"etag", "location", "token"} {
		line = strings.ReplaceAll(line, "{"+name+"}", r.vars[name])
	}
	return line
}

// bootsAll is a firmware to which every network answers.
type bootsAll struct{}

func (bootsAll) Boot(context.Context, *hardware.Guest, protocol.BootTarget) error { return nil }

// deaf is a listener to which nobody comes.
type deaf struct {
	once   sync.Once
	closed chan struct{}
}

func newDeaf() (net.Listener, error) { return &deaf{closed: make(chan struct{})}, nil }

func (d *deaf) Accept() (net.Conn, error) {
	<-d.closed
	return nil, net.ErrClosed
}

func (d *deaf) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

func (*deaf) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }
