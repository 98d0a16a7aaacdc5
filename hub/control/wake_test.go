package control

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A rack is woken by whatever changes what its turns see, and its turns see of each kind what a
// walk over all of it finds: whatever is written, moved between racks and removed, in any order.
func TestARackIsWokenByWhatItSees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, &movingTag{})
		w := &wakeWorld{bench: b}
		w.begins()
		rt.Repeat(map[string]func(*rapid.T){
			"put":    func(rt *rapid.T) { w.changes(rt, w.put) },
			"remove": func(rt *rapid.T) { w.changes(rt, w.remove) },
			"beside": func(rt *rapid.T) { w.changes(rt, w.beside) },
		})
	})
}

// wakeWorld draws objects of few names, which refer to each other.
type wakeWorld struct {
	*bench
	writes int
}

// begins puts three racks with a server each, so that most of what is drawn is of something.
func (w *wakeWorld) begins() {
	w.t.Helper()
	for i := range 3 {
		n := strconv.Itoa(i)
		for _, o := range []resource.Object{storetest.Rack("r" + n), storetest.Segment("g"+n, "r"+n), storetest.BMC("b"+n, "r"+n), storetest.Server("n"+n, "b"+n, "g"+n, "52:54:00:00:00:3"+n)} {
			o.Head().Metadata.UID, o.Head().Metadata.Generation = "u-"+o.Head().Metadata.Name, 1
			if err := w.store.Objects.Put(w.t.Context(), o); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

func racksOfWorld() []string { return []string{"r0", "r1", "r2"} }

// changes does one thing, and looks who was woken and who sees something else than before.
func (w *wakeWorld) changes(rt *rapid.T, do func(*rapid.T) string) {
	before, looked := w.views(), w.looks(nil)
	w.control.sleep()
	what := do(rt)
	w.control.wake.By(w.deltas)
	woken := w.control.wake.Racks.Take()
	again := w.looks(looked)
	for rack, now := range w.views() {
		w.compares(rt, rack, now)
		if !sameView(again[rack].Fleet, now) {
			rt.Fatalf("%s is not seen by %s, which looks again", what, rack)
		}
		if _, err := store.Peek[*resource.Rack](w.store.Objects, rack); err != nil {
			continue
		}
		if !sameView(before[rack], now) && !slices.Contains(woken, wake.RackUnit(rack)) {
			rt.Fatalf("%s changed what %s sees, and %v were woken", what, rack, woken)
		}
	}
}

// looks are the views that turns go on with; of nothing the first.
func (w *wakeWorld) looks(last map[string]view.View) map[string]view.View {
	out := map[string]view.View{}
	for _, rack := range racksOfWorld() {
		from := view.Of(wake.RackUnit(rack))
		if last != nil {
			from = last[rack]
		}
		out[rack] = w.control.view.Look(from)
	}
	return out
}

func (w *wakeWorld) views() map[string]plan.Fleet {
	out := map[string]plan.Fleet{}
	for _, rack := range racksOfWorld() {
		out[rack] = w.control.view.Rack(rack)
	}
	return out
}

// sameView compares all that is said in the fields that are seen; the store shares resources, so
// that another pointer is another revision.
func sameView(a, b plan.Fleet) bool {
	return slices.Equal(a.Racks, b.Racks) && slices.Equal(a.Agents, b.Agents) && slices.Equal(a.Segments, b.Segments) && slices.Equal(a.BMCs, b.BMCs) &&
		slices.Equal(a.Servers, b.Servers) && slices.Equal(a.Claims, b.Claims) && slices.Equal(a.Wanting, b.Wanting) && slices.Equal(a.Maintenances, b.Maintenances) &&
		slices.Equal(a.Configs, b.Configs) && slices.Equal(a.Holds, b.Holds) && reflect.DeepEqual(a.Requests, b.Requests) &&
		slices.Equal(a.Env.BootEnvs, b.Env.BootEnvs) && slices.Equal(a.Env.Templates, b.Env.Templates) && slices.Equal(a.Env.Profiles, b.Env.Profiles) && slices.Equal(a.Env.Params, b.Env.Params) &&
		reflect.DeepEqual(a.Env.ISOs, b.Env.ISOs) && reflect.DeepEqual(a.Env.SecretVersions, b.Env.SecretVersions) && reflect.DeepEqual(a.Peers, b.Peers) &&
		slices.EqualFunc(a.Groups, b.Groups, sameGroup)
}

// sameGroup compares what racks see of a group: not its labels and status, of which only the site
// decides.
func sameGroup(a, b *resource.ServerGroup) bool {
	return a.Metadata.Name == b.Metadata.Name && reflect.DeepEqual(a.Spec, b.Spec)
}

// compares holds a rack's view against a walk.
func (w *wakeWorld) compares(rt *rapid.T, rack string, v plan.Fleet) {
	s := w.store
	in := func(server string) bool {
		of, err := s.Objects.RackOf(server)
		return err == nil && of == rack
	}
	part(rt, v.Segments, store.List[*resource.Segment](s.Objects), func(o *resource.Segment) bool { return o.Spec.RackRef.Name == rack })
	part(rt, v.BMCs, store.List[*resource.BMC](s.Objects), func(o *resource.BMC) bool { return o.Spec.RackRef.Name == rack })
	part(rt, v.Servers, store.List[*resource.Server](s.Objects), func(o *resource.Server) bool { return in(o.Metadata.Name) })
	part(rt, v.Claims, store.List[*resource.Claim](s.Objects), func(o *resource.Claim) bool { return o.Status.Server != "" && in(o.Status.Server) })
	part(rt, v.Maintenances, store.List[*resource.Maintenance](s.Objects), func(o *resource.Maintenance) bool { return in(o.Spec.ServerRef.Name) })
	part(rt, v.Configs, store.List[*resource.BootConfiguration](s.Objects), func(o *resource.BootConfiguration) bool { return in(o.Spec.Server) })
	part(rt, v.Holds, store.List[*resource.Hold](s.Objects), func(o *resource.Hold) bool { return o.Status.Rack == rack || in(o.Spec.Server) })
}

func part[T resource.Object](rt *rapid.T, got, all []T, want func(T) bool) {
	walked := slices.DeleteFunc(slices.Clone(all), func(o T) bool { return !want(o) })
	if !slices.EqualFunc(got, walked, func(a, b T) bool { return resource.Object(a) == resource.Object(b) }) {
		rt.Fatalf("the rack sees %d %T, and a walk finds %d", len(got), *new(T), len(walked))
	}
}

// put writes an object anew, or over what is there of its name.
func (w *wakeWorld) put(rt *rapid.T) string {
	pick := func(what string, from ...string) string { return rapid.SampledFrom(from).Draw(rt, what) }
	numbered := func(prefix string, n int) string {
		return fmt.Sprintf("%s%d", prefix, rapid.IntRange(0, n-1).Draw(rt, prefix))
	}
	mac := func(name string) string { return fmt.Sprintf("52:54:00:00:00:%02x", name[len(name)-1]) }
	var o resource.Object
	switch kind := pick("kind", "rack", "agent", "segment", "bmc", "bmc", "server", "server", "claim", "claim", "maintenance", "config", "hold", "group", "secret", "bootenv", "profile", "param", "template"); kind {
	case "rack":
		r := storetest.Rack(numbered("r", 3))
		r.Status.Agent = pick("agent", "", "a0", "a1")
		o = r
	case "agent":
		a := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: numbered("r", 3)}, Key: make([]byte, 32), Term: 1}}
		a.Metadata.Name = numbered("a", 2)
		o = a
	case "segment":
		o = storetest.Segment(numbered("g", 2), numbered("r", 3))
	case "bmc":
		o = storetest.BMC(numbered("b", 3), numbered("r", 3))
	case "server":
		name := numbered("n", 3)
		o = storetest.Server(name, numbered("b", 3), "g0", mac(name))
	case "claim":
		c := storetest.Claim(numbered("c", 3), "n0")
		c.Status.Server = pick("bound", "", "n0", "n1", "n2")
		o = c
	case "maintenance":
		m := &resource.Maintenance{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: numbered("n", 3)}, ServerPower: resource.WantOff}}
		m.Metadata.Name = numbered("m", 2)
		o = m
	case "config":
		c := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: numbered("n", 3), Owner: resource.Owner{Kind: resource.PurposeClaim, Name: "c0", UID: "u"}}}
		c.Metadata.Name = numbered("c", 3)
		o = c
	case "hold":
		h := storetest.Hold("o", numbered("k", 2), numbered("n", 3))
		h.Metadata.Name, h.Status.Rack = numbered("h", 2), numbered("r", 3)
		o = h
	case "group":
		g := &resource.ServerGroup{Spec: resource.ServerGroupSpec{Selector: resource.Selector{MatchLabels: map[string]string{"a": "b"}}, Catalogue: "os"}}
		g.Metadata.Name = "workers"
		g.Default()
		g.Spec.Secrets = resource.SecretsWay(pick("secrets", "", string(resource.SecretsBMC), string(resource.SecretsSegment)))
		o = g
	case "secret":
		s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretType(pick("type", string(resource.SecretBMC), string(resource.SecretParams)))}}
		s.Metadata.Name = numbered("s", 2)
		o = s
	case "bootenv":
		e := &resource.BootEnv{}
		e.Metadata.Name = "env"
		o = e
	case "profile":
		p := &resource.Profile{}
		p.Metadata.Name = "p"
		o = p
	case "param":
		p := &resource.Param{Spec: resource.ParamSpec{Name: "p"}}
		p.Metadata.Name = "p"
		o = p
	case "template":
		p := &resource.Template{}
		p.Metadata.Name = "t"
		o = p
	}
	m := &o.Head().Metadata
	m.UID, m.Generation = "u-"+m.Name, 1
	if _, is := o.(*resource.ServerGroup); is {
		m.Generation += uint64(w.writes) // a group's status alone wakes only who takes its image
	}
	m.Labels = map[string]string{"at": strconv.Itoa(w.writes)} // what is put over itself is news
	w.writes++
	kind := resource.KindOfType(o)
	if e, err := w.mem.Get(w.t.Context(), keyOfWorld(kind, m.Name)); err == nil {
		m.Revision = e.Revision
	}
	if err := w.store.Objects.Put(w.t.Context(), o); err != nil {
		rt.Skip(err) // it is not valid so
	}
	return fmt.Sprintf("%s %s", kind, m.Name)
}

