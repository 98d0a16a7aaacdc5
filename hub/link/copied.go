package link

import (
	"strings"
	"time"

	"rackboot/hub/terms"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// diskWord is what a Hello says where two agents of one disk are known, or it says so itself.
type diskWord string

const (
	diskOwn     diskWord = "own"     // nothing of that
	diskAsk     diskWord = "ask"     // whether it is new is not sure
	diskSee     diskWord = "see"     // it stands aside, and this hub does not know why: it was restored from an older copy
	diskTell    diskWord = "tell"    // one of them, or one with another disk meanwhile: nothing is concluded
	diskGoesOn  diskWord = "goes on" // the one that somebody chose, with its new incarnation
	diskRetired diskWord = "retired" // one that was not chosen, and comes back
)

// diskRule says what to make of a Hello with respect to copies of its disk. The first row that fits
// decides.
//
//	shared | kept | open | aside | sure | word
//	yes    | *    | no   | *     | *    | retired
//	*      | *    | yes  | *     | no   | ask
//	yes    | *    | yes  | *     | yes  | tell
//	no     | yes  | yes  | *     | yes  | goes on
//	no     | no   | yes  | *     | yes  | tell
//	no     | *    | no   | yes   | no   | ask
//	no     | *    | no   | yes   | yes  | see
//	no     | *    | no   | no    | *    | own
//
// shared is that more than one had its incarnation, kept that it is the one that somebody chose, open that
// the chosen one was not heard yet, aside that the agent says that it stands aside, and sure that it is
// certainly new.
func diskRule(shared, kept, open, aside, sure bool) diskWord {
	switch {
	case shared && !open:
		return diskRetired
	case open && !sure:
		return diskAsk
	case open && kept && !shared:
		return diskGoesOn
	case open:
		return diskTell
	case aside && !sure:
		return diskAsk
	case aside:
		return diskSee
	}
	return diskOwn
}

func diskWordOf(c *terms.Copies, m message.Hello, p proof) diskWord {
	kept := c != nil && c.Kept != nil && c.Kept.Incarnation == m.Incarnation
	return diskRule(c.Shared(m.Incarnation), kept, c.Open(), m.Self != "", p == proofSure)
}

// runOf is what a Hello says of its agent.
func runOf(m message.Hello, now time.Time) resource.AgentRun {
	return resource.AgentRun{
		Run: clipped(m.Run), Self: clipped(m.Self), Incarnation: m.Incarnation, Host: clipped(m.Host), Addresses: m.Addresses[:min(len(m.Addresses), maxAddresses)],
		Version: m.Version, First: now, Last: now,
	}
}

// maxAddresses and maxWord bound what is kept of where an agent says that it runs.
const (
	maxAddresses = 8
	maxWord      = 255
)

func clipped(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxWord)], "") }

// runsText is who spoke, for people.
func runsText(runs []resource.AgentRun) string {
	var out []string
	for _, r := range runs {
		text := "run " + r.Run
		if r.Host != "" {
			text += " on " + r.Host
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// copiedCondition is that of an agent of whose disk there are several; nil of another.
func copiedCondition(c *terms.Copies) *resource.ConditionState {
	if !c.Open() {
		return nil
	}
	text := runsText(c.Runs)
	if c.Kept != nil {
		text += "; run " + c.Kept.Run + " goes on when it is heard"
	}
	return &resource.ConditionState{Code: resource.CondAgentCopied, Since: c.Since, Message: text}
}

// notAlone asks of an agent that is known to have a twin: its documents are not sent, and nothing
// that it says of them counts.
func notAlone(c Config, agent string) bool { return c.Terms.CopiesOf(agent).Open() }
