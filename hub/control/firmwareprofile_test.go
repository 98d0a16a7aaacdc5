package control

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// wanted is a profile of every server that has no label "other".
func wanted(name string, change func(*resource.FirmwareProfileSpec)) *resource.FirmwareProfile {
	p := &resource.FirmwareProfile{Spec: resource.FirmwareProfileSpec{
		Selector: resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "other", Operator: resource.SelectDoesNotExist}}}, HTTP: resource.WantOn,
	}}
	p.Metadata.Name = name
	if change != nil {
		change(&p.Spec)
	}
	return p
}

// behindB1 is what b1 shows of a system whose firmware is set so.
func behindB1(t *testing.T, f *protocol.FirmwareSettings) []byte {
	t.Helper()
	body, err := json.Marshal([]protocol.Inventory{{SystemURI: "/redfish/v1/Systems/1", Firmware: f}})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// set is a BIOS whose HTTP switch is so, and whose attribute is a URL.
func set(http string, asked ...string) *protocol.FirmwareSettings {
	return &protocol.FirmwareSettings{
		BIOS: true, Asked: asked,
		Switches:   []protocol.FirmwareSwitch{{FirmwareValue: protocol.FirmwareValue{Name: "IPv4HTTPSupport_00F5", Value: http}, Of: protocol.OptionHTTP, On: "Enabled", Off: "Disabled"}},
		Attributes: []protocol.FirmwareAttribute{{Asked: "HttpDev1Uri", FirmwareValue: protocol.FirmwareValue{Name: "HttpDev1Uri", Value: "http://h/token-of-somebody"}}},
	}
}

func (b *bench) condition(server string, code resource.ConditionCode) (message string, said bool) {
	b.t.Helper()
	all := b.server(server).Status.Conditions
	i := slices.IndexFunc(all, func(c resource.ConditionState) bool { return c.Code == code })
	if i < 0 {
		return "", false
	}
	return all[i].Message, true
}

// Without a profile no BMC is asked for its firmware; with one its inventory is read anew, and what is
// otherwise is said by name only, until it is so.
func TestFirmwareDrift(t *testing.T) {
	b, m := modernSite(t)
	m.tick()
	q := m.asked("b1")[0]
	if q.Firmware || len(q.Attributes) > 0 {
		t.Errorf("without a profile it is asked for %+v", q)
	}
	m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: behindB1(t, nil)})
	b.pass()
	b.apply(wanted("p1", nil))
	b.pass()
	m.tick()
	q = m.asked("b1")[0]
	if !q.Firmware || len(q.Attributes) > 0 {
		t.Fatalf("with a profile it is asked for %+v", q)
	}
	m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: behindB1(t, set("Disabled"))})
	b.pass()
	if got, _ := b.condition("n1", resource.CondFirmwareDrift); got != "profile p1: http (IPv4HTTPSupport_00F5)" {
		t.Errorf("n1 says %q", got)
	}
	if f := b.bmc("b1").Status.Inventory[0].Firmware; f != nil {
		t.Errorf("values are shown: %+v", f)
	}
	m.tick()
	if again := m.asked("b1"); len(again) != 0 {
		t.Errorf("asked again: %+v", again)
	}

	// A hub that starts knows it from its store, and does not ask again.
	b.restart()
	m.connects()
	b.pass()
	if got, _ := b.condition("n1", resource.CondFirmwareDrift); got != "profile p1: http (IPv4HTTPSupport_00F5)" {
		t.Errorf("after a restart n1 says %q", got)
	}
	m.tick()
	if again := m.asked("b1"); len(again) != 0 {
		t.Errorf("asked again after a restart: %+v", again)
	}

	// An attribute by name: it is read anew, and its value is not said.
	b.apply(wanted("p1", func(s *resource.FirmwareProfileSpec) { s.Attributes = map[string]string{"HttpDev1Uri": ""} }))
	b.pass()
	m.tick()
	q = m.asked("b1")[0]
	if !q.Firmware || !slices.Equal(q.Attributes, []string{"HttpDev1Uri"}) {
		t.Fatalf("it is asked for %+v", q)
	}
	m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: behindB1(t, set("Enabled", q.Attributes...))})
	b.pass()
	if got, _ := b.condition("n1", resource.CondFirmwareDrift); got != "profile p1: attributes.HttpDev1Uri" || strings.Contains(got, "token") {
		t.Errorf("n1 says %q", got)
	}

	// Two profiles: neither is compared.
	b.apply(wanted("p2", nil))
	b.pass()
	if got, _ := b.condition("n1", resource.CondFirmwareConflict); got != "p1 and p2 select it" {
		t.Errorf("n1 says %q", got)
	}
	if got, said := b.condition("n1", resource.CondFirmwareDrift); said {
		t.Errorf("n1 says %q", got)
	}
	for _, name := range []string{"p1", "p2"} {
		if _, err := b.store.Delete(t.Context(), resource.KindFirmwareProfile, name); err != nil {
			t.Fatal(err)
		}
	}
	b.pass()
	for _, code := range []resource.ConditionCode{resource.CondFirmwareConflict, resource.CondFirmwareDrift} {
		if got, said := b.condition("n1", code); said {
			t.Errorf("without a profile n1 says %s: %q", code, got)
		}
	}
}

