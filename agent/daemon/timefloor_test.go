package daemon

import (
	"os"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const far = 400 * 24 * time.Hour

// minutes lets the renewer look once a minute, while the hub's clock is ahead of the right one
// or, without one, while the hub is not heard.
func (g *rig) minutes(t *testing.T, n int, ahead ...time.Duration) {
	t.Helper()
	for i := range n {
		g.now = g.now.Add(time.Minute)
		g.agent.hubNow = time.Time{}
		if len(ahead) > 0 {
			g.agent.hubNow = g.now.Add(ahead[i%len(ahead)])
		}
		g.look(t.Context())
	}
}

// believes checks what the agent takes for the time, and what it says of the clocks.
func (g *rig) believes(t *testing.T, what string, at time.Time, code resource.ConditionCode, detail string) {
	t.Helper()
	if got := g.keep.time(); got.Sub(at).Abs() > 5*time.Minute {
		t.Errorf("%s: it is %s, and the agent believes %s", what, g.now, got)
	}
	for _, c := range []resource.ConditionCode{resource.CondClockBehind, resource.CondClockAhead, resource.CondHubClock, resource.CondClocksDiffer} {
		if g.agent.conds[c] != (c == code) {
			t.Errorf("%s: %s is %t: %s", what, c, g.agent.conds[c], g.agent.said[c])
		}
	}
	if code != "" && g.agent.said[code] != detail {
		t.Errorf("%s: says %q", what, g.agent.said[code])
	}
}

func (g *rig) onDisk(t *testing.T) (at time.Time) {
	t.Helper()
	raw, err := os.ReadFile(floorPath(g.keep.dataDir))
	if err != nil {
		t.Fatal(err)
	}
	if err := at.UnmarshalText(raw); err != nil {
		t.Fatal(err)
	}
	return at
}

// A hub whose clock is wrong for a moment, for hours or in turns moves nothing, and is named.
func TestWrongClocks(t *testing.T) {
	for _, c := range []struct {
		name    string
		agent   time.Duration // by which its clock is ahead
		hub     []time.Duration
		during  int // minutes
		code    resource.ConditionCode
		message string
	}{
		{"hub ahead for 45 s", 0, []time.Duration{far}, 1, resource.CondHubClock, "the hub's clock is 400 days ahead"},
		{"hub ahead for hours", 0, []time.Duration{far}, 180, resource.CondHubClock, "the hub's clock is 400 days ahead"},
		{"hub behind", 0, []time.Duration{-far}, 30, resource.CondHubClock, "the hub's clock is 400 days behind"},
		{"hub in turns", 0, []time.Duration{0, far}, 60, resource.CondHubClock, "the hub's clock is 400 days ahead"},
		{"agent set ahead", far, []time.Duration{0}, 30, resource.CondClockAhead, "the clock of the agent's host is 400 days ahead"},
		{"agent set back", -3 * time.Hour, []time.Duration{0}, 30, resource.CondClockBehind, "the clock of the agent's host is 3h0m0s behind"},
		{"both are right", 0, []time.Duration{0}, 30, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t)
			g.minutes(t, 30, 0)
			g.believes(t, "before", g.now, "", "")
			g.set = c.agent
			g.minutes(t, c.during, c.hub...)
			want := g.now
			if c.agent > 0 {
				want = want.Add(c.agent)
			}
			g.believes(t, "meanwhile", want, c.code, c.message)
			if at := g.onDisk(t); at.After(g.now) {
				t.Errorf("on disk is %s, and it is %s", at, g.now)
			}
			g.set = 0
			g.minutes(t, 5, 0)
			g.believes(t, "five minutes after it is right again", g.now, "", "")
			g.minutes(t, 15, 0)
			if at := g.onDisk(t); at.After(g.now) || g.now.Sub(at) > 15*time.Minute {
				t.Errorf("on disk is %s, and it is %s", at, g.now)
			}
		})
	}
}

// A host without a battery restarts in 1970: it goes by what two clocks agreed on last, so that
// what had ended by then is over, and then by the hub's words once they are several.
func TestRestartIn1970(t *testing.T) {
	g := newRig(t)
	g.minutes(t, 30, 0)
	g.floor(true)
	g.now = g.now.Add(95 * 24 * time.Hour) // its certificate ends
	was := g.onDisk(t)
	g.set = -g.now.Sub(time.Unix(0, 0))
	g.keep.floor = g.opened(g.keep.dataDir, was.Add(-time.Hour))
	g.believes(t, "without the hub", was, "", "")
	g.hub.asked = nil
	behind := decide.ClockOffAgentBehind.Describe(g.set)
	g.minutes(t, 2, 0)
	g.expects(t, "after two words")
	g.believes(t, "after two words", was, resource.CondClockBehind, behind)
	g.minutes(t, 2, 0)
	g.expects(t, "after several", "key csr")
	g.believes(t, "after several", g.now, resource.CondClockBehind, behind)
	g.set = 0
	g.minutes(t, 5, 0)
	g.believes(t, "set right", g.now, "", "")
}