func keyOfWorld(kind resource.Kind, name string) string { return "res." + kind.Plural() + "." + name }

func (w *wakeWorld) remove(rt *rapid.T) string {
	all := map[string]resource.Object{}
	for _, kind := range resource.Kinds() {
		for _, o := range w.store.Objects.Copies(kind) {
			all[string(kind)+" "+o.Head().Metadata.Name] = o
		}
	}
	if len(all) == 0 {
		rt.Skip("nothing is there")
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(rt, "object")
	if err := w.store.Objects.Remove(w.t.Context(), all[name]); err != nil {
		rt.Skip(err)
	}
	return "no " + name
}

// beside writes what is no resource.
func (w *wakeWorld) beside(rt *rapid.T) string {
	if rapid.Bool().Draw(rt, "ledger") {
		agent := rapid.SampledFrom([]string{"a0", "a1"}).Draw(rt, "agent")
		l, err := w.store.Ledgers.Get(agent)
		if err != nil {
			rt.Fatal(err)
		}
		l.Agent, l.Peer.Incarnation = agent, rapid.SampledFrom([]string{"i", "j"}).Draw(rt, "incarnation")
		if err := w.store.Ledgers.Put(w.t.Context(), &l); err != nil {
			rt.Skip(err)
		}
		return "the ledger of " + agent
	}
	id := rapid.SampledFrom([]string{"q0", "q1"}).Draw(rt, "request")
	q, err := w.store.Requests.Get(id)
	if err != nil {
		q = store.StoredRequest{Request: resource.Request{ID: id, Server: "n0", Action: resource.RequestReboot, NotAfter: w.now.Add(time.Hour)}, Rack: "r0"}
		q.Report = resource.RequestReport{ID: id, Outcome: resource.OutcomePending}
		if _, err := w.store.Requests.Create(w.t.Context(), q); err != nil {
			rt.Skip(err)
		}
		return "request " + id
	}
	q.Report.Outcome = rapid.SampledFrom([]resource.Outcome{resource.OutcomePending, resource.OutcomeDone}).Draw(rt, "outcome")
	if err := w.store.Requests.Put(w.t.Context(), q); err != nil {
		rt.Skip(err)
	}
	return "request " + id
}

// A report with news wakes its rack, and the site where somebody waits for what it says; one
// without news wakes nobody.
func TestReportsWake(t *testing.T) {
	b, agent := joined(t)
	hello := resource.FoundBMC{Segment: "r1-boot", Address: "https://192.0.2.9", MAC: "52:54:00:00:00:09"}
	says := func(r resource.ServerReport, found ...resource.FoundBMC) []string {
		b.control.sleep()
		b.known(agent)
		b.seq[agent]++
		b.says(agent, message.LeafReport, message.Report{
			Agent: agent, Session: "s", Incarnation: "i", Seq: b.seq[agent], At: b.now, Shards: 1, Servers: []resource.ServerReport{r}, Found: found,
		})
		return b.control.wake.Racks.Take()
	}
	rack := []string{wake.RackUnit("r1")}
	expect := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s wakes %v, want %v", what, got, want)
		}
	}
	expect("the first report", says(off("n1")), rack)
	expect("the same", says(off("n1")), nil)
	later := off("n1")
	later.ReadAge, later.Observation.ReadAt, later.Observation.BootProgress = time.Second, b.now, "OSRunning"
	expect("a later read of the same", says(later), nil)
	expect("another power state", says(on("n1")), rack)
	expect("a BMC that was found", says(on("n1"), hello), rack)
	hello.At = b.now
	expect("the same BMC, seen again", says(on("n1"), hello), nil)
	expect("no BMC any more", says(on("n1")), rack)
	b.now = b.now.Add(time.Minute)
	expect("the same a minute later, which is taken over whole", says(on("n1")), nil)

	c := storetest.Claim("c1", "")
	c.Spec.ServerRef, c.Spec.ServerSelector = nil, &resource.Selector{MatchLabels: map[string]string{"no": "body"}}
	b.apply(c)
	b.pass()
	expect("news while a claim has no server", says(off("n1")), []string{wake.SiteUnit, wake.RackUnit("r1")})
	expect("no news while a claim has no server", says(off("n1")), nil)
}
