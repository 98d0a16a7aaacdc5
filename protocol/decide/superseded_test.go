package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestSupersededTable(t *testing.T) {
	doctable.Of(t, "superseded.go", "supersededRule").Hold(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), doctable.Words(resource.AttemptStates()...), doctable.YesNo(),
	}, func(in []string) []string {
		return []string{yesNo(supersededRule(in[0] == "yes", in[1] == "yes", resource.AttemptState(in[2]), in[3] == "yes"))}
	})
}

// TestSuperseded: the claim names another boot environment while the agent boots by the grant
// before, which it had begun before it knew. No file of the old boot is given from then on,
// what was started is powered off, and the next boot is that of the new grant.
func TestSuperseded(t *testing.T) {
	for name, row := range map[string]struct {
		steps int  // of a boot, after which the change comes
		first bool // whether the old boot may go on
	}{
		"armed": {1, false}, "powered on": {2, false}, "served": {3, true},
	} {
		t.Run(name, func(t *testing.T) {
			y := story(t, nil)
			y.read(protocol.PowerOff, 0, nil)
			y.want(ActArm)
			token := y.s.Record.Attempt.Token
			if row.steps > 1 {
				y.read(protocol.PowerOff, sec, y.answered(""))
				y.want(ActOn)
			}
			if row.steps > 2 {
				y.s.Events = []Event{{Begun: true, Token: token, At: at(3 * sec)}}
				y.read(protocol.PowerOn, 3*sec, y.answered(""))
			}
			old := *y.s.Record.Attempt
			if old.Token == "" || !old.Open() || old.Marks.Served != row.first {
				t.Fatalf("the old boot is %+v", old)
			}
			intent, boot, grant := *y.s.Intent, *y.s.Intent.Boot, *y.s.Grant
			boot.Generation, boot.Image.Digest = 2, "sha256:other"
			grant.Generation, grant.ImageDigest = 2, boot.Image.Digest
			intent.Boot = &boot
			y.s.Intent, y.s.Grant, y.s.NewID, y.s.NewToken = &intent, &grant, "id2", "token2"
			power, last := protocol.PowerOff, y.answered("")
			if row.steps > 1 {
				power = protocol.PowerOn
			}
			if row.steps > 2 {
				last = nil
			}
			y.read(power, 4*sec, last)
			a := y.s.Record.Attempt
			if row.first {
				if a.ID != old.ID || !a.Open() || !MayFetch(false, false, a, token, a.Order.File) {
					t.Errorf("it was served, and became %+v", a)
				}
				return
			}
			if a.ID != old.ID || a.Open() || a.Stage.Ending.Code != resource.AttemptWithdrawn || MayFetch(false, false, a, token, a.Order.File) {
				t.Errorf("it goes on: %+v", a)
			}
			forced := row.steps == 1
			for d := 5 * sec; d < 120*sec && y.s.Record.Attempt.ID == old.ID; d += 5 * sec {
				var done *Result
				if y.p.Action.Kind != ActNone {
					done = y.answered("")
				}
				if y.p.Action.Kind == ActForceOff {
					forced, power = true, protocol.PowerOff
				}
				y.read(power, d, done)
			}
			if a := y.s.Record.Attempt; !forced || a.ID != "id2" || a.Order.Generation != 2 || a.Order.Digest != boot.Image.Digest {
				t.Errorf("forced off %v, the next boot is %+v", forced, a)
			}
		})
	}
}

func TestOverTable(t *testing.T) {
	doctable.Of(t, "superseded.go", "overRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return yesNo(overRule(in[0] == "yes", in[1] == "yes", in[2] == "yes"))
	})
}

// TestInstalledBefore: the old boot came to its end, and its system is installed. What the
// claim names by now is not installed over it, until somebody says so.
func TestInstalledBefore(t *testing.T) {
	for name, row := range map[string]struct {
		change func(s *Snapshot)
		boots  bool
	}{
		"by the generation before": {func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") }, false},
		"and another claim since": {func(s *Snapshot) {
			s.Record.Owners.Earlier = map[string]resource.Provisioned{provisionKey("claim-1", 1): *provisionedBy("claim-1")}
			s.Record.Owners.Provisioned = provisionedBy("claim-2")
		}, false},
		"by another claim": {func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-2") }, true},
		"nothing":          {func(*Snapshot) {}, true},
		"and the grant is over it": {func(s *Snapshot) {
			s.Record.Owners.Provisioned, s.Grant.Over = provisionedBy("claim-1"), true
		}, true},
		"and the grant is over it, without an approval": {func(s *Snapshot) {
			s.Record.Owners.Provisioned, s.Grant.Over, s.Bulk.Key = provisionedBy("claim-1"), true, true
		}, false},
		"and the grant is over it, approved": {func(s *Snapshot) {
			s.Record.Owners.Provisioned, s.Grant.Over, s.Bulk.Key = provisionedBy("claim-1"), true, true
			s.Approved = []resource.Approval{permitting(*s, resource.ApproveReprovision)}
		}, true},
		"and a grant without, approved": {func(s *Snapshot) {
			s.Record.Owners.Provisioned, s.Bulk.Key = provisionedBy("claim-1"), true
			s.Approved = []resource.Approval{permitting(*s, resource.ApproveReprovision)}
		}, false},
	} {
		y := story(t, func(s *Snapshot) {
			intent, boot, grant := *s.Intent, *s.Intent.Boot, *s.Grant
			boot.Generation, grant.Generation = 2, 2
			intent.Boot = &boot
			s.Intent, s.Grant = &intent, &grant
			row.change(s)
		})
		y.read(protocol.PowerOff, 0, nil)
		if began := y.s.Record.Attempt.Open(); began != row.boots {
			t.Errorf("%s: it boots %v", name, began)
		}
		if !row.boots && y.s.Grant.Over {
			y.condition(resource.CondInstallNotApproved)
		} else if !row.boots {
			y.condition(resource.CondGrantInvalid)
		}
	}
}