// The file of the time may be anything: the agent starts, says so, and is right within minutes.
func TestDamagedFloor(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		damaged bool
		before  time.Duration // what is believed while the hub is not heard, from the right time
	}{
		"empty":         {"", true, 0},
		"garbage":       {"soon", true, 0},
		"long garbage":  {string(make([]byte, 1<<16)), true, 0},
		"years ahead":   {time.Now().Add(far).UTC().Format(time.RFC3339), false, far},
		"of 1970":       {"1970-01-01T00:00:00Z", false, 0},
		"beyond a year": {"+12026-01-01T00:00:00Z", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t)
			if err := os.WriteFile(floorPath(g.keep.dataDir), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			g.keep.floor = g.opened(g.keep.dataDir, g.now.Add(-time.Hour))
			g.minutes(t, 1)
			if g.agent.conds[resource.CondTimeDamaged] != c.damaged {
				t.Errorf("damaged: %t, says %q", g.agent.conds[resource.CondTimeDamaged], g.agent.said[resource.CondTimeDamaged])
			}
			if err := g.keep.floor.damage(); c.damaged && protocol.HintOf(err) == "" {
				t.Errorf("%v", err)
			}
			if got := g.keep.time().Sub(g.now.Add(c.before)).Abs(); got > 5*time.Minute {
				t.Errorf("believes %s", g.keep.time())
			}
			// The link is tried with the host's clock too, so that the hub is heard at all.
			found := false
			for range dialsOfOne + 2 {
				_, at := g.keep.dial()
				found = found || at().Sub(g.now).Abs() < time.Minute
			}
			if !found {
				t.Error("the link is never dialled by the right time")
			}
			g.minutes(t, 6, 0)
			g.believes(t, "after five minutes", g.now, "", "")
			if at := g.onDisk(t); at.Sub(g.now).Abs() > 15*time.Minute || g.agent.conds[resource.CondTimeDamaged] {
				t.Errorf("on disk is %s, and it is %s; damaged: %t", at, g.now, g.agent.conds[resource.CondTimeDamaged])
			}
		})
	}
}

// denies has the hub refuse certificates that are not valid by its clock, as TLS does, and those
// that ask by key while theirs is valid, as the hub does.
func (g *rig) denies(ahead *time.Duration) {
	made := g.keep.now().begin()
	g.hub.now = func() time.Time { return g.now.Add(*ahead) }
	g.hub.answer = func(m message.Renewal, shown bool) (api.RenewAnswer, *protocol.Error) {
		hub := g.hub.now()
		valid := !hub.Before(made) && hub.Before(made.Add(g.hub.life))
		if shown {
			_, leaf, err := g.keep.now().pair()
			valid = err == nil && !hub.Before(leaf.NotBefore) && hub.Before(leaf.NotAfter)
		}
		if valid != shown {
			return api.RenewAnswer{}, &protocol.Error{Code: protocol.CodeDenied, Message: "no"}
		}
		if len(m.CSR) > 0 {
			made = hub
		}
		return api.RenewAnswer{Standing: g.hub.stand}, nil
	}
}

// The hub is ahead, refuses every certificate, and makes one that begins in 400 days for whoever
// asks by key. The agent keeps its own, shows both in turn, and goes on with its own.
func TestCertificateOfAWrongHub(t *testing.T) {
	g := newRig(t)
	own := g.keep.now().Answer.Certificate
	ahead := far
	g.denies(&ahead)
	g.minutes(t, 30, 0)
	g.up = false
	g.minutes(t, 30)
	id := g.keep.now()
	if string(id.Answer.Certificate) != string(own) || id.Spare == nil {
		t.Fatalf("the certificate was changed: %t, spare %t", string(id.Answer.Certificate) != string(own), id.Spare != nil)
	}
	shown := map[string]bool{}
	for range dialsOfOne + 4 {
		id, _ := g.keep.dial()
		shown[string(id.Answer.Certificate)] = true
	}
	if len(shown) != 2 {
		t.Errorf("%d certificates are shown", len(shown))
	}
	again, err := loadIdentity(g.keep.dataDir)
	if err != nil || again.Spare == nil {
		t.Errorf("on disk: %v", err)
	}
	ahead, g.up = 0, true
	g.minutes(t, 20, 0)
	if string(g.keep.now().Answer.Certificate) != string(own) {
		t.Error("the certificate was changed after the hub was right")
	}
	g.agent.hubNow = time.Time{}
	g.days(t, 65)
	if id := g.keep.now(); !id.begin().Equal(g.now.UTC()) || id.Spare != nil {
		t.Errorf("renewed from %s, spare %t", id.begin(), id.Spare != nil)
	}
	g.believes(t, "after all", g.now, "", "")
}

// An agent that joined while the hub was ahead has a certificate that begins in 400 days. It is
// back a few minutes after the hub is right, by its key.
func TestJoinedAtAWrongHub(t *testing.T) {
	for name, set := range map[string]func(now time.Time) time.Duration{
		"the agent's clock is right": func(time.Time) time.Duration { return 0 },
		"the agent is in 1970":       func(now time.Time) time.Duration { return -now.Sub(time.Unix(0, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t)
			built := g.now.Add(-time.Hour)
			ahead := far
			g.denies(&ahead)
			var err error
			id := g.keep.now()
			var csr []byte
			if id.LinkKey, csr, err = newLinkKey(); err != nil {
				t.Fatal(err)
			}
			id.Answer.Certificate = g.hub.sign(csr, "r1-1")
			if err := g.keep.replace(id); err != nil {
				t.Fatal(err)
			}
			g.denies(&ahead)
			g.set = set(g.now)
			g.keep.floor = g.opened(g.keep.dataDir, built)
			g.minutes(t, 5, far)
			g.up, ahead = false, 0
			g.minutes(t, 15)
			begin := g.keep.now().begin()
			if begin.Sub(g.now).Abs() > 20*time.Minute {
				t.Fatalf("the certificate begins at %s, and it is %s; the hub was asked %q", begin, g.now, g.hub.asked)
			}
			g.up = true
			g.minutes(t, 6, 0)
			if got := g.keep.time().Sub(g.now).Abs(); got > time.Minute {
				t.Errorf("believes %s, and it is %s", g.keep.time(), g.now)
			}
		})
	}
}
