package top

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// relay is a way to a hub that can be cut.
type relay struct {
	to string

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
	group    sync.WaitGroup
	passed   atomic.Int64 // bytes, both ways
}

// open lets connections through at an address.
func (r *relay) open(t testing.TB, address string) string {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener = l
	r.group.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", r.to)
			if err != nil {
				in.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, in, out)
			r.mu.Unlock()
			r.group.Go(func() { pass(counting{out, &r.passed}, in) })
			r.group.Go(func() { pass(counting{in, &r.passed}, out) })
		}
	})
	return l.Addr().String()
}

// counting counts what is written to a connection.
type counting struct {
	net.Conn
	to *atomic.Int64
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.to.Add(int64(n))
	return n, err
}

func pass(to, from net.Conn) {
	io.Copy(to, from) //nolint:errcheck // it is cut
	to.Close()
	from.Close()
}

// cut ends what is open, and waits for that.
func (r *relay) cut() {
	r.mu.Lock()
	r.listener.Close()
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.group.Wait()
}

// linkTo is a way to a hub at an address, with a token.
func linkTo(t testing.TB, hub *apitest.Hub, url, token string) (link *client.Link, rewrite func(token string)) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.yaml")
	ca, err := json.Marshal(string(hub.CA))
	if err != nil {
		t.Fatal(err)
	}
	rewrite = func(token string) {
		text := fmt.Sprintf("current: t\ncontexts:\n- {name: t, url: %q, ca: %s, token: %s}\n", url, ca, token)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(token)
	hubs := &client.Hubs{Getenv: func(k string) string { return map[string]string{"RACKCTL_CONFIG": config}[k] }}
	link, err = hubs.Link()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	return link, rewrite
}

// site is a hub with rack r1, whose servers n1 and n2 run.
func site(t *testing.T) *apitest.Hub {
	t.Helper()
	hub := apitest.New(t)
	if _, err := hub.Client(t).Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"n1", "n2"} {
		runs(hub, name, resource.PhaseReserved)
	}
	return hub
}

// runs has a server be On, in a phase.
func runs(hub *apitest.Hub, name string, phase resource.Phase) {
	hub.Fleet.SetServer(name, resource.ServerStatus{Phase: phase, Report: &resource.ServerReport{Server: name, Observation: protocol.Observation{Power: protocol.PowerOn}}})
}

// selecting is what -l selects; empty is everything.
func selecting(t testing.TB, labels string) *choice.Choice {
	t.Helper()
	var ch choice.Choice
	cmd := &cobra.Command{}
	ch.Flags(cmd)
	if err := cmd.Flags().Set("selector", labels); err != nil {
		t.Fatal(err)
	}
	if err := ch.Read([]string{"servers"}); err != nil {
		t.Fatal(err)
	}
	return &ch
}

// drawn are the frames of a program: the last, and a word that there is another.
type drawn struct {
	mu      sync.Mutex
	last    string
	changed chan struct{}
}

// watched is a program whose frames are read.
type watched struct {
	tea.Model
	to *drawn
}

func (w watched) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := w.Model.Update(msg)
	return watched{next, w.to}, cmd
}

func (w watched) View() tea.View {
	v := w.Model.View()
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	w.to.last = v.Content
	select {
	case w.to.changed <- struct{}{}:
	default:
	}
	return v
}

// await waits until a frame is as it is wanted.
func (d *drawn) await(t *testing.T, what string, is func(frame string) bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		d.mu.Lock()
		last := d.last
		d.mu.Unlock()
		if is(last) {
			return
		}
		select {
		case <-d.changed:
		case <-deadline:
			t.Fatalf("%s: not in\n%s", what, last)
		}
	}
}

func (d *drawn) says(t *testing.T, text string) {
	t.Helper()
	d.await(t, text, func(frame string) bool { return strings.Contains(frame, text) })
}

