package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/integration/powerlog"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	sec    = Time(time.Second)
	server = "n1"
)

// honest is a storm in which everything was kept: a claim, its two boots, a reboot, a hold
// with its receipt, its release. Each row of the test tells one lie in it.
func honest() History {
	log := func(at Time, what powerlog.What, detail string) powerlog.Entry {
		return powerlog.Entry{At: at * sec, What: what, Detail: detail}
	}
	grant := Grant{Server: server, Claim: "c1", OwnerUID: "u1", Generation: 1}
	installed := grant
	installed.Provisioned = true
	poll := func(at Time, grants []Grant, holds []Hold, requests []Request) Poll {
		return Poll{From: at * sec, To: at*sec + sec/2, Grants: grants, Holds: holds, Requests: requests, Claims: []string{"c1"}}
	}
	hold := func(state resource.HoldState, released bool) []Hold {
		return []Hold{{ID: "h1", Server: server, Key: "k1", State: state, Released: released}}
	}
	request := func(o resource.Outcome) []Request {
		return []Request{{ID: "r1", Server: server, Ref: "f1", Action: resource.RequestReboot, Outcome: o}}
	}
	op := func(kind OpKind, target, ref string, from, to Time, auditOp, auditTarget string) Op {
		return Op{Kind: kind, Server: server, Target: target, Ref: ref, Begun: from * sec, Ended: to * sec, Result: Accepted, AuditOp: auditOp, AuditTarget: auditTarget}
	}
	fence := op(OpHold, "h1", "k1", 40, 45, "hold", "Server/n1")
	fence.Fenced = true
	return History{
		Machines: map[string][]powerlog.Entry{server: {
			log(1, powerlog.Start, ""), log(11, powerlog.On, ""), log(12, powerlog.Network, "http://agent/t/x"), log(13, powerlog.Installed, "sha256:a"),
			log(14, powerlog.Off, ""), log(16, powerlog.On, ""), log(17, powerlog.Disk, "sha256:a"),
			log(31, powerlog.Off, ""), log(32, powerlog.On, ""), log(33, powerlog.Disk, "sha256:a"),
			log(41, powerlog.Off, ""), log(62, powerlog.On, ""), log(63, powerlog.Disk, "sha256:a"),
		}},
		Ops: []Op{
			op(OpClaim, "c1", "", 9, 10, "apply", "Claim/c1"),
			op(OpReboot, "r1", "f1", 30, 30, "reboot", "Server/n1"),
			fence,
			op(OpRelease, "h1", "", 60, 61, "release", "Hold/h1"),
			op(OpVerify, "", "", 69, 70, "", ""),
		},
		Polls: []Poll{
			poll(10, []Grant{grant}, nil, nil),
			poll(20, []Grant{installed}, nil, nil),
			poll(30, []Grant{installed}, nil, request(resource.OutcomePending)),
			poll(39, []Grant{installed}, nil, request(resource.OutcomeDone)),
			poll(46, []Grant{installed}, hold(resource.StateFenced, false), request(resource.OutcomeDone)),
			poll(59, []Grant{installed}, hold(resource.StateFenced, false), request(resource.OutcomeDone)),
			poll(70, []Grant{installed}, hold(resource.StateReleasing, true), request(resource.OutcomeDone)),
		},
		Audit: []AuditEntry{
			{"apply", "Claim/c1", protocol.AuditAsked},
			{"apply", "Claim/c1", protocol.AuditAccepted},
			{"reboot", "Server/n1", protocol.AuditAsked},
			{"hold", "Server/n1", protocol.AuditAsked},
			{"release", "Hold/h1", protocol.AuditAsked},
		},
		Recoveries: []Recovery{{From: 30 * sec, To: 31 * sec}},
		AuditRead:  true, Claimed: []string{server}, Quiet: true, End: 71 * sec,
	}
}

// insert adds entries to the machine's log, in order.
func insert(h *History, all ...powerlog.Entry) {
	log := append(h.Machines[server], all...)
	slices.SortStableFunc(log, func(a, b powerlog.Entry) int { return int((a.At - b.At) / sec) })
	h.Machines[server] = log
}

