package decide

import (
	"reflect"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// There is one entry of each kind, and nothing at all once all was taken away.
func TestResidue(t *testing.T) {
	var re Residue
	re.disarm()
	re.put(Left{Kind: LeftOverride, Way: DisarmNone})
	re.disarm() // asked for again, it goes on where it was
	re.put(Left{Kind: LeftMedium, Medium: &Medium{Attempt: "a", State: MediumInserting}})
	re.put(Left{Kind: LeftMedium, Medium: &Medium{Attempt: "a", State: MediumIn}})
	if l, ok := re.of(LeftOverride); len(re) != 2 || !ok || l.Way != DisarmNone || re.Medium().State != MediumIn {
		t.Errorf("%+v", re)
	}
	if re.Kept() != nil || re.Rearm() != nil || re.URL() != nil || re.has(LeftRunning) {
		t.Errorf("%+v", re)
	}
	re.drop(LeftURL, LeftOverride)
	if len(re) != 1 || re.Medium() == nil {
		t.Errorf("%+v", re)
	}
	if re.drop(LeftMedium); re != nil {
		t.Errorf("%+v", re)
	}
}

// A step changes its own copy.
func TestResidueClone(t *testing.T) {
	re := Residue{
		{Kind: LeftKept, Kept: &Kept{Hidden: true}},
		{Kind: LeftRearm, Rearm: &Rearm{ID: "r"}},
		{Kind: LeftMedium, Medium: &Medium{Attempt: "a"}},
		{Kind: LeftURL, URL: &BootURL{Attempt: "a"}},
		{Kind: LeftRunning},
	}
	c := re.clone()
	if !reflect.DeepEqual(re, c) {
		t.Fatalf("%+v", c)
	}
	if c.Kept() == re.Kept() || c.Rearm() == re.Rearm() || c.Medium() == re.Medium() || c.URL() == re.URL() {
		t.Error("an entry is shared")
	}
	c.put(Left{Kind: LeftKept, Kept: &Kept{}})
	if !re.Kept().Hidden {
		t.Error("the list is shared")
	}
}

// A BMC that refuses what is cleared no more asks for nothing.
func TestAnswerToADisarmThatIsOver(t *testing.T) {
	s := given()
	s.Record.Attempt = &Attempt{ID: "a", Stage: Stage{State: resource.AttemptSucceeded}, Order: Order{Target: protocol.TargetHdd, OwnerUID: "claim-1", Generation: 1}}
	s.Result = &Result{Action: ActDisarm, Attempt: "a", Code: protocol.CodeInvalid}
	if p := Step(at(0), s); p.Record.Residue.has(LeftOverride) {
		t.Errorf("%+v", p.Record.Residue)
	}
	s.Record.Residue = Residue{{Kind: LeftOverride}}
	if l, ok := Step(at(0), s).Record.Residue.of(LeftOverride); !ok || l.Way != DisarmNone {
		t.Errorf("%+v", l)
	}
}
