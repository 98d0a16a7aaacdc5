package brokers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
)

const (
	commitWriters = 2
	commitFor     = 9 * time.Second // in which the leader is killed twice
	commitDown    = time.Second     // until a killed node is started again
)

// TestCommitsWhileLeadersDie has writers that commit pairs of keys to a store of three copies,
// whose leader is killed and started again. No pair is ever torn, whoever reads, none that was acknowledged is
// lost, and each is: who commits is told nothing of the deaths.
func TestCommitsWhileLeadersDie(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	kv := c.open()
	ctx, stop := context.WithTimeout(t.Context(), waitAtMost)
	defer stop()
	writers := make([]*pairWriter, commitWriters)
	over := make(chan struct{})
	var writing, reading sync.WaitGroup
	for i := range writers {
		w := &pairWriter{kv: kv, name: "p." + strconv.Itoa(i), last: -1}
		writers[i] = w
		writing.Go(func() {
			if err := w.run(ctx, over); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
		})
	}
	var seen atomic.Int64
	reading.Go(func() {
		for ctx.Err() == nil && !closedYet(over) {
			followPairs(ctx, t, kv, over, &seen)
		}
	})
	for begun, pause := time.Now(), commitFor/3; time.Since(begun) < commitFor-pause; {
		time.Sleep(pause) // writers write
		leader := c.leader()
		leader.kill()
		time.Sleep(commitDown)
		leader.start()
	}
	c.await("the reader sees what is written", func() error { // it lists anew after each death, and may have come to no more
		if seen.Load() == 0 {
			return errors.New("nothing yet")
		}
		return nil
	})
	close(over)
	writing.Wait()
	reading.Wait()
	var entries []state.Entry
	c.await("the store is listed", func() (err error) { // the node that was started again may lead, or not yet
		entries, _, err = kv.List(ctx, "")
		return err
	})
	pairs, marks := pairsOf(entries)
	for _, w := range writers {
		t.Logf("%s: %d commits acknowledged, %d without an answer, longest %s", w.name, w.acked, w.unknown, w.longest.Round(time.Millisecond))
		if pairs[w.name] != w.last || marks[w.name] != w.last+1 {
			t.Errorf("%s is at %d with %d keys beside it, and %d was acknowledged", w.name, pairs[w.name], marks[w.name], w.last)
		}
		if w.unknown > 0 {
			t.Errorf("%s: of %d commits nobody knew whether they were written", w.name, w.unknown)
		}
		if w.acked < 50 {
			t.Errorf("%s: %d commits are too few to say anything", w.name, w.acked)
		}
	}
	t.Logf("the reader saw %d changes", seen.Load())
}

func closedYet(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// pairWriter counts: each commit writes the number to a key, and makes a key of the number.
type pairWriter struct {
	kv             *jetstream.KV
	name           string
	last           int // acknowledged, or found to be there
	acked, unknown int
	longest        time.Duration
}

func (w *pairWriter) run(ctx context.Context, over chan struct{}) error {
	var revision uint64
	for i := 0; !closedYet(over); i++ {
		ops := []state.Op{
			{Kind: state.OpCreate, Key: w.name, Value: []byte(strconv.Itoa(i))},
			{Kind: state.OpCreate, Key: fmt.Sprintf("%s.mark.%06d", w.name, i)},
		}
		if i > 0 {
			ops[0].Kind, ops[0].Revision = state.OpUpdate, revision
		}
		begun := time.Now()
		revs, err := w.kv.Commit(ctx, ops)
		lost := false
		for err != nil {
			switch {
			case errors.Is(err, state.ErrConflict) && lost:
				// An answer was lost. It is there, or another write of the key was under way.
				e, getErr := w.kv.Get(ctx, w.name)
				if getErr == nil && string(e.Value) == strconv.Itoa(i) {
					revs, err = []uint64{e.Revision}, nil
					continue
				}
			case errors.Is(err, state.ErrConflict) && len(state.Conflicting(err)) > 0, protocol.CodeOf(err) == protocol.CodeInvalid, ctx.Err() != nil:
				return err // nobody else writes these keys
			case !lost:
				lost = true
				w.unknown++
			}
			time.Sleep(20 * time.Millisecond) // the cluster elects
			revs, err = w.kv.Commit(ctx, ops)
		}
		if !lost {
			w.acked++
		}
		w.longest = max(w.longest, time.Since(begun))
		w.last, revision = i, revs[0]
	}
	return nil
}

// pairsOf is the number of each writer, -1 if there is none, and how many keys are beside it.
func pairsOf(entries []state.Entry) (pairs, marks map[string]int) {
	pairs, marks = map[string]int{}, map[string]int{}
	for _, e := range entries {
		name, _, mark := strings.Cut(e.Key, ".mark.")
		if mark {
			marks[name]++
			continue
		}
		pairs[name], _ = strconv.Atoi(string(e.Value)) // the writers write numbers
	}
	return pairs, marks
}

// followPairs lists, and watches until the watch ends, and counts the changes that it sees. A store
// that does not answer just now is left alone for a moment.
func followPairs(ctx context.Context, t *testing.T, kv *jetstream.KV, over chan struct{}, seen *atomic.Int64) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	entries, rev, err := kv.List(ctx, "")
	if err != nil {
		time.Sleep(20 * time.Millisecond)
		return
	}
	pairs, marks := pairsOf(entries)
	whole := func() {
		t.Helper()
		for name, n := range pairs {
			if marks[name] != n+1 {
				t.Errorf("%s is at %d with %d keys beside it", name, n, marks[name])
			}
		}
		if len(marks) != len(pairs) {
			t.Errorf("%d pairs and marks of %d", len(pairs), len(marks))
		}
	}
	whole()
	watch, err := kv.Watch(ctx, "", rev)
	if err != nil {
		return
	}
	for {
		select {
		case change, ok := <-watch:
			if !ok {
				return
			}
			p, m := pairsOf(change)
			maps.Copy(pairs, p)
			for name, n := range m {
				marks[name] += n
			}
			whole()
			seen.Add(1)
		case <-over:
			return
		}
	}
}