func entry(at Time, what powerlog.What) powerlog.Entry {
	return powerlog.Entry{At: at * sec, What: what}
}

// drop removes the machine's entries at a second.
func drop(h *History, at Time) {
	h.Machines[server] = slices.DeleteFunc(h.Machines[server], func(e powerlog.Entry) bool { return e.At == at*sec })
}

// unclaimed has the server's claim deleted at a second, after which nothing boots it.
func unclaimed(h *History, at Time) {
	for _, boot := range []Time{32, 33, 62, 63} {
		drop(h, boot)
	}
	h.Ops = append(h.Ops, Op{Kind: OpUnclaim, Server: server, Target: "c1", Begun: at * sec, Ended: (at + 1) * sec, Result: Accepted, AuditOp: "apply", AuditTarget: "Claim/c1"})
	h.Audit = append(h.Audit, AuditEntry{"apply", "Claim/c1", protocol.AuditAsked})
	for i := range h.Polls {
		if h.Polls[i].From > at*sec {
			h.Polls[i].Claims = nil
		}
	}
	h.Claimed = nil
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name string
		lie  func(*History)
		want []Promise // broken, each at least once and no other
		why  string    // in one of them
	}{
		{"all kept", func(*History) {}, nil, ""},
		// recovers
		{"an agent that somebody had to start", func(h *History) {
			h.Recoveries = append(h.Recoveries, Recovery{From: 20 * sec, To: 22 * sec, By: "agent was started again by hand"})
		}, []Promise{Recovers}, "by hand"},
		// no-on
		{"on under a receipt", func(h *History) { insert(h, entry(50, powerlog.On), entry(51, powerlog.Off)) }, []Promise{NoOn, NotDoubled}, "after the receipt of hold h1"},
		{"on, off and on again under a receipt that only the operator was told of", func(h *History) {
			h.Polls = slices.Delete(h.Polls, 4, 6)
			insert(h, entry(46, powerlog.On), entry(47, powerlog.Off))
		}, []Promise{NoOn, NotDoubled}, "1s after the receipt"},
		{"a reset under a receipt", func(h *History) { insert(h, entry(50, powerlog.Reset)) }, []Promise{NoOn, NotDoubled}, "reset"},
		{"on before the receipt was seen", func(h *History) {
			insert(h, entry(42, powerlog.On), entry(43, powerlog.Off))
			h.Ops[0].Kind, h.Ops = OpClaim, append(h.Ops, Op{Kind: OpReboot, Server: server, Result: Unknown, Begun: 35 * sec, Ended: 36 * sec})
		}, nil, ""},
		{"on after a release whose answer was lost", func(h *History) {
			h.Ops[3].Result = Unknown
		}, nil, ""},
		{"on after a release that was refused", func(h *History) { h.Ops[3].Result = Refused }, []Promise{NoOn, NotLost, NotDoubled}, "after the receipt"},
		{"a person's on under a receipt, forced off at once", func(h *History) {
			insert(h, entry(50, powerlog.Button), entry(50, powerlog.On), entry(52, powerlog.Off))
		}, nil, ""},
		{"ours after a person's", func(h *History) {
			insert(h, entry(50, powerlog.Button), entry(50, powerlog.On), entry(52, powerlog.Off), entry(53, powerlog.On), entry(54, powerlog.Off))
		}, []Promise{NoOn, NotDoubled}, "after the receipt"},
		// one-boot
		{"two network boots for a grant", func(h *History) { insert(h, entry(18, powerlog.Network)) }, []Promise{OneBoot}, "a network boot too many: 1 grants"},
		{"one more that an operator asked for", func(h *History) {
			h.Ops = append(h.Ops, Op{Kind: OpResume, Server: server, Retry: true, Begun: 15 * sec, Ended: 15 * sec, Result: Unknown})
			insert(h, entry(18, powerlog.Network))
		}, nil, ""},
		{"one more than an operator asked for", func(h *History) {
			h.Ops = append(h.Ops, Op{Kind: OpResume, Server: server, Retry: true, Begun: 15 * sec, Ended: 15 * sec, Result: Unknown})
			insert(h, entry(18, powerlog.Network), entry(19, powerlog.Network))
		}, []Promise{OneBoot}, "too many"},
		{"one before an operator asked for it", func(h *History) {
			h.Ops = append(h.Ops, Op{Kind: OpResume, Server: server, Retry: true, Begun: 19 * sec, Ended: 20 * sec, Result: Unknown})
			insert(h, entry(18, powerlog.Network))
		}, []Promise{OneBoot}, "too many"},
		{"a resume that is no retry", func(h *History) {
			h.Ops = append(h.Ops, Op{Kind: OpResume, Server: server, Begun: 15 * sec, Ended: 15 * sec, Result: Unknown})
			insert(h, entry(18, powerlog.Network))
		}, []Promise{OneBoot}, "too many"},
		{"a network boot without a grant", func(h *History) {
			for i := range h.Polls {
				h.Polls[i].Grants = nil
			}
		}, []Promise{OneBoot}, "0 grants"},
		{"a network boot before any claim", func(h *History) { insert(h, entry(5, powerlog.Network)) }, []Promise{OneBoot}, "too many"},
		{"a second claim has a grant of its own", func(h *History) {
			h.Ops = append(h.Ops, Op{Kind: OpUnclaim, Server: server, Target: "c1", Begun: 63 * sec, Ended: 63 * sec, Result: Unknown})
			h.Ops = append(h.Ops, Op{Kind: OpClaim, Server: server, Target: "c1", Begun: 64 * sec, Ended: 64 * sec, Result: Unknown})
			h.Polls[6].Grants = append(h.Polls[6].Grants, Grant{Server: server, OwnerUID: "u2", Generation: 2})
			insert(h, entry(65, powerlog.Reset), entry(66, powerlog.Network))
		}, nil, ""},
		{"a claim that is asked for again is the same", func(h *History) {
			h.Polls[0].Grants = nil
			h.Ops = append(h.Ops, Op{Kind: OpClaim, Server: server, Target: "c1", Begun: 13 * sec, Ended: 13 * sec, Result: Unknown})
		}, nil, ""},
		{"the first grant is not for the second claim", func(h *History) {
			h.Ops = append(h.Ops, Op{Kind: OpUnclaim, Server: server, Target: "c1", Begun: 63 * sec, Ended: 63 * sec, Result: Unknown})
			h.Ops = append(h.Ops, Op{Kind: OpClaim, Server: server, Target: "c1", Begun: 64 * sec, Ended: 64 * sec, Result: Unknown})
			insert(h, entry(65, powerlog.Reset), entry(66, powerlog.Network))
		}, []Promise{OneBoot}, "0 grants"},
		{"a grant that repeats, twice in one run", func(h *History) {
			for i := range h.Polls {
				for j := range h.Polls[i].Grants {
					h.Polls[i].Grants[j].Repeat = true
				}
			}
			insert(h, entry(34, powerlog.Network), entry(35, powerlog.Network))
		}, []Promise{OneBoot}, "too many"},
		// not-lost
		{"a hold is gone", func(h *History) { h.Polls[5].Holds = nil }, []Promise{NotLost}, "hold h1 is gone"},
		{"a hold is called released", func(h *History) { h.Polls[5].Holds[0].Released = true }, []Promise{NotLost}, "hold h1 is gone"},
		{"a hold never comes to its proof", func(h *History) {
			h.Ops = slices.Delete(h.Ops, 3, 4)
			h.Ops[2].Fenced = false
			h.Polls = h.Polls[:6]
			h.Polls[4].Holds[0].State, h.Polls[5].Holds[0].State = resource.StateEnforced, resource.StateForcing
			h.Machines[server] = h.Machines[server][:11]
		}, []Promise{NotLost}, "h1 is Forcing at the end"},
		{"a release is forgotten", func(h *History) {
			h.Polls[6].Holds[0].Released = false
			h.Polls[6].Holds[0].State = resource.StateStopping
		}, []Promise{NotLost}, "and was released"},
		{"a reboot is forgotten", func(h *History) {
			for i := range h.Polls {
				h.Polls[i].Requests = nil
			}
		}, []Promise{NotLost}, "reboot r1 has not ended"},
		{"a reboot never ends", func(h *History) {
			for i := range h.Polls {
				for j := range h.Polls[i].Requests {
					h.Polls[i].Requests[j].Outcome = resource.OutcomePending
				}
			}
		}, []Promise{NotLost}, "reboot r1 has not ended"},
		{"a claim is gone", func(h *History) { h.Polls[3].Claims = nil }, []Promise{NotLost}, "claim c1 is gone"},
		{"a claim stays", func(h *History) {
			h.Ops = append(h.Ops, Op{Kind: OpUnclaim, Server: server, Target: "c1", Begun: 64 * sec, Ended: 65 * sec, Result: Accepted, AuditOp: "apply", AuditTarget: "Claim/c1"})
			h.Audit = append(h.Audit, AuditEntry{"apply", "Claim/c1", protocol.AuditAsked})
		}, []Promise{NotLost}, "claim c1 is there, and was deleted"},
		{"a server does not come back", func(h *History) { drop(h, 62); drop(h, 63) }, []Promise{NotLost}, "it is off"},
		{"a server is rebooted at the end", func(h *History) { insert(h, entry(70, powerlog.Off)) }, nil, ""},
		{"of a history without rest, the end is not judged", func(h *History) {
			h.Quiet = false
			drop(h, 62)
			drop(h, 63)
		}, nil, ""},
		// not-double
		{"a reboot is done twice", func(h *History) { insert(h, entry(34, powerlog.Off), entry(35, powerlog.On)) }, []Promise{NotDoubled}, "nobody asked for one more"},
		{"a reboot is done again after it was said to be done, and another was asked for", func(h *History) {
			h.Ops = append(h.Ops, Op{Kind: OpReboot, Server: server, Begun: 64 * sec, Ended: 65 * sec, Result: Unknown})
			insert(h, entry(55, powerlog.Off), entry(56, powerlog.On), entry(57, powerlog.Off))
			h.Polls[4].Holds, h.Polls[5].Holds, h.Ops[2].Fenced, h.Ops[2].Result = nil, nil, false, Unknown
		}, []Promise{NotDoubled}, "nobody asked for one more"},
		{"a reboot that is said to be refused is done", func(h *History) {
			for i := range h.Polls {
				for j := range h.Polls[i].Requests {
					h.Polls[i].Requests[j].Outcome = resource.OutcomeRefused
				}
			}
		}, []Promise{NotDoubled}, "nobody asked"},
		{"a boot that came to nothing is tried again", func(h *History) {
			insert(h, entry(11, powerlog.Refused), entry(11, powerlog.Off), entry(11, powerlog.On))
		}, nil, ""},
		{"power was lost in a boot", func(h *History) { insert(h, entry(33, powerlog.Start), entry(34, powerlog.On)) }, nil, ""},
		{"one key, two holds", func(h *History) {
			h.Polls[4].Holds = append(h.Polls[4].Holds, Hold{ID: "h2", Server: server, Key: "k1", State: resource.StateEnforced})
		}, []Promise{NotDoubled}, "hold k1 is there twice"},
		{"one ref, two requests", func(h *History) {
			h.Polls[4].Requests = append(h.Polls[4].Requests, Request{ID: "r2", Server: server, Ref: "f1", Outcome: resource.OutcomeDone})
		}, []Promise{NotDoubled}, "request f1 is there twice"},
		// true-words
		{"fenced while it runs", func(h *History) {
			insert(h, entry(47, powerlog.Button), entry(47, powerlog.On))
		}, []Promise{TrueWords}, "says Fenced, and the server runs"},
		{"the receipt leaves out that the server ran", func(h *History) {
			for i := range h.Polls {
				for j := range h.Polls[i].Holds {
					h.Polls[i].Holds[j].StoppedSince = 41 * sec
				}
			}
			insert(h, entry(47, powerlog.Button), entry(47, powerlog.On), entry(48, powerlog.Off))
		}, []Promise{TrueWords}, "stopped since a time 6s before it ran"},
		{"a new receipt after the server ran", func(h *History) {
			h.Polls[4].Holds[0].StoppedSince, h.Polls[5].Holds[0].StoppedSince = 41*sec, 48*sec
			insert(h, entry(47, powerlog.Button), entry(47, powerlog.On), entry(48, powerlog.Off))
		}, nil, ""},
		{"a person's on is not seen at once", func(h *History) {
			insert(h, entry(52, powerlog.Button), entry(52, powerlog.On), entry(58, powerlog.Off))
		}, nil, ""},
		{"the operator is told of a proof, and it runs", func(h *History) {
			drop(h, 41)
			insert(h, entry(46, powerlog.Off))
		}, []Promise{TrueWords}, "was said to be Fenced"},
		{"done, and not begun", func(h *History) { drop(h, 32); drop(h, 33); drop(h, 31) }, []Promise{TrueWords}, "said to be done"},
		{"done, and its claim was deleted before it was started again", func(h *History) { unclaimed(h, 31) }, nil, ""},
		{"done, and its claim was deleted long after", func(h *History) { unclaimed(h, 60) }, []Promise{TrueWords}, "said to be done"},
		{"done, its claim deleted, and it was never stopped", func(h *History) { drop(h, 31); unclaimed(h, 31) }, []Promise{TrueWords}, "said to be done"},
		{"done before it was begun", func(h *History) { h.Polls[2].Requests[0].Outcome = resource.OutcomeDone }, []Promise{TrueWords, NotDoubled}, "said to be done"},
		{"unknown, and done", func(h *History) {
			for i := 3; i < len(h.Polls); i++ {
				h.Polls[i].Requests[0].Outcome = resource.OutcomeUnknown
			}
		}, nil, ""},
		{"provisioned with nothing installed", func(h *History) { drop(h, 13) }, []Promise{TrueWords}, "nothing was installed"},
		// audit
		{"an entry is missing", func(h *History) { h.Audit = h.Audit[:4] }, []Promise{AuditWhole}, "release of Hold/h1"},
		{"an entry only says that something was accepted", func(h *History) { h.Audit[2].Outcome = protocol.AuditAccepted }, []Promise{AuditWhole}, "reboot of Server/n1"},
		{"the log does not fit", func(h *History) { h.Ops[4].Result, h.Ops[4].Why = Refused, "entry 7: altered" }, []Promise{AuditWhole}, "entry 7: altered"},
		{"the log could not be read", func(h *History) { h.Audit, h.AuditRead, h.Ops[4].Result = nil, false, Unknown }, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := honest()
			c.lie(&h)
			v := Judge(h)
			var broken []Promise
			said := ""
			for _, x := range v.Violations {
				broken = append(broken, x.Promise)
				said += x.Why + "\n"
			}
			slices.Sort(broken)
			broken = slices.Compact(broken)
			want := slices.Sorted(slices.Values(c.want))
			if !slices.Equal(broken, want) {
				t.Errorf("broken %v, want %v:\n%s", broken, want, said)
			}
			if !strings.Contains(said, c.why) {
				t.Errorf("said %q, want %q", said, c.why)
			}
		})
	}
}

// The honest history tests every promise: one that nothing tests is not kept by it.
func TestExercises(t *testing.T) {
	seen := map[Promise]bool{}
	for _, e := range Judge(honest()).Exercises {
		seen[e.Promise] = true
		if e.To < e.From {
			t.Errorf("%+v ends before it begins", e)
		}
	}
	for _, p := range Promises() {
		if !seen[p] {
			t.Errorf("%s was not tested", p)
		}
	}
	if v := Judge(History{}); len(v.Violations)+len(v.Exercises) != 0 {
		t.Errorf("of nothing %+v", v)
	}
}
