package holds

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// value is a row of the values of the annotation.
type value struct {
	Value      string `yaml:"value"`
	Webhook    string `yaml:"webhook"`    // of the peer: accept or reject
	Controller string `yaml:"controller"` // of the peer: soft or hard
	Ours       string `yaml:"ours"`       // soft, hard or refused
	Force      bool   `yaml:"force"`      // in any phase
	Differs    string `yaml:"differs"`
}

const refusedValue = "refused"

// values is how many the facts have, each once.
const values = 27

func (v value) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%q: "+format, append([]any{v.Value}, args...)...)
	}
	switch {
	case v.Webhook != "accept" && v.Webhook != "reject":
		return bad("webhook is %q", v.Webhook)
	case v.Controller != string(resource.StopSoft) && v.Controller != string(resource.StopHard):
		return bad("controller is %q", v.Controller)
	case v.Ours != string(resource.StopSoft) && v.Ours != string(resource.StopHard) && v.Ours != refusedValue:
		return bad("ours is %q", v.Ours)
	case (v.Differs == "") != (v.Webhook == "accept" && v.Ours == v.Controller):
		return bad("differs is there where we differ from the peer, and only there")
	}
	return nil
}

// judged are what the hub makes of the value, in both forms.
func (s *site) judged(v value, key string) (key1, base string, err error) {
	s.t.Helper()
	c := s.hub.by("")
	held, err := c.Objects.Annotate(s.ctx, resource.KindServer, serverName, protoapi.AnnotationRequest{Annotation: resource.AnnotationReboot + "/" + key, Value: v.Value})
	switch {
	case protocol.CodeOf(err) == protocol.CodeInvalid:
		key1 = refusedValue
	case err != nil || held.Hold == nil:
		return "", "", fmt.Errorf("key form: %+v, %w", held, err)
	default:
		h := held.Hold.Spec
		if h.Ref != v.Value || h.Key != key || h.Owner != admin {
			return "", "", fmt.Errorf("hold %+v", h)
		}
		key1 = string(h.Mode)
	}
	asked, err := c.Objects.Annotate(s.ctx, resource.KindServer, serverName, protoapi.AnnotationRequest{Annotation: resource.AnnotationReboot, Value: v.Value})
	switch {
	case protocol.CodeOf(err) == protocol.CodeInvalid:
		base = refusedValue
	case err != nil || asked.Request == nil:
		return "", "", fmt.Errorf("basic form: %+v, %w", asked, err)
	default:
		r := asked.Request.Request
		if r.AnyPhase != v.Force || r.Action != resource.RequestReboot || r.Ref != v.Value {
			return "", "", fmt.Errorf("request %+v", r)
		}
		base = string(r.Mode)
	}
	return key1, base, nil
}

// TestValues gives each value to the hub's API, in both forms.
func TestValues(t *testing.T) {
	var rows []value
	if err := load("values.yaml", &rows); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var wrong []error
	for _, v := range rows {
		if seen[v.Value] {
			wrong = append(wrong, fmt.Errorf("%q is there twice", v.Value))
		}
		seen[v.Value] = true
		wrong = append(wrong, v.check())
	}
	if len(rows) != values {
		wrong = append(wrong, fmt.Errorf("%d values, want %d", len(rows), values))
	}
	if err := errors.Join(wrong...); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, row{Given: given{Power: protocol.PowerOff, Claim: resource.WantOff}})
		for i, v := range rows {
			key, base, err := s.judged(v, fmt.Sprintf("k%d", i))
			if err != nil || key != v.Ours || base != v.Ours {
				t.Errorf("%q: key form %s, basic form %s, want %s: %v", v.Value, key, base, v.Ours, err)
			}
			s.wait(time.Minute) // open requests end
		}
	})
}

// TestMalformedAtAgent: a hub of another version sends what this agent does not know. It
// is enforced all the same, and a condition says so.
func TestMalformedAtAgent(t *testing.T) {
	for name, tamper := range map[string]tamperStep{
		"mode":     {Mode: "HARD"},
		"onExpiry": {OnExpiry: "explode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := row{ID: name, Given: given{Power: protocol.PowerOn, Claim: resource.WantOn}}
			r.Steps = []step{
				{Tamper: &tamper},
				{Hold: &holdStep{Key: "foo", Mode: resource.StopSoft}},
				{Wait: 8 * time.Minute},
			}
			yes := true
			r.Expect = expect{
				Orders: []string{"GracefulShutdown"}, Power: protocol.PowerOff,
				Holds:      map[string]holdIs{"foo": {Word: resource.HoldFenced, Receipt: &yes}},
				Conditions: map[resource.ConditionCode]bool{resource.CondHoldMalformed: true},
				Events:     map[resource.EventCode]int{resource.EventHoldReleased: 0},
			}
			if problems := play(t, r); len(problems) > 0 {
				t.Error(strings.Join(problems, "\n"))
			}
		})
	}
}
