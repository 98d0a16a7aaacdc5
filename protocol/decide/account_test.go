package decide

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestAccountTable(t *testing.T) {
	named := func(word string) string {
		if word == "new" || word == "untried" || word == "unknown" {
			return ""
		}
		return word
	}
	logins := []string{"untried", "ok", "limited", "denied", "unreachable"}
	doctable.Of(t, "account.go", "ChangeAccount").Hold(t, [][]string{
		{"new", "writing", "proved", "rotated", "kept", "lost"},
		doctable.YesNo(),
		{"unknown", "accepted", "refused"},
		logins, logins, doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		return []string{string(ChangeAccount(AccountFacts{
			Phase: AccountPhase(named(in[0])), Busy: in[1] == "yes", Written: AccountWrite(named(in[2])),
			Next: Login(named(in[3])), Current: Login(named(in[4])), Spent: in[5] == "yes", Again: in[6] == "yes",
		}))}
	})
}

// Whatever the BMC does, and wherever the agent is killed: the old account is given up
// only once the next was proved, no more than three logins in a row are refused, and three
// only before the end; and each end is reached. A kill forgets what was refused, so that it counts anew.
func TestAccountWalks(t *testing.T) {
	type state struct {
		AccountFacts
		denials, waits int
	}
	ends := map[AccountPhase]int{}
	seen := map[state]bool{}
	var walk func(s state)
	walk = func(s state) {
		if seen[s] || s.waits > 2 {
			return
		}
		seen[s] = true
		tried := func(next bool) {
			for _, l := range []Login{LoginOK, LoginLimited, LoginDenied, LoginUnreachable} {
				n := s
				if next {
					n.Next, n.Again = l, s.Current == LoginDenied
				} else {
					n.Current = l
				}
				switch l {
				case LoginDenied:
					n.denials++
				case LoginOK, LoginLimited:
					n.denials = 0
				case LoginUntried, LoginUnreachable:
				}
				if n.denials > 3 || n.denials == 3 && ChangeAccount(n.AccountFacts) != AccountNoteLost {
					t.Fatalf("%d refused logins in a row: %+v", n.denials, n)
				}
				walk(n)
			}
		}
		killed := s // and started again: only the phase is on disk
		killed.Written, killed.Current, killed.Next, killed.Again, killed.denials = "", "", "", false, 0
		if killed != s {
			killed.waits++ // a kill is as rare as a wait here, so that the walk is finite
			walk(killed)
		}
		n := s
		switch ChangeAccount(s.AccountFacts) {
		case AccountTryCurrent:
			tried(false)
		case AccountTryNext:
			tried(true)
		case AccountWriteNext:
			n.Phase, n.Current, n.Next, n.Again = AccountWriting, "", "", false
			for _, w := range accountWrites {
				n.Written = w
				walk(n)
			}
		case AccountNoteProved:
			if s.Next != LoginOK && (s.Next != LoginLimited || s.Current != LoginDenied) {
				t.Fatalf("proved by %+v", s)
			}
			n.Phase = AccountProved
			walk(n)
		case AccountDropOld:
			if s.Phase != AccountProved {
				t.Fatalf("the old one goes at %+v", s)
			}
			n.Phase = AccountRotated
			walk(n)
		case AccountNoteKept:
			if s.Current != LoginOK && s.Current != LoginLimited && s.Next != LoginLimited {
				t.Fatalf("kept at %+v", s)
			}
			n.Phase = AccountKept
			walk(n)
		case AccountNoteLost:
			n.Phase = AccountLost
			walk(n)
		case AccountWait:
			n.AccountFacts = s.Later()
			n.Spent, n.Busy = s.waits > 0, false
			n.waits++
			walk(n)
		case AccountDone:
			ends[s.Phase]++
		}
	}
	walk(state{})
	walk(state{AccountFacts: AccountFacts{Busy: true}})
	if ends[AccountRotated] == 0 || ends[AccountKept] == 0 || ends[AccountLost] == 0 {
		t.Errorf("ends are %v", ends)
	}
}