// An agent that does not know the question is asked once, and the server says so.
func TestFirmwareOldAgent(t *testing.T) {
	b, m := modernSite(t)
	b.apply(wanted("p1", nil))
	b.pass()
	m.tick()
	q := m.asked("b1")[0]
	m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: behindB1(t, nil)})
	b.pass()
	if got, _ := b.condition("n1", resource.CondAgentTooOld); !strings.Contains(got, "profile p1") {
		t.Errorf("n1 says %q", got)
	}
	b.pass()
	m.tick()
	if again := m.asked("b1"); len(again) != 0 {
		t.Errorf("asked again: %+v", again)
	}
}

// Somebody has set the firmware: a plan shows it, and so the inventory is read again, and the
// condition ends. A plan that shows nothing new has nothing read.
func TestFirmwarePlanEndsDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, m := modernSite(t)
		b.apply(wanted("p1", nil))
		b.pass()
		m.tick()
		q := m.asked("b1")[0]
		m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: behindB1(t, set("Disabled"))})
		b.pass()
		for _, row := range []struct {
			shows string
			again int
		}{{"Disabled", 0}, {"Enabled", 1}} {
			done := make(chan error, 1)
			go func() {
				_, err := b.control.Outbound.Plans.Plan(t.Context(), "n1")
				done <- err
			}()
			synctest.Wait()
			m.listens()
			q := m.takeAsks()
			body, err := json.Marshal([]protocol.Firmware{{SystemURI: b.server("n1").Spec.SystemURI, FirmwareSettings: *set(row.shows)}})
			if err != nil || len(q) != 1 {
				t.Fatalf("%+v, %v", q, err)
			}
			b.now = b.now.Add(time.Second)
			m.says(message.LeafAnswer, message.Answer{ID: q[0].ID, Nonce: m.nonce, Body: body})
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			m.tick()
			asked := m.asked("b1")
			if len(asked) != row.again {
				t.Fatalf("a plan shows %s, and the inventory is asked for %d times", row.shows, len(asked))
			}
			for _, q := range asked {
				m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: behindB1(t, set(row.shows))})
			}
		}
		b.pass()
		if got, said := b.condition("n1", resource.CondFirmwareDrift); said {
			t.Errorf("n1 says %q", got)
		}
	})
}

// A plan is of the server's system, by what its agent reads now.
func TestFirmwarePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, m := modernSite(t)
		if _, err := b.control.Outbound.Plans.Plan(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("without a profile: %v", err)
		}
		b.apply(wanted("p1", func(s *resource.FirmwareProfileSpec) { s.Attributes = map[string]string{"QuietBoot": "x"} }))
		type result struct {
			plan resource.FirmwarePlan
			err  error
		}
		asks := func() (message.Ask, chan result) {
			done := make(chan result, 1)
			go func() {
				p, err := b.control.Outbound.Plans.Plan(t.Context(), "n1")
				done <- result{p, err}
			}()
			synctest.Wait()
			m.listens()
			q := m.takeAsks()
			if len(q) != 1 || q[0].Kind != message.AskFirmware || !slices.Equal(q[0].Attributes, []string{"QuietBoot"}) {
				t.Fatalf("asked %+v", q)
			}
			return q[0], done
		}
		answer := func(q message.Ask, body string) {
			m.says(message.LeafAnswer, message.Answer{ID: q.ID, Nonce: m.nonce, Body: []byte(body)})
		}
		uri := b.server("n1").Spec.SystemURI
		q, done := asks()
		answer(q, `[{"systemURI":"`+uri+`","vendor":"V","bios":true,"attributes":[{"asked":"QuietBoot","name":"QuietBoot","value":"y"}]}]`)
		if r := <-done; r.err != nil || r.plan.Vendor != "V" || r.plan.Profile != "p1" || len(r.plan.Changes) != 2 || r.plan.Changes[1].Today != "y" {
			t.Errorf("%+v", r)
		}
		for _, body := range []string{`[]`, `{}`, `[{"systemURI":"/a"},{"systemURI":"/b"}]`, `x`} {
			q, done = asks()
			answer(q, body)
			if r := <-done; r.err == nil {
				t.Errorf("%s: %+v", body, r.plan)
			}
		}
		b.apply(wanted("p2", nil))
		if _, err := b.control.Outbound.Plans.Plan(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeConflict {
			t.Errorf("with two profiles: %v", err)
		}
	})
}
