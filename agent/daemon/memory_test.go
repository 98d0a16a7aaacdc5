//go:build linux && !race

// With the detector of races sync.Pool throws away at random what it is given, such as the buffers of crypto/tls: more is
// left in memory then than of the program that is shipped.

package daemon

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/agent/guard"
	"rackboot/agent/secret"
	"rackboot/agent/store"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
	"rackboot/state/badger"
)

// agentChild is the variable that has the test's program be an agent, with its configuration.
const agentChild = "RACKBOOT_TEST_AGENT_CONFIG"

func TestMain(m *testing.M) {
	raw, child := os.LookupEnv(agentChild)
	if !child {
		os.Exit(m.Run())
	}
	var c Config
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := json.Unmarshal([]byte(raw), &c)
	if err == nil {
		err = Run(ctx, c, Options{Version: "test", Logger: slog.New(slog.DiscardHandler), Ready: func() { fmt.Println("ready") }})
	}
	stop()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child starts the agent as a process of its own.
func (g *guarded) child() *os.Process {
	g.t.Helper()
	raw, err := json.Marshal(g.cfg)
	g.must(err)
	cmd := exec.CommandContext(g.t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), agentChild+"="+string(raw))
	out, err := cmd.StdoutPipe()
	g.must(err)
	g.must(cmd.Start())
	g.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		g.t.Fatalf("it does not start: %q, %v", line, err)
	}
	return cmd.Process
}

// copies counts what a process has in its memory, but the names of files that are mapped.
func copies(t *testing.T, p *os.Process, what []byte) (n int) {
	t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", p.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = maps.Close() }()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.Pid))
	if errors.Is(err, os.ErrPermission) {
		t.Skip("this host lets nobody read the memory of a child: kernel.yama.ptrace_scope")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mem.Close() }()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		where, rights, _ := strings.Cut(lines.Text(), " ")
		if !strings.HasPrefix(rights, "rw") {
			continue // a program's code has no secrets
		}
		var from, to int64
		if _, err := fmt.Sscanf(where, "%x-%x", &from, &to); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		piece := make([]byte, to-from)
		if got, err := mem.ReadAt(piece, from); err == nil || got > 0 {
			n += bytes.Count(piece[:got], what)
		}
	}
	return n
}

// TestPasswordInMemory: however often a BMC is read, its password is not spread in the agent's memory: that
// of a file, and one that the hub has sealed, with sessions and by each request, where its form for those is there once
// for each connection.
func TestPasswordInMemory(t *testing.T) {
	const password = "canary-4e1b-of-memory"
	for name, row := range map[string]struct{ sealed, basic bool }{"of a file": {}, "sealed": {sealed: true}, "of a file, in each request": {basic: true}, "sealed, in each request": {true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t, t.TempDir())
			g.must(os.WriteFile(filepath.Join(g.cfg.CredentialsDir, "bmc"), []byte("username: admin\npassword: "+password+"\n"), 0o600))
			g.bmc.SetCredentials("admin", password)
			if row.basic {
				g.bmc.Adjust(func(p *bmcsim.Personality) { p.Session.Max = -1 })
			}
			ref := "local:bmc"
			if row.sealed {
				ref = "secret:rack"
			}
			g.readsOften(ref, password)
			p := g.child()
			var last time.Time
			for end, n := time.Now().Add(time.Minute), 0; n < 1000; time.Sleep(20 * time.Millisecond) {
				for _, r := range g.bmc.Requests() {
					if r.At.After(last) && strings.HasPrefix(r.Path, "/redfish/v1/Systems/") {
						n++
						last = r.At
					}
				}
				if time.Now().After(end) {
					t.Fatalf("%d reads in a minute", n)
				}
			}
			if n := copies(t, p, []byte(password)); n == 0 || n > 5 {
				t.Errorf("the password is %d times in the agent's memory", n)
			}
			// net/http writes the head of a request into a buffer of the connection.
			most := 2 + int(g.connections.Load())
			if n := copies(t, p, []byte(base64.StdEncoding.EncodeToString([]byte("admin:"+password)))); n > most {
				t.Errorf("its form for each request is %d times in the agent's memory, with %d connections", n, g.connections.Load())
			}
		})
	}
}

// readsOften leaves a document by which the BMC is read as often as the agent does.
func (g *guarded) readsOften(ref, password string) {
	g.t.Helper()
	db, err := badger.Open(badger.Config{Dir: g.cfg.path("state"), MinFree: 1})
	g.must(err)
	set := guard.Open(guard.Config{Agent: "r1-1", Dir: g.cfg.DataDir, Clock: time.Now})
	st, err := store.Open(store.Config{DB: db, Guard: set, NewID: rand.Text})
	g.must(err)
	key, err := sealKey(g.cfg.DataDir)
	g.must(err)
	id, err := loadIdentity(g.cfg.DataDir)
	g.must(err)
	keeper, err := secret.New(id.Answer.Agent, key)
	g.must(err)
	sealed, err := sealbox.Seal(keeper.Public(), sealbox.Binding{Agent: id.Answer.Agent, BMC: "n1", Secret: "rack", UID: "u", Version: 1}, message.BMCCredentials{BMCAccount: resource.BMCAccount{Username: "admin", Password: password}})
	g.must(err)
	in := message.ServerIntent{
		Server: heldServer, UID: "uid-n1", Segment: "boot", BootMAC: "52:54:00:00:00:01", Architecture: "amd64",
		BMC: message.BMCIntent{Name: "n1", Address: g.bmc.Address(), Fingerprint: g.bmc.Fingerprint(), CredentialsRef: ref},
	}
	_, _, err = st.Documents.ApplyRack(message.RackDoc{
		Head: protocol.Head{Version: 2}, Agent: "r1-1", Shards: 1, Servers: []message.ServerIntent{in},
		Rack: &message.RackIntent{Name: "rack-1", PollInterval: time.Millisecond, SettleWindow: time.Second, SoftTimeout: time.Second},
	}, "2", func(message.ServerIntent) (*store.Credentials, error) {
		if ref == "local:bmc" {
			return nil, nil
		}
		return keeper.Reseal("n1", sealed)
	})
	g.must(err)
	a, _, err := openAnchor(g.cfg.DataDir, nil, slog.New(slog.DiscardHandler))
	g.must(err)
	g.must(errors.Join(a.take(st), a.close(), db.Close(), set.Close()))
	execed()
}
