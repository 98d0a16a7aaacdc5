package inventory

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/hub/link"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// subject is a BMC of which an inventory is wanted.
type subject struct {
	bmc     *resource.BMC
	intent  message.BMCIntent
	agent   string
	servers []string
}

// reading is how far the reading of one BMC has come, in this run.
type reading struct {
	plan.Reading
	uid, bmc, agent string
	intent          message.BMCIntent
	wanted          bool // it is accepted, its address is known, and its agent can be asked
	servers         []string
	problem         string     // why the last reading failed
	seen            []identity // as last reported
	agrees          []uint64   // with what the inventory agreed when it was last compared; see compared
	planned         bool       // it is in the line
	at              time.Time  // and when
}

// identity is which board and interfaces a server has.
type identity struct{ server, what string }

// shows notes a server's identity and says whether it was another one before.
func (k *reading) shows(server, what string) (changed bool) {
	for i := range k.seen {
		if k.seen[i].server == server {
			changed = k.seen[i].what != what
			k.seen[i].what = what
			return changed
		}
	}
	k.seen = append(k.seen, identity{server, what})
	return false
}

// readings are those of all BMCs, by name. Who is due stands in a line, so that nobody looks at
// all of them each second.
type readings struct {
	mu    sync.Mutex
	byBMC map[string]*reading
	line  dueLine
}

// plan puts a reading into the line, unless it stands there and comes as early; it needs r.mu.
func (r *readings) plan(k *reading) {
	at, ok := k.Due()
	if !ok || !k.wanted || k.planned && !at.Before(k.at) {
		return
	}
	k.planned, k.at = true, at
	heap.Push(&r.line, dueReading{at, k})
}

// dueReading is a place in the line. One that is not where its reading is planned is left over.
type dueReading struct {
	at time.Time
	of *reading
}

// dueLine is a heap, the earliest first.
type dueLine []dueReading

func (l dueLine) Len() int           { return len(l) }
func (l dueLine) Less(i, j int) bool { return l[i].at.Before(l[j].at) }
func (l dueLine) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *dueLine) Push(x any)        { *l = append(*l, x.(dueReading)) }
func (l *dueLine) Pop() any {
	last := (*l)[len(*l)-1]
	(*l)[len(*l)-1] = dueReading{}
	*l = (*l)[:len(*l)-1]
	return last
}

func newReadings() *readings { return &readings{byBMC: map[string]*reading{}} }

// learn takes what a pass found of a BMC and returns how its reading stands. What
// failed is tried again at once when the BMC is reached in another way. read is when the inventory
// was read, zero where there is none.
func (r *readings) learn(s subject, read time.Time, reports map[string]*resource.ServerReport, now time.Time) reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, uid := s.bmc.Metadata.Name, s.bmc.Metadata.UID
	k := r.byBMC[name]
	if k == nil || k.uid != uid {
		k = &reading{uid: uid, bmc: name}
		r.byBMC[name] = k
	}
	if !k.intent.Same(s.intent) || k.agent != s.agent {
		k.agent, k.Failed, k.problem = s.agent, 0, ""
	}
	k.intent = s.intent
	k.Read, k.servers = read, s.servers
	for _, server := range s.servers {
		rep := reports[server]
		if rep == nil || rep.Identity == "" {
			continue
		}
		if k.shows(server, rep.Identity) {
			k.Changed = now
		}
	}
	_, usable := plan.BMCIntent(s.bmc)
	sealed := resource.SecretOf(s.bmc.Spec.CredentialsRef) == "" || s.intent.Sealed != nil
	k.wanted = usable && sealed && s.agent != ""
	r.plan(k)
	return *k
}

// agree notes with what a BMC's inventory agreed.
func (r *readings) agree(b *resource.BMC, revisions []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.byBMC[b.Metadata.Name]; k != nil && k.uid == b.Metadata.UID {
		k.agrees = revisions
	}
}

// forget drops the readings of BMCs that are gone.
func (r *readings) forget(there []*resource.BMC) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.byBMC) <= len(there) {
		return
	}
	names := map[string]bool{}
	for _, b := range there {
		names[b.Metadata.Name] = true
	}
	maps.DeleteFunc(r.byBMC, func(name string, _ *reading) bool { return !names[name] })
}

// due are the readings to be begun, those that wait longest first.
func (r *readings) due(now time.Time) (out []reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var still []*reading
	for len(r.line) > 0 && !r.line[0].at.After(now) {
		d := heap.Pop(&r.line).(dueReading)
		k := d.of
		if r.byBMC[k.bmc] != k || !k.planned || !k.at.Equal(d.at) {
			continue
		}
		k.planned = false
		still = append(still, k)
		if at, ok := k.Due(); ok && k.wanted && !at.After(now) {
			out = append(out, *k)
		}
	}
	for _, k := range still { // those that are not begun now stay due
		r.plan(k)
	}
	return out
}

// begin notes that an answer is waited for; ended what came of it.
func (r *readings) begin(k reading) {
	r.with(k, func(k *reading) { k.Open = true })
}

