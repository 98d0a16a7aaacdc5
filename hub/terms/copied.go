package terms

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Copies says that more than one agent of one disk spoke, and who they are. It is kept, so that a hub
// that starts knows it before it hears anybody; and after somebody has said which goes on, so that the
// others are told whenever they come.
type Copies struct {
	// Since is when it was seen last that there are two.
	Since time.Time `json:"since"`
	// Incarnations are those that more than one had, the newest last.
	Incarnations []string `json:"incarnations"`
	// Runs are those that were heard since.
	Runs []resource.AgentRun `json:"runs,omitempty"`
	// Kept is what was said last of which goes on; nil is nothing yet.
	Kept *KeptRun `json:"kept,omitempty"`
}

// KeptRun is the agent that goes on.
type KeptRun struct {
	message.Kept
	Run    string    `json:"run"` // as it was when somebody said so
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	// Heard says that it has spoken with its new incarnation.
	Heard bool `json:"heard,omitempty"`
}

// The bounds of what is kept of one agent.
const (
	maxCopied = 32
	maxRuns   = 8
)

// Open says whether it is still to be heard which goes on: nobody serves the rack.
func (c *Copies) Open() bool { return c != nil && (c.Kept == nil || !c.Kept.Heard) }

// Shared says whether more than one agent had an incarnation.
func (c *Copies) Shared(incarnation string) bool {
	return c != nil && slices.Contains(c.Incarnations, incarnation)
}

// Word is what agents are told.
func (c *Copies) Word() *message.Copied {
	if c == nil {
		return nil
	}
	m := &message.Copied{Incarnations: c.Incarnations}
	if c.Kept != nil {
		kept := c.Kept.Kept
		m.Kept = &kept
	}
	return m
}

// See takes that more than one have an incarnation. It reports whether that is news.
func (c *Copies) See(incarnation string, now time.Time) bool {
	if c.Shared(incarnation) {
		return false
	}
	if !c.Open() || c.Since.IsZero() {
		c.Runs, c.Kept, c.Since = nil, nil, now
	}
	c.Incarnations = append(c.Incarnations, incarnation)
	c.Incarnations = c.Incarnations[max(0, len(c.Incarnations)-maxCopied):]
	return true
}

// runsApart is how far what is kept of when a run was heard may be behind.
const runsApart = time.Minute

// Hear takes who spoke. An agent is known by its self once it has one, before by its run. It reports
// whether that is worth a write.
func (c *Copies) Hear(r resource.AgentRun) bool {
	i := -1
	if r.Self != "" {
		i = slices.IndexFunc(c.Runs, func(o resource.AgentRun) bool { return o.Self == r.Self })
	}
	if i < 0 {
		i = slices.IndexFunc(c.Runs, func(o resource.AgentRun) bool { return o.Run == r.Run && (o.Self == "" || r.Self == "") })
	}
	if i < 0 {
		c.Runs = append(c.Runs, r)
		if len(c.Runs) > maxRuns { // the longest silent one
			slices.SortStableFunc(c.Runs, func(a, b resource.AgentRun) int { return a.Last.Compare(b.Last) })
			c.Runs = c.Runs[1:]
		}
		return true
	}
	was := c.Runs[i]
	if r.Self == "" {
		r.Self = was.Self
	}
	r.First = was.First
	if r.Last.Sub(was.Last) < runsApart {
		kept := r
		kept.Last = was.Last
		if kept.Same(was) {
			return false
		}
	}
	c.Runs[i] = r
	return true
}

// Keep takes that somebody says which run goes on, with the incarnation that it is to take. The codes
// are not_found for a run that is not known, conflict where it is decided, or the run has not said yet
// that it stands aside.
func (c *Copies) Keep(k KeptRun) error {
	const op = "keep an agent"
	if !c.Open() {
		return protocol.Errorf(protocol.CodeConflict, op, "no two agents of one disk are known, or it was heard already which goes on").
			WithHint("rackctl get agents shows whether AgentCopied is so")
	}
	var found []resource.AgentRun
	for _, r := range c.Runs {
		if k.Run != "" && (r.Run == k.Run || r.Self == k.Run || len(k.Run) >= shortRun && strings.HasPrefix(r.Run, k.Run)) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 0:
		return protocol.Errorf(protocol.CodeNotFound, op, "no run %q of the agent was heard since its disk was copied", k.Run).
			WithHint("rackctl describe agent AGENT lists the runs")
	case len(found) > 1:
		return protocol.Errorf(protocol.CodeConflict, op, "%d agents are meant by %q", len(found), k.Run).
			WithHint("give more of the run, or its self: rackctl describe agent AGENT -o yaml")
	}
	r := found[0]
	switch {
	case r.Self == "":
		return protocol.Errorf(protocol.CodeConflict, op, "run %s has not said yet that it stands aside", r.Run).
			WithHint("wait until it has been heard; rackctl describe agent AGENT shows its self then")
	case c.Kept != nil && c.Kept.Self == r.Self:
		return nil // said before; it is told until it has heard
	default:
		k.Self = r.Self
	}
	if c.Kept != nil { // it may have taken that one, and is told that another goes on
		c.Incarnations = append(c.Incarnations, c.Kept.Incarnation)
		c.Incarnations = c.Incarnations[max(0, len(c.Incarnations)-maxCopied):]
	}
	k.Run = r.Run
	c.Kept = &k
	return nil
}

// shortRun is how much of a run's id names it.
const shortRun = 4

func copiesKey(agent string) string { return "copies-" + agent }

// CopiesOf reads what is known of copies of an agent's disk; nil is nothing. It is read from memory.
func (t *Terms) CopiesOf(agent string) *Copies {
	c, _, err := t.copies(agent)
	if err != nil {
		// That there were two is known by it alone.
		t.log.Error("cannot read which agents of one disk there are", "agent", agent, "err", err)
		return &Copies{}
	}
	return c
}

func (t *Terms) copies(agent string) (*Copies, uint64, error) {
	if !protocol.ValidName(agent) {
		return nil, 0, nil
	}
	raw, revision, err := t.meta.Get(copiesKey(agent))
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil, revision, nil
	}
	if err != nil {
		return nil, revision, err
	}
	var c Copies
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, revision, err
	}
	return &c, revision, nil
}

// ChangeCopies changes what is kept of copies of an agent's disk; change says whether there is something
// to write, and is called again after somebody else has written.
func (t *Terms) ChangeCopies(ctx context.Context, agent string, change func(*Copies) (bool, error)) error {
	for try := 1; ; try++ {
		c, revision, err := t.copies(agent)
		if err != nil {
			return err
		}
		if c == nil {
			c = &Copies{}
		}
		if news, err := change(c); err != nil || !news {
			return err
		}
		raw, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err = t.meta.Put(ctx, copiesKey(agent), raw, revision); protocol.CodeOf(err) != protocol.CodeConflict || try == endTries {
			if err == nil {
				t.crash.At("hub.copies.written")
			}
			return err
		}
	}
}
