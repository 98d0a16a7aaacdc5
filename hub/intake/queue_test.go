package intake

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol/message"
)

func said(agent, leaf, what string) Message {
	return Message{Agent: agent, Leaf: leaf, Topic: message.TopicUp(agent, leaf), Payload: []byte(what)}
}

// texts is what messages say.
func texts(taken []waiting) (out []string) {
	for _, m := range taken {
		out = append(out, string(m.Payload))
	}
	return out
}

// Each row is a script: "a1" puts message 1 of agent a, ">" takes a turn, "<a" ends agent a's. What
// turns take and what is dropped, with its reason, is the answer.
func TestQueue(t *testing.T) {
	one := said("a", message.LeafHello, "a1").size()
	for _, row := range []struct {
		name   string
		bounds bounds
		all    bool
		script string
		want   string
	}{
		{"nothing waits", bounds{9, 9 * one}, false, "> >", "- -"},
		{"agents come in turn, whoever said more", bounds{9, 9 * one}, false, "a1 a2 a3 b1 > > <a <b > <a >", "a1 b1 a2 a3"},
		{"one message of an agent at a time", bounds{9, 9 * one}, false, "a1 a2 > > <a >", "a1 - a2"},
		{"an agent that speaks while its message is out comes once", bounds{9, 9 * one}, false, "a1 > a2 a3 b1 <a > > > <b <a >", "a1 b1 a2 - a3"},
		{"who comes back stands behind the others", bounds{9, 9 * one}, false, "a1 b1 b2 > a2 <a > <b > > <a >", "a1 b1 a2 b2 -"},
		{"all of an agent at once", bounds{9, 9 * one}, true, "a1 b1 a2 > a3 > <a >", "a1+a2 b1 a3"},
		{"a full line loses its oldest", bounds{2, 9 * one}, false, "a1 a2 a3 b1 > >", "!a1:line a2 b1"},
		{"what is out fills no line", bounds{1, 9 * one}, false, "a1 > a2 a3 <a >", "a1 !a2:line a3"},
		{"a full lane loses the oldest of the longest line", bounds{9, 3 * one}, false, "a1 a2 b1 c1 > > >", "!a1:lane a2 b1 c1"},
		{"also where that is the newcomer's", bounds{9, 2 * one}, false, "a1 b1 b2 > >", "!b1:lane a1 b2"},
		{"a message that is larger than the lane", bounds{9, one - 1}, false, "a1 > b1 >", "!a1:lane - !b1:lane -"},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := newQueue(row.bounds)
			var got []string
			for step := range strings.FieldsSeq(row.script) {
				switch step[0] {
				case '>':
					_, taken := q.next(row.all)
					if len(taken) == 0 {
						got = append(got, "-")
						continue
					}
					got = append(got, strings.Join(texts(taken), "+"))
				case '<':
					q.done(step[1:])
				default:
					for _, d := range q.put(said(step[:1], message.LeafHello, step), time.Time{}) {
						got = append(got, fmt.Sprintf("!%s:%s", d.Payload, d.why))
					}
				}
			}
			if want := strings.Fields(row.want); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", row.script, got, want)
			}
		})
	}
}

// Whatever comes and goes: what an agent said comes in its order, one turn of it at a time; nothing
// comes twice; what does not come was dropped; no bound is passed; nobody is passed over by another
// agent's second turn; and nothing is left of what is over.
func TestQueueKeepsOrderAndBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := bounds{line: rapid.IntRange(1, 5).Draw(t, "line"), bytes: rapid.IntRange(300, 4000).Draw(t, "bytes")}
		all := rapid.Bool().Draw(t, "all")
		q := newQueue(b)
		agents := []string{"a", "b", "c", "d"}
		spoken, came, gone := map[string]int{}, map[string]int{}, map[string]map[int]bool{"a": {}, "b": {}, "c": {}, "d": {}}
		out := map[string]bool{}
		passed := map[string]map[string]int{} // turns of others since an agent began to wait
		waits := func(agent string) bool {
			l := q.lines[agent]
			return l != nil && len(l.messages) > 0
		}
		number := func(m Message) (n int) {
			if _, err := fmt.Sscan(string(m.Payload), &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		take := func() bool {
			agent, taken := q.next(all)
			if len(taken) == 0 {
				for _, a := range agents {
					if waits(a) && !out[a] {
						t.Fatalf("%s waits, and no turn was given", a)
					}
				}
				return false
			}
			if out[agent] {
				t.Fatalf("two turns of %s at once", agent)
			}
			if !all && len(taken) != 1 {
				t.Fatalf("%d in a turn", len(taken))
			}
			out[agent] = true
			for _, m := range taken {
				n := number(m.Message)
				if m.Agent != agent || n <= came[agent] {
					t.Fatalf("%s %d after %d in a turn of %s", m.Agent, n, came[agent], agent)
				}
				for lost := came[agent] + 1; lost < n; lost++ {
					if !gone[agent][lost] {
						t.Fatalf("%s %d was neither taken nor dropped", agent, lost)
					}
				}
				came[agent] = n
			}
			delete(passed, agent)
			for _, other := range agents {
				if other != agent && waits(other) && !out[other] {
					if passed[other] == nil {
						passed[other] = map[string]int{}
					}
					if passed[other][agent]++; passed[other][agent] > 1 {
						t.Fatalf("%s had two turns while %s waited", agent, other)
					}
				}
			}
			return true
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			agent := rapid.SampledFrom(agents).Draw(t, "agent")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				spoken[agent]++
				m := said(agent, message.LeafReport, fmt.Sprint(spoken[agent], strings.Repeat(" ", rapid.IntRange(0, 300).Draw(t, "size"))))
				for _, d := range q.put(m, time.Time{}) {
					gone[d.Agent][number(d.Message)] = true
				}
			case 2:
				take()
			case 3:
				if out[agent] {
					q.done(agent)
					out[agent] = false
				}
			}
			for _, a := range agents {
				if !waits(a) {
					delete(passed, a) // it had a turn, or what waited was dropped
				}
			}
			messages, bytes := 0, 0
			for a, l := range q.lines {
				if len(l.messages) > b.line {
					t.Fatalf("%d messages of %s", len(l.messages), a)
				}
				messages += len(l.messages)
				for _, m := range l.messages {
					bytes += m.size()
				}
			}
			if messages != q.messages || bytes != q.bytes || bytes > b.bytes {
				t.Fatalf("%d messages of %d bytes wait, counted are %d of %d", messages, bytes, q.messages, q.bytes)
			}
		}
		for {
			for _, a := range agents {
				if out[a] {
					q.done(a)
					out[a] = false
				}
			}
			if !take() {
				break
			}
		}
		for _, a := range agents {
			if last := spoken[a]; last > 0 && came[a] != last && !gone[a][last] {
				t.Fatalf("the last word of %s, %d, was lost: %d", a, last, came[a])
			}
		}
		if len(q.lines) != 0 || q.messages != 0 || q.bytes != 0 || len(q.round) != 0 {
			t.Fatalf("%d lines, %d messages, %d bytes, %d in the round at the end", len(q.lines), q.messages, q.bytes, len(q.round))
		}
	})
}