// unheard is an address where nobody listens.
const unheard = "127.0.0.1:1"

// cluster is three nodes with JetStream and nothing else.
type cluster struct {
	t     *testing.T
	nodes map[string]*server
	conn  *natsgo.Conn
	ways  map[string][]*proxy // from and to each node
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	program := natsProgram(t)
	dir := t.TempDir()
	c := &cluster{t: t, nodes: map[string]*server{}, ways: map[string][]*proxy{}}
	var routes, urls []string
	for range nodes {
		routes = append(routes, freeAddress(t))
	}
	for i := range nodes {
		name := fmt.Sprintf("n%d", i+1)
		sv := &server{t: t, name: name, dir: dir, addr: freeAddress(t), program: program}
		conf := filepath.Join(dir, name+".conf")
		// Nodes tell each other of others, whom they would go to past the ways that part cuts: nobody answers there.
		text := fmt.Sprintf("server_name: %s\nlisten: %q\njetstream { store_dir: %q, sync_interval: always }\ncluster { name: c, no_advertise: true, listen: %q, advertise: %q, routes: [%s] }\n",
			name, sv.addr, filepath.Join(dir, name), routes[i], unheard, strings.Join(c.routes(i, routes), ", "))
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sv.args = []string{"-c", conf}
		sv.start()
		t.Cleanup(sv.kill)
		c.nodes[name] = sv
		urls = append(urls, "nats://"+sv.addr)
	}
	for _, sv := range c.nodes {
		c.await(sv.name+" listens", func() error {
			conn, err := net.Dial("tcp", sv.addr)
			if err == nil {
				err = conn.Close()
			}
			return err
		})
	}
	var err error
	if c.conn, err = natsgo.Connect(strings.Join(urls, ","), natsgo.MaxReconnects(-1), natsgo.ReconnectWait(50*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.conn.Close)
	return c
}

// routes are the ways of a node to the others.
func (c *cluster) routes(from int, to []string) (urls []string) {
	for i, addr := range to {
		if i == from {
			continue
		}
		p := newProxy(c.t, addr)
		for _, end := range []int{from, i} {
			name := fmt.Sprintf("n%d", end+1)
			c.ways[name] = append(c.ways[name], p)
		}
		urls = append(urls, "nats://"+p.listener.Addr().String())
	}
	return urls
}

// part cuts a node off from the others, and not from clients.
func (c *cluster) part(sv *server) {
	for _, p := range c.ways[sv.name] {
		p.block()
	}
}

// heal ends that.
func (c *cluster) heal(sv *server) {
	for _, p := range c.ways[sv.name] {
		p.cut(false)
	}
}

// await tries until there is no error.
func (c *cluster) await(what string, try func() error) {
	c.t.Helper()
	for deadline := time.Now().Add(waitAtMost); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: %v", what, err)
		}
	}
}

// open makes the store once the cluster has elected who may.
func (c *cluster) open() (kv *jetstream.KV) {
	c.t.Helper()
	c.await("the store is made", func() (err error) {
		kv, err = jetstream.OpenKV(c.t.Context(), jetstream.Config{Conn: c.conn, Name: "rackboot", Replicas: nodes, Timeout: 30 * time.Second})
		return err
	})
	return kv
}

// leader is the node that leads the store's stream now.
func (c *cluster) leader() *server { return c.leaderOf("rackboot") }

// leaderOf is the node that leads a stream now.
func (c *cluster) leaderOf(stream string) (sv *server) {
	c.t.Helper()
	c.await("the stream has a leader", func() error {
		js, err := natsjs.New(c.conn, natsjs.WithDefaultTimeout(time.Second))
		if err != nil {
			return err
		}
		s, err := js.Stream(c.t.Context(), stream)
		if err != nil {
			return err
		}
		if sv = c.nodes[s.CachedInfo().Cluster.Leader]; sv == nil {
			return errors.New("none")
		}
		return nil
	})
	return sv
}