func (r *readings) ended(k reading, at time.Time, err error) {
	r.with(k, func(k *reading) {
		k.Open, k.Ended = false, at
		if err == nil {
			k.Failed, k.problem = 0, ""
			k.Read = at
			return
		}
		k.Failed, k.problem = k.Failed+1, link.Failure(err)
	})
}

func (r *readings) with(k reading, do func(*reading)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if there := r.byBMC[k.bmc]; there != nil && there.uid == k.uid {
		do(there)
		r.plan(there)
	}
}

// Read asks for what is due, of each agent as much as it may be asked.
func (c *Room) Read(now time.Time) {
	full := map[string]bool{} // agents that are not asked more
	for _, k := range c.readings.due(now) {
		if full[k.agent] = full[k.agent] || !c.cfg.Link.Hears(k.agent); full[k.agent] {
			continue
		}
		_, err := c.cfg.Link.Ask(k.agent, message.Ask{Kind: message.AskInventory, BMC: k.intent}, func(m message.Answer) { c.inventoried(k, m) })
		if full[k.agent] = err != nil; err == nil {
			c.readings.begin(k)
		}
	}
}

// inventoried keeps what an agent read, or why it could not.
func (c *Room) inventoried(k reading, m message.Answer) {
	err := c.keepInventory(k, m)
	c.readings.ended(k, c.cfg.Clock(), err)
	c.cfg.Wake.BMC(k.bmc)
}

func (c *Room) keepInventory(k reading, m message.Answer) error {
	const op = "read inventory"
	if err := link.AnswerError(op, m); err != nil {
		return err
	}
	systems, err := inventories(m.Body)
	if err != nil {
		return err
	}
	next := store.Inventory{BMC: k.bmc, UID: k.uid, At: c.cfg.Clock(), Systems: systems}
	ctx, cancel := context.WithTimeout(context.Background(), keepTimeout)
	defer cancel()
	for try := 1; ; try++ {
		if old := c.cfg.Store.Inventories.Peek(k.bmc, k.uid); old != nil {
			next.Made, next.Revision = old.Made, old.Revision
		}
		fit(&next)
		err := c.cfg.Store.Inventories.Put(ctx, &next)
		if protocol.CodeOf(err) != protocol.CodeConflict || try == store.Tries {
			return err
		}
	}
}

// keepTimeout bounds the writing of one inventory.
const keepTimeout = 30 * time.Second

// fit leaves out of an inventory what the store has no room for, and says so in it:
// first the boot options that are no network's, then all of them, then the order.
func fit(v *store.Inventory) {
	for _, cut := range []struct {
		part string
		do   func(*protocol.Inventory)
	}{
		{"boot options of other kinds than network", func(i *protocol.Inventory) {
			i.BootOptions = slices.DeleteFunc(slices.Clone(i.BootOptions), func(o protocol.BootOption) bool {
				return o.Kind != protocol.OptionPXE && o.Kind != protocol.OptionHTTP
			})
		}},
		{"boot options", func(i *protocol.Inventory) { i.BootOptions = nil }},
		{"boot order", func(i *protocol.Inventory) { i.BootOrder = nil }},
	} {
		if v.Size() <= store.MaxInventory {
			return
		}
		for i := range v.Systems {
			cut.do(&v.Systems[i])
			v.Systems[i].Problems = append(v.Systems[i].Problems, protocol.PartProblem{
				Part: cut.part, Code: protocol.CodeUnsupported, Text: "left out: the hub keeps at most 240 KiB of one BMC",
			})
		}
	}
}

// servers are those behind a BMC, as of the last pass.
func (r *readings) servers(b *resource.BMC) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.byBMC[b.Metadata.Name]; k != nil && k.uid == b.Metadata.UID {
		return slices.Clone(k.servers)
	}
	return nil
}

// maxSystems bounds what is behind one BMC.
const maxSystems = 64

// inventories reads the body of an answer.
func inventories(body []byte) ([]protocol.Inventory, error) {
	list, err := listOf[protocol.Inventory](body)
	if err != nil {
		return nil, err
	}
	var seen []string
	for i := range list {
		uri := list[i].SystemURI
		if !strings.HasPrefix(uri, "/redfish/") || len(uri) > 512 || slices.Contains(seen, uri) {
			return nil, protocol.Errorf(protocol.CodeInternal, "read answer", "system %d of the answer has no path of its own", i)
		}
		seen = append(seen, uri)
	}
	return list, nil
}

// probes reads the body of an answer.
func probes(body []byte) ([]protocol.Probe, error) { return listOf[protocol.Probe](body) }

func listOf[T any](body []byte) ([]T, error) {
	const op = "read answer"
	var list []T
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&list); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "it cannot be read: %w", err)
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // Token returns it bare
		return nil, protocol.Errorf(protocol.CodeInternal, op, "there is more after the list")
	}
	switch {
	case len(list) == 0:
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is no host behind the BMC").
			WithHint("look whether the BMC lists its system: rackctl bmc probe BMC")
	case len(list) > maxSystems:
		return nil, protocol.Errorf(protocol.CodeInternal, op, "it has %d systems, more than %d", len(list), maxSystems)
	}
	return list, nil
}
