package judge

import (
	"slices"
	"strings"
	"testing"
)

// Each lie about what was uploaded is found.
func TestUploads(t *testing.T) {
	upload := func(name, digest string, from, to Time, r Result) Op {
		return Op{Kind: OpUpload, Target: name, Digest: digest, Begun: from * sec, Ended: to * sec, Result: r, AuditOp: "apply", AuditTarget: "ISO/" + name}
	}
	file := func(digest string) File { return File{Digest: digest, Content: digest} }
	for _, c := range []struct {
		name string
		lie  func(h *History)
		why  string // empty: none is broken
	}{
		{"the truth", func(*History) {}, ""},
		{"a hub that lacks one", func(h *History) { delete(h.Files["hub2"], "b") }, "b was uploaded, and hub2 does not have it"},
		{"an earlier one", func(h *History) { h.Files["hub1"]["a"] = file("1") }, "hub1 has a as 1"},
		{"other bytes", func(h *History) { h.Files["hub1"]["a"] = File{Digest: "2", Content: "1"} }, "says that a is 2"},
		{"no bytes", func(h *History) { h.Files["hub1"]["a"] = File{Digest: "2"} }, "says that a is 2"},
		{"one that may have come after it", func(h *History) {
			h.Ops = append(h.Ops, upload("a", "3", 71, 72, Unknown))
			h.Files["hub1"]["a"], h.Files["hub2"]["a"] = file("3"), file("3")
		}, ""},
		{"one that may have come after it, and did not", func(h *History) { h.Ops = append(h.Ops, upload("a", "3", 71, 72, Unknown)) }, ""},
		{"one that was refused", func(h *History) {
			h.Ops = append(h.Ops, upload("a", "3", 71, 72, Refused))
			h.Files["hub1"]["a"] = file("3")
		}, "hub1 has a as 3"},
		{"one that nobody knows of, before", func(h *History) {
			h.Ops = append(h.Ops, upload("a", "0", 60, 61, Unknown))
			h.Files["hub1"]["a"] = file("0")
		}, "hub1 has a as 0"},
		{"no rest", func(h *History) { h.Quiet, h.Files = false, nil }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := honestHubs()
			h.Ops = append(h.Ops, upload("a", "1", 62, 63, Accepted), upload("a", "2", 64, 65, Accepted), upload("b", "4", 66, 67, Accepted))
			for range h.Ops {
				h.Audit = append(h.Audit, AuditEntry{Op: "apply", Target: "ISO/a", Outcome: "asked"}, AuditEntry{Op: "apply", Target: "ISO/b", Outcome: "asked"})
			}
			h.Files = map[string]map[string]File{"hub1": {"a": file("2"), "b": file("4")}, "hub2": {"a": file("2"), "b": file("4")}}
			c.lie(&h)
			v := Judge(h)
			if c.why == "" && len(v.Violations) > 0 {
				t.Fatalf("broken: %+v", v.Violations)
			}
			if c.why != "" && !slices.ContainsFunc(v.Violations, func(x Violation) bool { return x.Promise == NotLost && strings.Contains(x.Why, c.why) }) {
				t.Errorf("%q is not found: %+v", c.why, v.Violations)
			}
			if len(v.Violations) > 1 {
				t.Errorf("broken too: %+v", v.Violations)
			}
		})
	}
}
