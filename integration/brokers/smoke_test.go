package brokers

import (
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestSmoke is the six rows that every broker must pass: a job, and what is lost with
// the broker, the hub, the agent and the network, and the permissions.
func TestSmoke(t *testing.T) {
	for _, b := range []struct {
		name  string
		qos   byte
		start func(*testing.T, *site) *place
	}{
		{"mosquitto/QoS 0", 0, mosquitto},
		{"mosquitto/QoS 1", 1, mosquitto},
		{"NATS/QoS 0", 0, nats},
		{"NATS/QoS 1", 1, nats},
		{"embedded/QoS 1", 1, embedded},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, b.qos, b.start)
			s.startHub()
			if _, err := s.client.Objects.Apply(t.Context(), s.manifests(), false); err != nil {
				t.Fatal(err)
			}
			s.join()
			s.startAgent()
			s.running("the disk boot after the installation")
			for _, row := range []struct {
				name string
				do   func(*site)
			}{
				{"hold to release", (*site).holdToRelease},
				{"broker killed", (*site).brokerKilled},
				{"hub restarted", (*site).hubRestarted},
				{"agent restarted", (*site).agentRestarted},
				{"connection cut in a reboot", (*site).cutInAReboot},
				{"permissions", (*site).permissions},
			} {
				begun := time.Now()
				row.do(s)
				if t.Failed() {
					t.Fatalf("row %q", row.name)
				}
				t.Logf("%s: %s", row.name, time.Since(begun).Round(100*time.Millisecond))
			}
			s.nothingTwice()
		})
	}
}

func (s *site) holdToRelease() {
	s.release(s.word(s.hold("k1"), resource.HoldFenced))
	s.running("the disk boot after the release")
}

// The hold is accepted while no message can pass, and the broker comes back with
// nothing.
func (s *site) brokerKilled() {
	var id string
	if s.broker.external {
		s.broker.kill()
		id = s.hold("k2")
	} else { // it dies with the hub
		s.toAgent.block()
		id = s.hold("k2")
		s.broker.kill()
	}
	if p := s.server.BMC.PowerState(); p != protocol.PowerOn {
		s.t.Errorf("the server is %s before the hold can have come", p)
	}
	s.broker.start()
	s.toAgent.cut(false)
	s.word(id, resource.HoldFenced)
	s.release(id)
	s.running("the disk boot after the release")
}

func (s *site) hubRestarted() {
	id := s.hold("k3")
	s.stopHub()
	s.startHub()
	s.word(id, resource.HoldFenced)
	s.release(id)
	s.running("the disk boot after the release")
}

func (s *site) agentRestarted() {
	id := s.hold("k4")
	s.stopAgent()
	s.startAgent()
	s.word(id, resource.HoldFenced)
	s.release(id)
	s.running("the disk boot after the release")
}

// Once the connection is away before the request can reach the agent, once before
// its outcome can reach the hub.
func (s *site) cutInAReboot() {
	for _, before := range []bool{true, false} {
		was := s.stops()
		if before {
			s.broker.away()
		}
		r, err := s.client.Requests.Reboot(s.t.Context(), "n1", api.RebootRequest{Mode: resource.StopHard})
		if err != nil {
			s.t.Fatal(err)
		}
		if !before {
			s.until("the reset", func() bool { return s.stops() > was }, func() any { return s.server.BMC.History() })
			s.broker.away()
		}
		s.broker.back()
		s.until("the outcome", func() bool {
			q, err := s.client.Requests.Get(s.t.Context(), r.ID)
			r = q
			return err == nil && q.Report.Outcome != "" && q.Report.Outcome != resource.OutcomePending
		}, func() any { return r.Report })
		if r.Report.Outcome != resource.OutcomeDone {
			s.t.Errorf("the reboot ended as %s", r.Report.Outcome)
		}
		s.running("the disk boot after the reboot")
		if n := s.stops() - was; n != 1 {
			s.t.Errorf("%d resets for one reboot: %+v", n, s.server.BMC.History())
		}
	}
}

