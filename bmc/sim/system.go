package sim

import (
	"slices"
	"sync/atomic"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
)

// system is a ComputerSystem.
type system struct {
	place     tree.Place
	tree      *tree.Tree
	machine   hardware.Machine
	manner    *manner
	tags      *tags
	supply    *supply
	override  *override
	restore   *restore
	restarted atomic.Bool // the BMC was, alone
}

func (s *system) routes(t *router) {
	t.add("GET", s.place.URI, s.get)
	t.add("PATCH", s.place.URI, s.patch)
}

func (s *system) get(r *request) *answer { return s.tags.tagged(r, s.body()) }

// body is the ComputerSystem as it is now.
func (s *system) body() tree.Object {
	p := s.manner.now()
	body := s.tree.Get(s.place.URI)
	if p.Manufacturer != "" {
		body["Manufacturer"], body["Model"] = p.Manufacturer, p.Model
	}
	body["PowerState"] = s.supply.shown()
	if p.Power.Absent {
		delete(body, "PowerState")
	}
	if boot, ok := body["Boot"].(tree.Object); ok {
		s.override.showMain(boot)
	}
	s.showResets(body)
	s.showReport(body)
	if _, ok := body["PowerRestorePolicy"]; ok {
		body["PowerRestorePolicy"] = s.restore.policy()
	}
	return body
}

func (s *system) showResets(body tree.Object) {
	p := s.manner.now()
	reset, ok := tree.At(body, "Actions", "#ComputerSystem.Reset").(tree.Object)
	if !ok {
		return
	}
	switch {
	case p.Power.NoResets:
		delete(reset, tree.ResetValues)
		delete(reset, tree.ResetInfo)
	case p.ActionInfoOnly:
		delete(reset, tree.ResetValues)
	case reset[tree.ResetValues] != nil:
		delete(reset, tree.ResetInfo)
	}
}

// showReport adds what the BMC tells of the host's boot.
func (s *system) showReport(body tree.Object) {
	rules := s.manner.now().Report
	last := s.supply.resetTime()
	delete(body, "LastResetTime")
	switch {
	case rules.LastReset == "zero":
		body["LastResetTime"] = "0000-00-00T00:00:00+00:00"
	case rules.LastReset == "epoch":
		body["LastResetTime"] = "1970-01-01T00:00:00Z"
	case rules.LastReset == "" && !last.IsZero():
		body["LastResetTime"] = last.UTC().Format(time.RFC3339)
	}
	state := s.machine.State()
	delete(body, "BootProgress")
	switch rules.Progress {
	case "absent":
	case "stuck":
		body["BootProgress"] = tree.Object{"LastState": "SystemHardwareInitializationComplete"}
	case "oem":
		oem := "OsIsRunning"
		if state != hardware.Running {
			oem = progress(state)
		}
		body["BootProgress"] = tree.Object{"LastState": "OEM", "OemLastState": oem}
	case "hpe":
		tree.Merge(body, tree.Object{"Oem": tree.Object{"Hpe": tree.Object{"PostState": postState(state)}}})
	default:
		reached := progress(state)
		if rules.Progress == "forgets" && s.restarted.Load() {
			reached = "None"
		}
		body["BootProgress"] = tree.Object{"LastState": reached}
	}
}

// progress is BootProgress.LastState for a machine's state.
func progress(s hardware.State) string {
	switch s {
	case hardware.Post:
		return "SystemHardwareInitializationComplete"
	case hardware.Booting:
		return "OSBootStarted"
	case hardware.Running:
		return "OSRunning"
	case hardware.Shell:
		return "SetupEntered"
	default:
		return "None"
	}
}

// postState is Oem.Hpe.PostState for a machine's state.
func postState(s hardware.State) string {
	switch s {
	case hardware.Off:
		return "PowerOff"
	case hardware.Post:
		return "InPost"
	default:
		return "FinishedPost"
	}
}

func (s *system) patch(r *request) *answer {
	if refused := s.tags.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused == nil {
		refused = s.change(body)
	}
	if refused != nil {
		return refuse(refused)
	}
	return s.get(r)
}

func (s *system) change(body tree.Object) *refusal {
	if len(body) == 0 {
		return propertyError("PropertyValueTypeError", "Boot")
	}
	for name, value := range body {
		switch name {
		case "Boot":
		case "PowerRestorePolicy":
			policy, ok := value.(string)
			if s.tree.Look(s.place.URI)[name] == nil || !ok ||
				!slices.Contains([]RestorePolicy{RestoreAlwaysOff, RestoreAlwaysOn, RestoreLastState}, RestorePolicy(policy)) {
				return propertyError("PropertyValueNotInList", name)
			}
		default:
			return propertyError("PropertyNotWritable", name)
		}
	}
	if boot, ok := body["Boot"]; ok {
		if refused := s.override.changeMain(boot); refused != nil {
			return refused
		}
	}
	if policy, ok := body["PowerRestorePolicy"].(string); ok {
		s.restore.set(RestorePolicy(policy))
		s.tags.touch(s.place.URI)
	}
	return nil
}