// start runs the program of a feed; keys are typed into it, and ended waits for its end.
func start(t *testing.T, f *feed) (frames *drawn, keys func(string), ended func() error) {
	t.Helper()
	t.Cleanup(f.close)
	first, err := f.first(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first.live = true
	in, typed := io.Pipe()
	frames = &drawn{changed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		result <- run(ctx, f, newModel(first, 80, 24), painter{}, terminalOf{in: in, out: io.Discard, env: []string{"TERM=xterm"}, wrap: func(m tea.Model) tea.Model { return watched{m, frames} }})
	}()
	t.Cleanup(func() { cancel(); typed.Close(); in.Close() })
	return frames, func(text string) {
		if _, err := io.WriteString(typed, text); err != nil {
			t.Error(err)
		}
	}, func() error { return <-result }
}

// A program draws what a hub says, does what keys say, and ends with q.
func TestProgram(t *testing.T) {
	hub := site(t)
	link, _ := linkTo(t, hub, hub.URL, apitest.Token)
	frames, keys, ended := start(t, &feed{link: link, chosen: selecting(t, ""), clock: time.Now})
	frames.says(t, ">n1")
	frames.says(t, "2 servers: 0 failing")
	keys("j")
	frames.says(t, ">n2")
	// What becomes of a server is shown, and it goes to the top. It stays selected.
	runs(hub, "n2", resource.PhaseError)
	frames.says(t, "1 failing")
	frames.await(t, "n2 above n1", func(f string) bool {
		return strings.Index(f, ">n2") > 0 && strings.Index(f, ">n2") < strings.Index(f, " n1")
	})
	hub.Fleet.SetTraces("n2", []resource.Trace{{Server: "n2", Serial: 1, Began: time.Now(), State: resource.AttemptArmed, Rows: []resource.TraceRow{{Seq: 1, At: time.Now(), Source: protocol.TraceDHCP, What: "DISCOVER"}}}})
	keys("\r")
	frames.says(t, "server n2, lines")
	frames.says(t, "DISCOVER")
	keys("\x1b[A") // no key of a table while a server is open
	keys("\x7f")
	frames.says(t, ">n2")
	keys("/n1")
	frames.says(t, `with "n1"`)
	keys("\r\t")
	frames.says(t, "racks 0-0 of 0")
	keys("\x15")
	keys("q")
	if err := ended(); err != nil {
		t.Error(err)
	}
}

// Somebody who stops rackctl ends the program, and no error is shown.
func TestProgramIsStopped(t *testing.T) {
	hub := site(t)
	link, _ := linkTo(t, hub, hub.URL, apitest.Token)
	f := &feed{link: link, chosen: selecting(t, ""), clock: time.Now}
	t.Cleanup(f.close)
	first, err := f.first(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first.live = true
	ctx, cancel := context.WithCancel(t.Context())
	in, typed := io.Pipe()
	defer typed.Close()
	frames := &drawn{changed: make(chan struct{}, 1)}
	result := make(chan error, 1)
	go func() {
		result <- run(ctx, f, newModel(first, 80, 24), painter{}, terminalOf{in: in, out: io.Discard, env: []string{"TERM=xterm"}, wrap: func(m tea.Model) tea.Model { return watched{m, frames} }})
	}()
	frames.says(t, ">n1")
	cancel()
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// A hub that is gone is said with since when; once it is back everything is read again.
func TestProgramOutlivesItsHub(t *testing.T) {
	hub := site(t)
	way := &relay{to: strings.TrimPrefix(hub.URL, "https://")}
	address := way.open(t, "127.0.0.1:0")
	link, _ := linkTo(t, hub, "https://"+address, apitest.Token)
	frames, keys, ended := start(t, &feed{link: link, chosen: selecting(t, ""), clock: time.Now})
	frames.says(t, ">n1")
	way.cut()
	frames.says(t, "HUB LOST since ")
	frames.says(t, "NOT OF NOW")
	runs(hub, "n2", resource.PhaseError)
	way.open(t, address)
	frames.await(t, "the hub is back", func(f string) bool { return !strings.Contains(f, "HUB LOST") && strings.Contains(f, "1 failing") })
	keys("q")
	if err := ended(); err != nil {
		t.Error(err)
	}
	way.cut()
}

// A token that is no longer known is said, and one that a login elsewhere has written is used.
func TestProgramFollowsItsToken(t *testing.T) {
	hub := site(t)
	link, rewrite := linkTo(t, hub, hub.URL, apitest.TokenOf("viewer"))
	frames, keys, ended := start(t, &feed{link: link, chosen: selecting(t, ""), clock: time.Now})
	frames.says(t, "as viewer")
	rewrite("0123456789abcdef0123456789abcdef-nobody")
	frames.says(t, "HUB REFUSES since ")
	rewrite(apitest.Token)
	frames.says(t, "as admin")
	keys("q")
	if err := ended(); err != nil {
		t.Error(err)
	}
}
