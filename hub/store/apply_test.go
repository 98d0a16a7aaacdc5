package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

func TestApplyOutcomes(t *testing.T) {
	s := open(t, storetest.NewMemory())
	for _, r := range apply(t, s, storetest.Site()...) {
		if r.Outcome != Created || r.Object.Head().Metadata.Generation != 1 {
			t.Errorf("%s %s: %s, generation %d", r.Kind, r.Name, r.Outcome, r.Object.Head().Metadata.Generation)
		}
	}
	for _, r := range apply(t, s, storetest.Site()...) {
		if r.Outcome != Unchanged {
			t.Errorf("%s %s again: %s", r.Kind, r.Name, r.Outcome)
		}
	}
	before, _ := Get[*resource.Rack](s.Objects, "r1")

	labelled := storetest.Rack("r1")
	labelled.Metadata.Labels = map[string]string{"row": "7"}
	r := apply(t, s, labelled)[0]
	m := r.Object.Head().Metadata
	if r.Outcome != Configured || m.Generation != 1 || m.UID != before.Metadata.UID || m.Revision <= before.Metadata.Revision {
		t.Errorf("new label: %s, %+v", r.Outcome, m)
	}
	described := storetest.Rack("r1")
	described.Spec.Description = "row 7"
	described.Status.Agent = "not for people to write"
	r = apply(t, s, described)[0]
	got, _ := Get[*resource.Rack](s.Objects, "r1")
	if r.Outcome != Configured || got.Metadata.Generation != 2 || len(got.Metadata.Labels) != 0 || got.Status.Agent != "" {
		t.Errorf("new spec: %s, %+v", r.Outcome, got)
	}
	if described.Metadata.UID != "" || described.Status.Agent == "" {
		t.Error("Apply changed its input")
	}
}

func TestApplyKeepsTheHubsStatus(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Rack("r1"))
	rack, _ := Get[*resource.Rack](s.Objects, "r1")
	rack.Status = resource.RackStatus{Agent: "a1", Term: 3}
	if err := s.Objects.Put(t.Context(), rack); err != nil {
		t.Fatal(err)
	}
	again := storetest.Rack("r1")
	again.Spec.Description = "x"
	apply(t, s, again)
	if rack, _ = Get[*resource.Rack](s.Objects, "r1"); rack.Status.Term != 3 || rack.Spec.Description != "x" {
		t.Fatalf("got %+v", rack)
	}
}

