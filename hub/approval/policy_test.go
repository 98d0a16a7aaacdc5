package approval

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// rows reads the table in the comment of a function; its first row is the header.
func rows(t *testing.T, function string) (out [][]string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "policy.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}
		for line := range strings.Lines(fn.Doc.Text()) {
			if strings.Contains(line, "|") {
				var cells []string
				for c := range strings.SplitSeq(line, "|") {
					cells = append(cells, strings.TrimSpace(c))
				}
				out = append(out, cells)
			}
		}
	}
	if len(out) < 2 {
		t.Fatalf("no table in the comment of %s", function)
	}
	return out[1:]
}

// TestGrantTable compares the comment with the code for all combinations.
func TestGrantTable(t *testing.T) {
	table := rows(t, "grantRule")
	used := make([]bool, len(table))
	yesno := []string{"yes", "no"}
	values := [][]string{yesno, {"over", "granted", "pending"}, {"stale", "now"}, yesno, {"no", "sole", "yes"}, yesno}
	var walk func(in []string)
	walk = func(in []string) {
		if len(in) < len(values) {
			for _, v := range values[len(in)] {
				walk(append(slices.Clone(in), v))
			}
			return
		}
		got := grantRule(in[0] == "yes", step(in[1]), in[2] == "stale", in[3] == "yes", last(in[4]), in[5] == "yes")
		for i, row := range table {
			if slices.EqualFunc(in, row[:len(in)], func(v, cell string) bool { return cell == "*" || cell == v }) {
				used[i] = true
				if string(got) != row[len(in)] {
					t.Errorf("%v: %q, the table says %q", in, got, row[len(in)])
				}
				return
			}
		}
		t.Errorf("%v: no row", in)
	}
	walk(nil)
	for i, u := range used {
		if !u {
			t.Errorf("row %d decides nothing", i+1)
		}
	}
}

func TestWantsTable(t *testing.T) {
	for _, row := range rows(t, "Wants") {
		for _, key := range []bool{true, false} {
			for _, named := range []bool{true, false} {
				if row[0] != yes(key) || row[1] != "*" && row[1] != yes(named) {
					continue
				}
				p := Policy{}
				if named {
					p[resource.ApproveHoldOverride] = 1
				}
				if got := p.Wants(resource.ApproveHoldOverride, key); got != (row[2] == "waits") {
					t.Errorf("key %t, named %t: %t, the table says %s", key, named, got, row[2])
				}
			}
		}
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func pendingOf(class resource.ApprovalClass, targets ...string) resource.ApprovalRequest {
	return resource.ApprovalRequest{
		Approval: resource.Approval{ID: "a1", Class: class, Rack: "r1", Targets: targets}, State: resource.ApprovalPending, Version: 1, Approvers: 2,
	}
}

// Who asked may grant the first of two, and never the second.
func TestMayGrant(t *testing.T) {
	r := pendingOf(resource.ApproveBulkStop, "n1")
	r.Asked = []string{"pacemaker", "bob"}
	granted := r
	granted.By = []string{"alice"}
	sole := r
	sole.Approvers = 1
	for _, tt := range []struct {
		name    string
		r       resource.ApprovalRequest
		version int
		by      string
		right   bool
		want    Verdict
	}{
		{"the first of two", r, 1, "alice", true, GrantMore},
		{"the asker first", r, 1, "bob", true, GrantMore},
		{"the asker second", granted, 1, "bob", true, GrantItself},
		{"a third person second", granted, 1, "carol", true, GrantDone},
		{"the same twice", granted, 1, "alice", true, GrantAgain},
		{"the asker where one is enough", sole, 1, "bob", true, GrantDone},
		{"after it changed", r, 0, "alice", true, GrantStale},
		{"without the right", r, 1, "eve", false, GrantRight},
	} {
		if got := MayGrant(tt.r, tt.version, tt.by, tt.right); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, s := range []resource.ApprovalState{resource.ApprovalDenied, resource.ApprovalExpired, resource.ApprovalEnded} {
		over := r
		if over.State = s; MayGrant(over, 1, "alice", true) != GrantOver {
			t.Errorf("%s can be granted", s)
		}
	}
}

// What somebody has granted does not change any more; what nobody has, grows.
func TestOpen(t *testing.T) {
	need := func(target string) Need {
		return Need{Class: resource.ApproveBulkStop, Rack: "r1", Target: target, Asked: []string{"ha"}}
	}
	made := 0
	fresh := func(n Need) (resource.ApprovalRequest, bool) {
		made++
		r := pendingOf(n.Class)
		r.ID, r.Version = "new", 0
		return r, made <= 1
	}
	pending := pendingOf(resource.ApproveBulkStop, "n1")
	granted := pendingOf(resource.ApproveBulkStop, "n2")
	granted.ID, granted.By = "a2", []string{"alice"}

	got := Open([]resource.ApprovalRequest{pending, granted}, []Need{need("n1"), need("n2"), need("n3"), need("n4")}, fresh)
	if len(got) != 1 || got[0].ID != "a1" || got[0].Version != 2 || !slices.Equal(got[0].Targets, []string{"n1", "n3", "n4"}) || !slices.Equal(got[0].Asked, []string{"ha"}) {
		t.Errorf("grown: %+v", got)
	}
	if len(pending.Targets) != 1 {
		t.Error("what was given was changed")
	}
	got = Open([]resource.ApprovalRequest{granted}, []Need{need("n2"), need("n3")}, fresh)
	if len(got) != 1 || got[0].ID != "new" || !slices.Equal(got[0].Targets, []string{"n3"}) || got[0].Version != 1 {
		t.Errorf("beside one that is granted: %+v", got)
	}
	if got = Open([]resource.ApprovalRequest{granted}, []Need{need("n4")}, fresh); len(got) != 0 {
		t.Errorf("without room: %+v", got)
	}
}

// An approval of a boot is for one owner: another one of the same server is asked for anew.
func TestOpenBoots(t *testing.T) {
	need := func(target, owner string) Need {
		return Need{Class: resource.ApproveWipe, Rack: "r1", Target: target, Boot: &resource.ApprovedBoot{Server: target, Owner: owner, BootEnv: "e"}}
	}
	fresh := func(n Need) (resource.ApprovalRequest, bool) {
		r := pendingOf(n.Class)
		r.ID = "new"
		return r, true
	}
	got := Open(nil, []Need{need("n2", "u2"), need("n1", "u1"), need("n1", "u9")}, fresh)
	if len(got) != 2 || !slices.Equal(got[0].Targets, []string{"n1", "n2"}) || len(got[0].Boots) != 2 || got[0].Boots[0].Server != "n1" || got[0].Boots[0].Owner != "u1" ||
		len(got[1].Boots) != 1 || got[1].Boots[0].Owner != "u9" {
		t.Fatalf("%+v", got)
	}
	if again := Open(got, []Need{need("n1", "u1"), need("n1", "u9")}, fresh); len(again) != 0 {
		t.Errorf("asked for again: %+v", again)
	}
	if n := need("n1", "u2"); Covers(got[0].Approval, n) || !Covers(got[0].Approval, need("n1", "u1")) {
		t.Error("covers another owner, or not its own")
	}
}
