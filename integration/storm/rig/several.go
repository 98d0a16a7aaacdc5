package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Several is what a site of several hubs has beside one of one hub: hubs on a store of NATS
// servers, a broker, and a wire between each two of them that speak.
type Several struct {
	Hubs  []*Hub
	Nodes []*Node
	// Mosquitto is the broker.
	Mosquitto *Process
	// Lead is the node that a fault has struck as the stream's leader.
	Lead *Node
	// Struck is the hub that a fault has struck.
	Struck *Hub

	home *Hub // that works whenever all live, once that was seen
	door *door
}

// Hub is one of several.
type Hub struct {
	Name    string
	Process *Process
	Disk    *Disk
	Clock   Clock
	// Broker is its way to the broker, and Nodes those to the servers of its store, in their order.
	Broker *Wire
	Nodes  []*Wire

	api, metrics string
	client       atomic.Pointer[api.Client]
	doubted      atomic.Bool
}

// Doubt says that what the hub shows may be old from now on, and Trust that it is not any more.
func (h *Hub) Doubt() { h.doubted.Store(true) }

// Trust is the end of Doubt.
func (h *Hub) Trust() { h.doubted.Store(false) }

func (h *Hub) data() string { return filepath.Join(h.Disk.Dir, "data") }

// Node is a server of the store.
type Node struct {
	Name    string
	Process *Process
	// To are its ways to the other nodes, by their names. A route may be dialled by either end.
	To map[string]*Wire

	listen, route, monitor string
	any                    *Wire // where others that were only told of the node dial it
}

// askWithin bounds a question to a hub or a node.
const askWithin = time.Second

// servers is how many the store has.
const servers = 3

// prepareSeveral makes what a site of several hubs has. The first hub is the site's own in all that knows one.
func (s *Site) prepareSeveral() (err error) {
	m := &Several{}
	s.Several = m
	const each = 4 + servers
	ports, err := sim.FreeAddresses("127.0.0.1", servers*(4+servers)+s.config.Hubs*each+1)
	if err != nil {
		return err
	}
	next := func() string {
		p := ports[0].String()
		ports = ports[1:]
		return p
	}
	for i := range servers {
		m.Nodes = append(m.Nodes, &Node{Name: fmt.Sprintf("node%d", i+1), listen: next(), route: next(), monitor: next(), To: map[string]*Wire{}})
	}
	for _, n := range m.Nodes {
		if n.any, err = newWire(next(), n.route); err != nil {
			return err
		}
		var routes []string
		for _, o := range m.Nodes {
			at := next()
			if o == n {
				continue
			}
			if n.To[o.Name], err = newWire(at, o.route); err != nil {
				return err
			}
			routes = append(routes, strconv.Quote("nats://"+at))
		}
		text := fmt.Sprintf("server_name: %s\nlisten: %q\nhttp: %q\njetstream { store_dir: %q, sync_interval: always }\ncluster { name: storm, no_advertise: true, listen: %q, advertise: %q, routes: [%s] }\n",
			n.Name, n.listen, n.monitor, s.path(n.Name), n.route, n.any.listener.Addr(), strings.Join(routes, ", "))
		if err := os.WriteFile(s.path(n.Name+".conf"), []byte(text), 0o600); err != nil {
			return err
		}
		n.Process = newProcess(n.Name, s.path(n.Name+".log"), s.daemon("nats-server"), nil, "-c", s.path(n.Name+".conf"))
	}
	for i := range s.config.Hubs {
		h := &Hub{Name: fmt.Sprintf("hub%d", i+1), api: next(), metrics: next(), Clock: Clock{s.path(fmt.Sprintf("clock-hub%d", i+1))}}
		m.Hubs = append(m.Hubs, h)
		if h.Disk, err = newDisk(s.path(h.Name), hubRoom); err != nil {
			return err
		}
		if h.Broker, err = newWire(next(), s.ports["mqtt"]); err != nil {
			return err
		}
		for _, n := range m.Nodes {
			w, err := newWire(next(), n.listen)
			if err != nil {
				return err
			}
			h.Nodes = append(h.Nodes, w)
		}
		if err := h.Clock.Step(0); err != nil {
			return err
		}
		h.Process = newProcess(h.Name, s.path(h.Name+".log"), s.daemon("rackboot-hub"), []string{h.Clock.env()}, "run", "--config", s.path(h.Name+".yaml"))
		if err := os.WriteFile(s.path(h.Name+".yaml"), []byte(hubFile(s, h)), 0o600); err != nil {
			return err
		}
	}
	first := m.Hubs[0]
	s.Hub, s.HubDisk, s.HubClock = first.Process, first.Disk, first.Clock
	for _, w := range append(m.wires(), s.Broker, s.HubAPI) {
		w.filter = s.filter
	}
	m.door, err = newDoor(s.ports["api"], m.Hubs)
	return err
}

