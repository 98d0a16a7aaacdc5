package brokers

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	hubdaemon "rackboot/hub/daemon"
)

// place is a broker as hub and agent see it.
type place struct {
	external bool
	addrs    []string // of the MQTT listeners
	caFile   string
	// kill ends the broker, all of its nodes, and start starts it again.
	kill, start func()
	// away takes away what the agent is connected to, and back brings it back.
	away, back func()
	// written is who may do what, where that is written down.
	written written
	clients []string // addresses of listeners for NATS clients
}

// examples is the folder of the configurations that the brokers run.
const examples = "../../configs/brokers"

// example writes an example with the site's values filled in. Each pair is a text of
// the example, which must be there, and what replaces it.
func example(t *testing.T, name, to string, pairs ...string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s has no %q", name, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// mosquitto is one Mosquitto with the example files.
func mosquitto(t *testing.T, s *site) *place { return startMosquitto(t, s, false) }

// mosquittoWritten is one Mosquitto whose users are written down one by one.
func mosquittoWritten(t *testing.T, s *site) *place { return startMosquitto(t, s, true) }

func startMosquitto(t *testing.T, s *site, write bool) *place {
	program := mosquittoProgram(t)
	dir := t.TempDir()
	ca := s.caFor(dir)
	sv := &server{t: t, name: "mosquitto", dir: dir, addr: freeAddress(t), program: program, tls: s.hubTLS(ca)}
	_, port, _ := net.SplitHostPort(sv.addr)
	conf := filepath.Join(dir, "mosquitto.conf")
	acl := filepath.Join(dir, "mosquitto.acl")
	p := &place{external: true, addrs: []string{sv.addr}, caFile: ca, kill: sv.kill}
	if write {
		p.written = written{hubdaemon.BrokerMosquitto, acl, []*server{sv}, "Reloading config."}
		s.write(acl, string(s.users(p.written.kind, true)))
	} else {
		example(t, "mosquitto.acl", acl)
	}
	example(t, "mosquitto.conf", conf, "/etc/mosquitto/rackboot/", dir+"/", "listener 8883", "listener "+port+" 127.0.0.1\nuser root")
	sv.args = []string{"-c", conf}
	p.start = func() { sv.start(); sv.listens() }
	p.start()
	t.Cleanup(sv.kill)
	return p
}

const nodes = 3

// nats is a cluster of three nodes with the example file, and with the users that are written down.
func nats(t *testing.T, s *site) *place {
	program := natsProgram(t)
	dir := t.TempDir()
	ca := s.caFor(dir)
	var all []*server
	routes := make([]string, nodes)
	for i := range routes {
		routes[i] = freeAddress(t)
	}
	p := &place{external: true, caFile: ca}
	p.written = written{kind: hubdaemon.BrokerNATS, file: filepath.Join(dir, "rackboot-accounts.conf"), log: "Reloaded server configuration"}
	s.write(p.written.file, string(s.users(p.written.kind, true)))
	for i := range nodes {
		client := freeAddress(t)
		p.clients = append(p.clients, client)
		name := fmt.Sprintf("nats-%d", i+1)
		sv := &server{t: t, name: name, dir: dir, addr: freeAddress(t), program: program, tls: s.hubTLS(ca)}
		conf := filepath.Join(dir, name+".conf")
		example(t, "nats.conf", conf,
			"/etc/nats/nats-ca.pem", ca, "/etc/nats/", dir+"/", "/var/lib/nats", filepath.Join(dir, name),
			"jetstream {", "jetstream {\n  sync_interval: always", "server_name: nats-1", "server_name: "+name, "listen: 127.0.0.1:4222", "listen: "+client, "0.0.0.0:8883", sv.addr, "0.0.0.0:6222", routes[i],
			"nats-1.example.com:6222", routes[0], "nats-2.example.com:6222", routes[1], "nats-3.example.com:6222", routes[2])
		sv.args = []string{"-c", conf}
		all = append(all, sv)
		p.addrs = append(p.addrs, sv.addr)
	}
	p.written.servers = all
	each := func(do func(*server)) {
		for _, sv := range all {
			do(sv)
		}
	}
	p.kill = func() { each((*server).kill) }
	p.start = func() { each((*server).start); each((*server).listens) }
	p.start()
	t.Cleanup(p.kill)
	// A node of the cluster goes away, with the agent's connection on it.
	var gone *server
	p.away = func() {
		var at string // it may be connecting just now
		s.until("the agent's connection", func() bool { at = s.toAgent.backend(); return at != "" }, func() any { return "none" })
		each(func(sv *server) {
			if sv.addr == at {
				gone = sv
			}
		})
		if gone == nil {
			t.Fatal("the agent is connected to no node")
		}
		gone.kill()
	}
	p.back = func() { gone.start(); gone.listens() }
	return p
}

// embedded is the hub's own: it comes and goes with the hub.
func embedded(_ *testing.T, s *site) *place {
	return &place{addrs: []string{s.hub.MQTT}, kill: func() { s.stopHub() }, start: s.startHub}
}
