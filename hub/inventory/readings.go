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
	wish    wish
	has     wish // that the inventory which there is was read with
}

// reading is how far the reading of one BMC has come, in this run.
type reading struct {
	plan.Reading
	uid, bmc, agent string
	intent          message.BMCIntent
	wanted          bool // it is accepted, its address is known, and its agent can be asked
	servers         []string
	wish            wish                   // that the next reading is to be asked with
	asked, answered wish                   // of the last one, and of the last one that did not fail
	problem         string                 // why the last reading failed
	trouble         resource.ConditionCode // what that is, where it is one of the BMC's account
	seen            []identity             // as last reported
	agrees          []uint64               // with what the inventory agreed when it was last compared; see compared
	planned         bool                   // it is in the line
	at              time.Time              // and when
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

// readings are those of all BMCs, by name. Who is due stands in the line of its agent, so that nobody looks at
// all of them each second, nor at those of an agent that is not asked more now.
type readings struct {
	mu    sync.Mutex
	byBMC map[string]*reading
	lines map[string]*dueLine // by agent
}

// plan puts a reading into the line of its agent, unless it stands there and comes as early; it needs r.mu.
func (r *readings) plan(k *reading) {
	at, ok := k.Due()
	if !ok || !k.wanted || k.planned && !at.Before(k.at) {
		return
	}
	k.planned, k.at = true, at
	l := r.lines[k.agent]
	if l == nil {
		l = &dueLine{}
		r.lines[k.agent] = l
	}
	heap.Push(l, dueReading{at, k})
}

// dueReading is a place in a line. One that is not where its reading is planned is left over.
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

func newReadings() *readings {
	return &readings{byBMC: map[string]*reading{}, lines: map[string]*dueLine{}}
}

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
		k.Failed, k.problem, k.trouble = 0, "", ""
	}
	if k.agent != s.agent {
		k.agent, k.planned = s.agent, false
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
	k.wish = s.wish
	k.Lacks = s.wish.any && s.wish != s.has && s.wish != k.asked
	_, usable := plan.BMCIntent(s.bmc)
	sealed := resource.SecretOf(s.bmc.Spec.CredentialsRef) == "" || s.intent.Sealed != nil
	k.wanted = usable && sealed && s.agent != ""
	r.plan(k)
	return *k
}

// again has a BMC read that is another one than its inventory says.
func (r *readings) again(b *resource.BMC, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.byBMC[b.Metadata.Name]; k != nil && k.uid == b.Metadata.UID {
		k.Changed = now
		r.plan(k)
	}
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

// due are the agents with a reading to be begun, those of the one that waits longest first.
func (r *readings) due(now time.Time) (agents []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for agent, l := range r.lines {
		switch {
		case len(*l) == 0:
			delete(r.lines, agent)
		case !(*l)[0].at.After(now):
			agents = append(agents, agent)
		}
	}
	slices.SortFunc(agents, func(a, b string) int { return (*r.lines[a])[0].at.Compare((*r.lines[b])[0].at) })
	return agents
}

// next takes an agent's reading that waits longest out of the line. Whoever does not begin it puts it back.
func (r *readings) next(agent string, now time.Time) (_ reading, due bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[agent]
	for l != nil && len(*l) > 0 && !(*l)[0].at.After(now) {
		d := heap.Pop(l).(dueReading)
		k := d.of
		if r.byBMC[k.bmc] != k || k.agent != agent || !k.planned || !k.at.Equal(d.at) {
			continue
		}
		k.planned = false
		if at, ok := k.Due(); ok && k.wanted && !at.After(now) {
			return *k, true
		}
		r.plan(k)
	}
	return reading{}, false
}

// putBack has a reading that was not begun stay due.
func (r *readings) putBack(k reading) { r.with(k, func(*reading) {}) }

// begin notes that an answer is waited for; ended what came of it.
func (r *readings) begin(k reading) {
	r.with(k, func(there *reading) { there.Open, there.Lacks, there.asked = true, false, k.wish })
}

func (r *readings) ended(k reading, at time.Time, err error) {
	r.with(k, func(k *reading) {
		k.Open, k.Ended = false, at
		if err == nil {
			k.Failed, k.problem, k.trouble = 0, "", ""
			k.Read, k.answered = at, k.asked
			return
		}
		k.Failed, k.problem, k.trouble = k.Failed+1, link.Failure(err), resource.ConditionOf(err)
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
	for _, agent := range c.readings.due(now) {
		if !c.cfg.Link.Hears(agent) {
			continue
		}
		for {
			k, due := c.readings.next(agent, now)
			if !due {
				break
			}
			_, err := c.cfg.Link.Ask(agent, k.wish.of(message.Ask{Kind: message.AskInventory, BMC: k.intent}), func(m message.Answer) { c.inventoried(k, m) })
			if err != nil { // it is not asked more
				c.readings.putBack(k)
				break
			}
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
// first the boot options that are no network's, then all of them, then the order, then the settings of firmware.
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
		{"settings of firmware", func(i *protocol.Inventory) {
			if i.Firmware != nil { // that they were asked for stays
				i.Firmware = &protocol.FirmwareSettings{Asked: i.Firmware.Asked}
			}
		}},
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