// hubFile is the file of one of several hubs.
func hubFile(s *Site, h *Hub) string {
	var urls []string
	for _, w := range h.Nodes {
		urls = append(urls, fmt.Sprintf("%q", "nats://"+w.listener.Addr().String()))
	}
	return fmt.Sprintf("dataDir: %s\napi: %s\nmetrics: %s\nnames: [127.0.0.1]\nendpoints:\n  api: [\"https://%s\"]\nbroker:\n  url: \"mqtts://%s\"\n  agents: \"mqtts://%s\"\n  caFile: %s\nstore:\n  nats:\n    urls: [%s]\n    replicas: %d\n    name: %s\nisos: {quotaMiB: %d, minFreeMiB: 1}\n",
		h.data(), h.api, h.metrics, s.ports["api-wire"], h.Broker.listener.Addr(), s.ports["mqtt-wire"], s.path("broker.pem"), strings.Join(urls, ", "), servers, h.Name, uploadsMiB)
}

// uploadsMiB is the room for uploaded files, on a hub's disk and on each server of the store.
const uploadsMiB = 128

// startSeveral starts the nodes, the first hub, which makes the keys of all, the broker, which lets in who has a
// certificate of that, and the other hubs.
func (s *Site) startSeveral(ctx context.Context) error {
	m := s.Several
	for _, n := range m.Nodes {
		if err := n.Process.Start(); err != nil {
			return err
		}
	}
	for _, n := range m.Nodes {
		if err := s.await(ctx, n.Name, func(ctx context.Context) error {
			_, err := get(ctx, "http://"+n.monitor+"/healthz?js-server-only=true")
			return err
		}); err != nil {
			return err
		}
	}
	if err := s.brokerFiles(); err != nil {
		return err
	}
	first := m.Hubs[0]
	if err := first.Process.Start(); err != nil {
		return err
	}
	if err := s.await(ctx, "the first hub's keys", func(context.Context) error {
		_, err := os.Stat(filepath.Join(first.data(), "pki", "admin.token"))
		if err == nil {
			_, err = os.Stat(filepath.Join(first.data(), "ca.pem"))
		}
		return err
	}); err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(first.data(), "ca.pem"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.path("hub-ca.pem"), ca, 0o600); err != nil {
		return err
	}
	if err := m.Mosquitto.Start(); err != nil {
		return err
	}
	if err := s.await(ctx, first.Name, first.Ready); err != nil {
		return err
	}
	for _, h := range m.Hubs[1:] {
		for _, name := range []string{"hub.pub", "ca.pem"} {
			if err := os.MkdirAll(h.data(), 0o700); err != nil {
				return err
			}
			if err := copyFile(filepath.Join(first.data(), name), filepath.Join(h.data(), name), 0o600); err != nil {
				return err
			}
		}
		if err := copyTree(filepath.Join(first.data(), "pki"), filepath.Join(h.data(), "pki")); err != nil {
			return err
		}
		if err := h.Process.Start(); err != nil {
			return err
		}
		if err := s.await(ctx, h.Name, h.Ready); err != nil {
			return err
		}
	}
	return nil
}

// Client is a client of the hub alone.
func (h *Hub) Client() (*api.Client, error) {
	if c := h.client.Load(); c != nil {
		return c, nil
	}
	ca, err := os.ReadFile(filepath.Join(h.data(), "ca.pem"))
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(filepath.Join(h.data(), "pki", "admin.token"))
	if err != nil {
		return nil, err
	}
	c, err := api.NewClient(api.Config{BaseURL: "https://" + h.api, CA: ca, Token: strings.TrimSpace(string(token))})
	if err == nil {
		h.client.Store(c)
	}
	return c, err
}

// Ready reports whether the hub serves.
func (h *Hub) Ready(ctx context.Context) error {
	if !h.Process.Running() {
		return fmt.Errorf("%s has ended", h.Name)
	}
	c, err := h.Client()
	if err != nil {
		return err
	}
	return c.Ready(ctx)
}