// stops counts the resets that stopped the server or restarted it.
func (s *site) stops() (n int) {
	for _, r := range s.server.BMC.History() {
		if r.What == bmcsim.RecordReset && r.Detail != "On" {
			n++
		}
	}
	return n
}

func (s *site) hold(key string) (id string) {
	s.t.Helper()
	h, err := s.client.Holds.Create(s.t.Context(), "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: key, Mode: resource.StopHard}})
	if err != nil {
		s.t.Fatal(err)
	}
	return h.Metadata.Name
}

// word waits for the word of a hold.
func (s *site) word(id string, word resource.HoldWord) string {
	s.t.Helper()
	var h *resource.Hold
	s.until("hold "+string(word), func() bool {
		var err error
		h, err = api.Get[*resource.Hold](s.t.Context(), s.client, id)
		return err == nil && h.Status.Word == word
	}, func() any { return h })
	if p := s.server.BMC.PowerState(); p != protocol.PowerOff {
		s.t.Errorf("the server is %s under its hold", p)
	}
	return id
}

// release waits until the hold has left the hub: only the agent's acknowledgement
// ends it there.
func (s *site) release(id string) {
	s.t.Helper()
	if _, err := s.client.Holds.Release(s.t.Context(), id, api.ReleaseRequest{}); err != nil {
		s.t.Fatal(err)
	}
	s.until("the acknowledged release", func() bool {
		_, err := api.Get[*resource.Hold](s.t.Context(), s.client, id)
		return protocol.CodeOf(err) == protocol.CodeNotFound
	}, func() any { return id })
}

// running waits until the hub sees the server run from its disk.
func (s *site) running(what string) {
	s.t.Helper()
	var last *resource.Server
	s.until(what, func() bool {
		v, err := api.Get[*resource.Server](s.t.Context(), s.client, "n1")
		last = v
		if err != nil || v.Status.Report == nil || v.Status.Report.Attempt == nil {
			return false
		}
		r := v.Status.Report
		return r.Attempt.Intended == protocol.TargetHdd && r.Attempt.State == resource.AttemptSucceeded && r.Observation.Power == protocol.PowerOn &&
			s.server.BMC.PowerState() == protocol.PowerOn && len(r.Holds) == 0
	}, func() any {
		if last == nil || last.Status.Report == nil {
			return "no report"
		}
		return *last.Status.Report
	})
}

// nothingTwice: one installation, and each event of the agent once and in order.
func (s *site) nothingTwice() {
	s.t.Helper()
	if network, _, _, installs := s.server.Boots.Counts(); network != 1 || installs != 1 {
		s.t.Errorf("%d network boots and %d installations, want 1 and 1", network, installs)
	}
	want := map[resource.EventCode]int{
		resource.EventGrantUsed: 1, resource.EventProvisioned: 1, resource.EventHoldEnforced: 4, resource.EventFenced: 4,
		resource.EventHoldReleased: 4, resource.EventRequestEnded: 2,
	}
	var seqs []uint64
	var count map[resource.EventCode]int
	// They come by themselves, later than what they tell of.
	s.until("the events", func() bool {
		list, err := s.client.Events(s.t.Context(), 0, 1000)
		if err != nil {
			s.t.Fatal(err)
		}
		seqs, count = nil, map[resource.EventCode]int{}
		for _, e := range list.Items {
			if e.Agent == agentName {
				seqs = append(seqs, e.Seq)
				count[e.Code]++
			}
		}
		for code, n := range want {
			if count[code] < n {
				return false
			}
		}
		return true
	}, func() any { return count })
	for i, seq := range seqs[1:] {
		if seq <= seqs[i] {
			s.t.Errorf("event %d came after event %d", seq, seqs[i])
		}
	}
	for code, n := range want {
		if count[code] != n {
			s.t.Errorf("%d events %s, want %d; there are %v", count[code], code, n, count)
		}
	}
}
