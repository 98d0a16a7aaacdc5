package resource

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestApprovalValidate(t *testing.T) {
	from := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	good := func() Approval {
		return Approval{
			ID: "01ja", Class: ApproveBulkStop, Rack: "r1", AgentKey: make([]byte, 32), Targets: []string{"n1"},
			NotBefore: from, NotAfter: from.Add(MaxApprovalLife),
		}
	}
	if f := good().Validate(); len(f) > 0 {
		t.Fatalf("good: %v", f)
	}
	many := make([]string, MaxApprovalTargets+1)
	for i := range many {
		many[i] = "n" + strconv.Itoa(i)
	}
	for name, change := range map[string]func(*Approval){
		"id":                     func(a *Approval) { a.ID = "A b" },
		"class":                  func(a *Approval) { a.Class = "all" },
		"rack":                   func(a *Approval) { a.Rack = "" },
		"agentKey":               func(a *Approval) { a.AgentKey = a.AgentKey[1:] },
		"targets":                func(a *Approval) { a.Targets = nil },
		"targets too many":       func(a *Approval) { a.Targets = many },
		"target with an escape":  func(a *Approval) { a.Targets = []string{"n1\x1b[2K"} },
		"by":                     func(a *Approval) { a.By = many[:9] },
		"reason":                 func(a *Approval) { a.Reason = string(make([]byte, 1025)) },
		"notAfter too late":      func(a *Approval) { a.NotAfter = a.NotAfter.Add(1) },
		"notAfter at notBefore":  func(a *Approval) { a.NotAfter = a.NotBefore },
		"notBefore not given":    func(a *Approval) { a.NotBefore = time.Time{} },
		"notAfter before it all": func(a *Approval) { a.NotAfter = from.Add(-1) },
	} {
		a := good()
		change(&a)
		if f := a.Validate(); len(f) == 0 {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestApprovedBoots(t *testing.T) {
	from := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	digest := "sha256:" + strings.Repeat("a", 64)
	boot := func(server, owner, env, image string) ApprovedBoot {
		return ApprovedBoot{Server: server, Owner: owner, BootEnv: env, Image: image}
	}
	set := func(server, settings string) ApprovedBoot {
		return ApprovedBoot{Server: server, Owner: "u", Settings: settings}
	}
	for name, row := range map[string]struct {
		class ApprovalClass
		boots []ApprovedBoot
		good  bool
	}{
		"one each":                   {ApproveWipe, []ApprovedBoot{boot("n1", "u1", "e", ""), boot("n2", "u2", "e", digest)}, true},
		"a claim without an env":     {ApproveReprovision, []ApprovedBoot{boot("n1", "u1", "", digest), boot("n2", "u2", "e", "")}, true},
		"none":                       {ApproveWipe, nil, false},
		"none for a claim":           {ApproveReprovision, nil, false},
		"one is missing":             {ApproveWipe, []ApprovedBoot{boot("n1", "u1", "e", "")}, false},
		"one twice":                  {ApproveWipe, []ApprovedBoot{boot("n1", "u1", "e", ""), boot("n1", "u2", "e", "")}, false},
		"no target":                  {ApproveWipe, []ApprovedBoot{boot("n1", "u1", "e", ""), boot("n3", "u2", "e", "")}, false},
		"nobody's":                   {ApproveWipe, []ApprovedBoot{boot("n1", "u1", "e", ""), boot("n2", "", "e", "")}, false},
		"an owner that is too long":  {ApproveWipe, []ApprovedBoot{boot("n1", "u1", "e", ""), boot("n2", strings.Repeat("u", 65), "e", "")}, false},
		"a wipe without an env":      {ApproveWipe, []ApprovedBoot{boot("n1", "u1", "e", ""), boot("n2", "u2", "", "")}, false},
		"an env that is no name":     {ApproveReprovision, []ApprovedBoot{boot("n1", "u1", "", ""), boot("n2", "u2", "\x1b[2K", "")}, false},
		"an image that is no digest": {ApproveReprovision, []ApprovedBoot{boot("n1", "u1", "", ""), boot("n2", "u2", "", "sha256:1")}, false},
		"of a stop":                  {ApproveBulkStop, []ApprovedBoot{boot("n1", "u1", "", ""), boot("n2", "u2", "", "")}, false},
		"a stop":                     {ApproveBulkStop, nil, true},
		"settings":                   {ApproveFirmware, []ApprovedBoot{set("n1", digest), set("n2", digest)}, true},
		"no settings":                {ApproveFirmware, []ApprovedBoot{set("n1", digest), set("n2", "")}, false},
		"settings of a claim":        {ApproveReprovision, []ApprovedBoot{set("n1", ""), set("n2", digest)}, false},
	} {
		a := Approval{
			ID: "01ja", Class: row.class, Rack: "r1", AgentKey: make([]byte, 32), Targets: []string{"n1", "n2"}, Boots: row.boots,
			NotBefore: from, NotAfter: from.Add(time.Hour),
		}
		if f := a.Validate(); (len(f) == 0) != row.good {
			t.Errorf("%s: %v", name, f)
		}
	}
}