// Units is how many racks, and the site, the hub says that it works.
func (h *Hub) Units(ctx context.Context) (int, error) {
	page, err := get(ctx, "http://"+h.metrics+"/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(page)) {
		if n, is := strings.CutPrefix(strings.TrimSpace(line), "rackboot_hub_units "); is {
			return strconv.Atoi(n)
		}
	}
	return 0, fmt.Errorf("%s does not say how many units it works", h.Name)
}

// settledAfter is for how long a hub works before it is taken for the one that does whenever all live: one that has come
// is given what is its own after seven seconds.
const settledAfter = 8 * time.Second

// Owner is the hub that works, and another one. It waits until that is the one that does whenever all live; the first
// time, when all live, that is found out.
func (s *Site) Owner(ctx context.Context) (owner, other *Hub, err error) {
	var was *Hub
	var since time.Time
	err = s.await(ctx, "the hub that goes on to work", func(ctx context.Context) error {
		owner, other = nil, nil
		for _, h := range s.Several.Hubs {
			n, err := h.Units(ctx)
			switch {
			case err != nil:
				return err
			case n == 2: // the rack and the site
				owner = h
			case n == 0:
				other = h
			}
		}
		if owner == nil || other == nil {
			return errors.New("no hub works both the rack and the site")
		}
		if home := s.Several.home; home != nil {
			if owner != home {
				return fmt.Errorf("%s works, and %s is to", owner.Name, home.Name)
			}
			return nil
		}
		if owner != was {
			was, since = owner, time.Now()
		}
		if time.Since(since) < settledAfter {
			return fmt.Errorf("%s works since %s", owner.Name, time.Since(since))
		}
		return nil
	})
	if err == nil {
		s.Several.home = owner
	}
	return owner, other, err
}

// Leader is the node that leads the stream of the store, and another one. It waits until one does.
func (s *Site) Leader(ctx context.Context) (leader, other *Node, err error) {
	err = s.await(ctx, "a leader of the stream", func(ctx context.Context) error {
		leader, other = nil, nil
		name, err := s.leads(ctx)
		if err != nil {
			return err
		}
		for _, n := range s.Several.Nodes {
			if n.Name == name {
				leader = n
			} else {
				other = n
			}
		}
		if leader == nil {
			return fmt.Errorf("no node is called %q", name)
		}
		return nil
	})
	return leader, other, err
}

// leads asks the nodes who leads.
func (s *Site) leads(ctx context.Context) (string, error) {
	for _, n := range s.Several.Nodes {
		raw, err := get(ctx, "http://"+n.monitor+"/jsz?accounts=true&streams=true")
		if err != nil {
			continue // it is down
		}
		var said struct {
			Accounts []struct {
				Streams []struct {
					Name    string `json:"name"`
					Cluster struct {
						Leader string `json:"leader"`
					} `json:"cluster"`
				} `json:"stream_detail"`
			} `json:"account_details"`
		}
		if err := json.Unmarshal(raw, &said); err != nil {
			return "", err
		}
		for _, a := range said.Accounts {
			for _, x := range a.Streams {
				if x.Name == "rackboot" && x.Cluster.Leader != "" {
					return x.Cluster.Leader, nil
				}
			}
		}
	}
	return "", errors.New("no node knows who leads the stream")
}

// Part cuts a node off from all other nodes: what it sends, what it is sent, or both.
func (m *Several) Part(n *Node, way Way) error {
	back := map[Way]Way{Both: Both, Out: Back, Back: Out}[way]
	err := n.any.CutWay(back)
	for _, o := range m.Nodes {
		if o != n {
			err = errors.Join(err, n.To[o.Name].CutWay(way), o.To[n.Name].CutWay(back), o.any.CutWay(way))
		}
	}
	return err
}

// Mend mends every wire of a site of several hubs.
func Mend(s *Site) (err error) {
	for _, w := range append(s.Several.wires(), s.Broker, s.HubAPI) {
		err = errors.Join(err, w.mend())
	}
	return err
}

// wires are all that were made.
func (m *Several) wires() (out []*Wire) {
	add := func(w *Wire) {
		if w != nil {
			out = append(out, w)
		}
	}
	for _, n := range m.Nodes {
		add(n.any)
		for _, w := range n.To {
			add(w)
		}
	}
	for _, h := range m.Hubs {
		add(h.Broker)
		for _, w := range h.Nodes {
			add(w)
		}
	}
	return out
}

