package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"rackboot/netboot/firmware"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// get reads a resource; it is the zero value while there is none.
func get[T resource.Object](s *site, name string) (v T, ok bool) {
	v, err := api.Get[T](s.t.Context(), s.client, name)
	return v, err == nil
}

// untilServer waits for a server's status.
func (s *site) untilServer(name, what string, ok func(*resource.Server) bool) *resource.Server {
	s.t.Helper()
	var last *resource.Server
	s.until(what+" of "+name, func() bool {
		v, have := get[*resource.Server](s, name)
		if have {
			last = v
		}
		return have && v.Status.Report != nil && ok(v)
	}, func() any {
		if last == nil {
			return "no server"
		}
		raw, err := json.Marshal(last.Status)
		return fmt.Sprintf("%s, %v", raw, err)
	})
	return last
}

// diskBoot is the end of every power-on after the first.
func diskBoot(v *resource.Server) bool {
	r := v.Status.Report
	return r.Attempt != nil && r.Attempt.Intended == protocol.TargetHdd && r.Attempt.State == resource.AttemptSucceeded &&
		r.Observation.Power == protocol.PowerOn && !has(v.Status.Conditions, resource.CondDark)
}

func has(conds []resource.ConditionState, code resource.ConditionCode) bool {
	return slices.ContainsFunc(conds, func(c resource.ConditionState) bool { return c.Code == code })
}

// provision applies everything and waits until server 1 runs from its disk.
func (s *site) provision() {
	s.t.Helper()
	s.apply(s.claim("n1"))
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	s.installedOnce()
}

// installedOnce holds for ever after one claim.
func (s *site) installedOnce() {
	s.t.Helper()
	if network, _, _, installs := s.servers[0].Boots.Counts(); network != 1 || installs != 1 {
		s.t.Errorf("%d network boots and %d installations, want 1 and 1", network, installs)
	}
}

// place holds a server and waits for the word.
func (s *site) place(server, key string, word resource.HoldWord) *resource.Hold {
	s.t.Helper()
	h, err := s.client.Holds.Create(s.t.Context(), server, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: key, Mode: resource.StopHard}})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.untilHold(h.Metadata.Name, word)
}

func (s *site) untilHold(id string, word resource.HoldWord) (h *resource.Hold) {
	s.t.Helper()
	s.until("hold "+string(word), func() bool {
		v, ok := get[*resource.Hold](s, id)
		h = v
		return ok && v.Status.Word == word
	}, func() any { return h })
	return h
}

// release releases a hold and waits until it has left the hub: only the agent's
// acknowledgement ends it there.
func (s *site) release(id string) {
	s.t.Helper()
	if _, err := s.client.Holds.Release(s.t.Context(), id, api.ReleaseRequest{}); err != nil {
		s.t.Fatal(err)
	}
	s.until("the acknowledged release", func() bool { _, ok := get[*resource.Hold](s, id); return !ok }, func() any { return id })
}

// staysOff watches a held server for a while and lets its firmware ask for a boot.
func (s *site) staysOff(i int) {
	s.t.Helper()
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if p := s.servers[i].BMC.PowerState(); p != protocol.PowerOff {
			s.t.Fatalf("%s is %s under its hold", s.servers[i].Name, p)
		}
	}
}

// refused wants the boot servers to refuse the firmware of a server.
func (s *site) refused(i int) {
	s.t.Helper()
	mac, err := net.ParseMAC(s.servers[i].MAC)
	if err != nil {
		s.t.Fatal(err)
	}
	c := &firmware.Client{MAC: mac, Server: s.dhcp, Speed: 20}
	if _, err := c.HTTPBoot(s.t.Context()); !errors.Is(err, firmware.ErrRefused) {
		s.t.Errorf("the firmware of %s got %v, want a refusal", s.servers[i].Name, err)
	}
}

// silent says whether the first agent's boot servers let the firmware of a server
// be: an agent that serves nothing gives no answer, where one that serves refuses.
func (s *site) silent(i int) bool {
	s.t.Helper()
	mac, err := net.ParseMAC(s.servers[i].MAC)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = (&firmware.Client{MAC: mac, Server: s.dhcp, Speed: 20}).HTTPBoot(s.t.Context())
	return errors.Is(err, firmware.ErrNoOffer)
}

func (s *site) agentHas(name string, code resource.ConditionCode) {
	s.t.Helper()
	s.untilAgent(name, "condition "+string(code), func(a *resource.Agent) bool { return has(a.Status.Conditions, code) })
}

// untilAgent waits for an agent's status.
func (s *site) untilAgent(name, what string, ok func(*resource.Agent) bool) {
	s.t.Helper()
	var a *resource.Agent
	s.until(what, func() bool {
		var have bool
		a, have = get[*resource.Agent](s, name)
		return have && ok(a)
	}, func() any { return a.Status })
}