func TestApplyRefuses(t *testing.T) {
	with := func(objs ...resource.Object) []resource.Object { return objs }
	server := func(name, bmc, mac string, edit func(*resource.Server)) *resource.Server {
		srv := storetest.Server(name, bmc, "boot", mac)
		if edit != nil {
			edit(srv)
		}
		return srv
	}
	claims := func(server string, f resource.FirstBoot) *resource.Claim {
		c := storetest.Claim("c9", server)
		c.Spec.BootPolicy.FirstBoot = f
		return c
	}
	quiet := func() *resource.Segment {
		s := storetest.Segment("quiet", "r1")
		s.Spec.Prefix, s.Spec.Address, s.Spec.Pool = "10.9.0.0/24", "10.9.0.1", resource.Pool{From: "10.9.0.100", To: "10.9.0.200"}
		s.Spec.Service = &resource.SegmentService{Mode: resource.ServiceNone}
		return s
	}
	meta := func(uid string, revision uint64) *resource.Rack {
		r := storetest.Rack("r1")
		r.Metadata.UID, r.Metadata.Revision = uid, revision
		return r
	}
	for _, row := range []struct {
		name  string
		objs  []resource.Object
		code  protocol.Code
		index int
		path  string
		says  string
	}{
		{"dangling reference", with(storetest.Rack("r9"), storetest.BMC("b9", "nowhere")), protocol.CodeInvalid, 1, "spec.rackRef.name", `Rack "nowhere" does not exist`},
		{"twice in the set", with(storetest.Rack("r9"), storetest.Rack("r9")), protocol.CodeInvalid, 1, "metadata.name", "twice"},
		{"wrong field", with(storetest.Rack("Bad_Name")), protocol.CodeInvalid, 0, "metadata.name", "not a name"},
		{"made by the hub", with(storetest.Hold("admin", "k", "n1")), protocol.CodeInvalid, 0, "kind", "cannot be applied"},
		{"MAC of a stored server", with(storetest.BMC("b3", "r1"), server("n3", "b3", "52:54:00:00:00:01", nil)), protocol.CodeInvalid, 1, "spec.bootMAC", `server "n1"`},
		{
			"MAC within the set", with(storetest.BMC("b3", "r1"), storetest.BMC("b4", "r1"), server("n3", "b3", "52:54:00:00:00:03", nil),
				server("n4", "b4", "52:54:00:00:00:04", func(s *resource.Server) { s.Spec.MACs = []string{"52:54:00:00:00:05", "52:54:00:00:00:03"} })),
			protocol.CodeInvalid, 3, "spec.macs[1]", `server "n3"`,
		},
		{"second server without systemURI", with(server("n3", "b1", "52:54:00:00:00:03", nil)), protocol.CodeInvalid, 0, "spec.systemURI", `server "n1"`},
		{
			"BMC and segment in two racks", with(storetest.Rack("r2"), storetest.BMC("b3", "r2"), server("n3", "b3", "52:54:00:00:00:03", nil)),
			protocol.CodeInvalid, 2, "spec.segmentRef.name", "one rack",
		},
		{"BMC moves rack", with(storetest.Rack("r2"), storetest.BMC("b1", "r2")), protocol.CodeInvalid, 1, "spec.rackRef.name", "cannot move"},
		{"held server changes BMC", with(storetest.BMC("b3", "r1"), server("n1", "b3", "52:54:00:00:00:01", nil)), protocol.CodeInvalid, 1, "spec.bmcRef.name", "in use by Hold/"},
		{
			"a first boot that does not come to the server", with(storetest.BMC("b3", "r1"), server("n3", "b3", "52:54:00:00:00:03", func(s *resource.Server) { s.Spec.Reach = resource.ReachVMedia }), claims("n3", resource.FirstBootPxe)),
			protocol.CodeInvalid, 2, "spec.bootPolicy.firstBoot", "Pxe: server n3 has reach vmedia, so that its firmware asks nobody for Pxe; use VirtualMedia",
		},
		{
			"by PXE, of which no BMC is told", with(storetest.BMC("b3", "r1"), server("n3", "b3", "52:54:00:00:00:03", func(s *resource.Server) { s.Spec.Reach = resource.ReachURI }), claims("n3", resource.FirstBootPxe)),
			protocol.CodeInvalid, 2, "spec.bootPolicy.firstBoot", "use UefiHttp or VirtualMedia, or give it reach segment",
		},
		{
			"on a segment where nobody answers", with(quiet(), storetest.BMC("b3", "r1"), server("n3", "b3", "52:54:00:00:00:03", func(s *resource.Server) { s.Spec.SegmentRef.Name = "quiet" }), claims("n3", resource.FirstBootPxe)),
			protocol.CodeInvalid, 3, "spec.bootPolicy.firstBoot", "its segment quiet has service mode none",
		},
		{"another reach", with(server("n1", "b1", "52:54:00:00:00:01", func(s *resource.Server) { s.Spec.Reach = "radio" })), protocol.CodeInvalid, 0, "spec.reach", "radio"},
		{"other uid", with(meta("other", 0)), protocol.CodeConflict, 0, "metadata.uid", "created again"},
		{"other revision", with(meta("", 999)), protocol.CodeConflict, 0, "metadata.revision", "stored revision"},
	} {
		t.Run(row.name, func(t *testing.T) {
			mem := storetest.NewMemory()
			s := open(t, mem)
			apply(t, s, storetest.Site()...)
			if _, err := s.Holds.Create(t.Context(), storetest.Hold("admin", "k", "n1")); err != nil {
				t.Fatal(err)
			}
			before, revision, _ := mem.List(t.Context(), "")
			_, err := s.Sets.Apply(t.Context(), row.objs, ApplyOptions{})
			wantCode(t, err, row.code)
			var list ApplyErrors
			if !errors.As(err, &list) || len(list) != 1 || len(list[0].FieldErrors) != 1 {
				t.Fatalf("want one field error, got %v", err)
			}
			f := list[0].FieldErrors[0]
			if list[0].Index != row.index || f.Path != row.path || !strings.Contains(f.Message, row.says) {
				t.Errorf("got object %d, %s: %s", list[0].Index, f.Path, f.Message)
			}
			if after, now, _ := mem.List(t.Context(), ""); now != revision || len(after) != len(before) {
				t.Error("something was written")
			}
		})
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	res, err := s.Sets.Apply(t.Context(), storetest.Site(), ApplyOptions{DryRun: true})
	if err != nil || res[0].Outcome != Created {
		t.Fatalf("%v, %v", res, err)
	}
	if _, revision, _ := mem.List(t.Context(), ""); revision != 0 {
		t.Fatal("a dry run wrote")
	}
}

// An Apply is cut off at each of its keys once: nothing is stored then, and the same Apply
// stores everything.
func TestApplyIsWhole(t *testing.T) {
	set := storetest.Site()
	for cut := range set {
		mem := storetest.NewMemory()
		s := open(t, mem)
		cutAt(mem, cut)
		_, err := s.Sets.Apply(t.Context(), set, ApplyOptions{})
		wantCode(t, err, protocol.CodeUnavailable)
		mem.BeforeWrite = nil
		if entries, _, err := mem.List(t.Context(), ""); err != nil || len(entries) > 0 {
			t.Errorf("cut at %d: %d stored, %v", cut, len(entries), err)
		}
		s = open(t, mem)
		for _, r := range apply(t, s, set...) {
			if r.Outcome != Created {
				t.Errorf("cut at %d: %s %s was %s", cut, r.Kind, r.Name, r.Outcome)
			}
		}
	}
}

// cutAt lets so many keys be written, and then none.
func cutAt(mem *storetest.Memory, left int) {
	mem.BeforeWrite = func(string) error {
		if left--; left < 0 {
			return errors.New("crash")
		}
		return nil
	}
}

// A set that is larger than a commit is cut off in each of its parts. What is stored then has no
// dangling reference, and the same Apply completes it.
func TestApplyOfALargeSetAfterACrash(t *testing.T) {
	var set []resource.Object
	for i := range state.MaxOps {
		rack := fmt.Sprintf("r%d", i)
		set = append(set, storetest.BMC("b"+rack, rack), storetest.Segment("s"+rack, rack), storetest.Rack(rack))
	}
	for _, cut := range []int{state.MaxOps - 1, state.MaxOps + 1, 3*state.MaxOps - 1} {
		mem := storetest.NewMemory()
		s := open(t, mem)
		cutAt(mem, cut)
		_, err := s.Sets.Apply(t.Context(), set, ApplyOptions{})
		wantCode(t, err, protocol.CodeUnavailable)
		mem.BeforeWrite = nil
		s = open(t, mem)
		stored := 0
		for _, kind := range resource.Kinds() {
			for _, obj := range s.Objects.Copies(kind) {
				stored++
				if r, ok := obj.(resource.Referrer); ok {
					for _, ref := range r.References() {
						if _, err := s.Objects.Get(ref.Kind, ref.Name); err != nil {
							t.Errorf("cut at %d: %s dangles: %v", cut, ref.Path, err)
						}
					}
				}
			}
		}
		want := 0 // racks, and then whatever checks its rack besides
		if part := state.MaxOps / 2; cut >= state.MaxOps {
			want = state.MaxOps + (cut-state.MaxOps)/part*part
		}
		if stored != want {
			t.Errorf("cut at %d: %d stored, want %d", cut, stored, want)
		}
		apply(t, s, set...)
		for _, r := range apply(t, s, set...) {
			if r.Outcome != Unchanged || r.Object.Head().Metadata.Generation != 1 {
				t.Fatalf("cut at %d: %s %s was %s", cut, r.Kind, r.Name, r.Outcome)
			}
		}
	}
}

func TestApplyWinsOverAStaleMirror(t *testing.T) {
	mem := storetest.NewMemory()
	one, two := open(t, mem), open(t, mem)
	apply(t, one, storetest.Rack("r1"))
	rack, _ := Get[*resource.Rack](one.Objects, "r1")
	rack.Status.Agent = "a1"
	if err := one.Objects.Put(t.Context(), rack); err != nil {
		t.Fatal(err)
	}
	changed := storetest.Rack("r1")
	changed.Spec.Description = "x"
	if r := apply(t, two, changed)[0]; r.Outcome != Configured {
		t.Fatalf("outcome %s", r.Outcome)
	}
	if rack, _ = Get[*resource.Rack](two.Objects, "r1"); rack.Status.Agent != "a1" || rack.Spec.Description != "x" {
		t.Fatalf("got %+v", rack)
	}
}