// Sound is a client of a hub whose view is not in doubt; nil where there is none.
func (m *Several) Sound() *api.Client {
	for _, h := range m.Hubs {
		if !h.doubted.Load() && h.Process.Running() {
			if c, err := h.Client(); err == nil {
				return c
			}
		}
	}
	return nil
}

// Agrees reports whether every hub serves, shows what was written through the others, and one works. Each is trusted then.
func (s *Site) Agrees(ctx context.Context) error {
	for _, n := range s.Several.Nodes {
		if !n.Process.Running() {
			return fmt.Errorf("%s has ended", n.Name)
		}
	}
	for _, h := range s.Several.Hubs {
		if err := h.Ready(ctx); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	for _, h := range s.Several.Hubs {
		c, err := h.Client()
		if err != nil {
			return err
		}
		said, err := write(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
		for _, o := range s.Several.Hubs {
			if err := o.shows(ctx, said); err != nil {
				return err
			}
		}
	}
	works := 0
	for _, h := range s.Several.Hubs {
		n, err := h.Units(ctx)
		if err != nil {
			return err
		}
		works += n
	}
	if works != 2 {
		return fmt.Errorf("%d units are worked, not the rack and the site", works)
	}
	for _, h := range s.Several.Hubs {
		h.Trust()
	}
	return nil
}

// shows reports whether the hub shows what was written; it looks again for a while, since it hears of it.
func (h *Hub) shows(ctx context.Context, said string) error {
	c, err := h.Client()
	if err != nil {
		return err
	}
	for {
		rack, err := api.Get[*resource.Rack](ctx, c, RackName)
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
		if rack.Spec.Description == said {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not show what was written through another hub", h.Name)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Heads are the documents that the agent has applied, by topic leaf, and the number of the fence that it follows, as
// it says on its own host.
func (s *Site) Heads(ctx context.Context) (heads map[string]protocol.Head, fence uint64, err error) {
	out, errs, code := run(ctx, nil, s.program("rackboot-agent"), "status", "--config", s.path("agent.yaml"), "-o", "json")
	if code != 0 {
		return nil, 0, fmt.Errorf("the agent does not answer: %s", errs)
	}
	var said struct {
		Applied map[string]protocol.Head `json:"applied"`
		Hub     struct {
			Fence struct {
				Number uint64 `json:"number"`
			} `json:"fence"`
		} `json:"hub"`
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		return nil, 0, err
	}
	return said.Applied, said.Hub.Fence.Number, nil
}

// get reads a page of a server on this host.
func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it is read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxOutput))
}

// processes are all that were made.
func (m *Several) processes() (out []*Process) {
	for _, h := range m.Hubs {
		out = append(out, h.Process)
	}
	for _, n := range m.Nodes {
		out = append(out, n.Process)
	}
	return append(out, m.Mosquitto)
}

// close ends all of it. The first hub's disk is the site's.
func (m *Several) close() (err error) {
	for _, p := range m.processes() {
		if p != nil {
			err = errors.Join(err, p.Kill())
		}
	}
	if m.door != nil {
		m.door.close()
	}
	for _, w := range m.wires() {
		w.close()
	}
	for i, h := range m.Hubs {
		if c := h.client.Load(); c != nil {
			c.CloseIdle()
		}
		if i > 0 && h.Disk != nil {
			err = errors.Join(err, h.Disk.close())
		}
	}
	return err
}

// Daemons are the processes of the product that are to run.
func (s *Site) Daemons() []*Process {
	if s.Several == nil {
		return []*Process{s.Hub, s.Agent}
	}
	return append(s.Several.processes(), s.Agent)
}

// Clients are clients of each hub.
func (s *Site) Clients() (out []*api.Client, err error) {
	if s.Several == nil {
		return []*api.Client{s.Client}, nil
	}
	for _, h := range s.Several.Hubs {
		c, err := h.Client()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Contexts are the arguments of rackctl that name each hub.
func (s *Site) Contexts() (out [][]string) {
	if s.Several == nil {
		return [][]string{nil}
	}
	for _, h := range s.Several.Hubs {
		out = append(out, []string{"--context", h.Name})
	}
	return out
}
