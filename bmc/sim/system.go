package sim

import (
	"net/http"
	"slices"
	"time"

	"rackboot/protocol"
)

const (
	bootAllowed = bootTarget + "@Redfish.AllowableValues"
	resetValues = "ResetType@Redfish.AllowableValues"
	resetInfo   = "@Redfish.ActionInfo"
)

// noMode says whether the host has no BootSourceOverrideMode: a PATCH of it
// fails.
func (b *BMC) noMode(h *Host) bool {
	return b.personality.NoMode || !h.has(h.place.uri, bootMode) && !h.has(h.place.settings, bootMode)
}

// has says whether the tree shows a property in the Boot of a resource.
func (h *Host) has(uri, name string) bool {
	boot, _ := at(h.bmc.tree.look(uri), "Boot").(object)
	_, ok := boot[name]
	return ok
}

func (h *Host) getSystem(r *request) *answer { return h.bmc.tagged(r, h.system()) }

// system is the ComputerSystem as it is now. bmc.mu is held.
func (h *Host) system() object {
	p := h.bmc.personality
	body := h.bmc.tree.get(h.place.uri)
	if p.Manufacturer != "" {
		body["Manufacturer"], body["Model"] = p.Manufacturer, p.Model
	}
	body["PowerState"] = h.shown()
	if p.Power.Absent {
		delete(body, "PowerState")
	}
	if boot, ok := body["Boot"].(object); ok {
		h.showBoot(boot, h.boot)
		if h.boot.text(bootTarget) == "None" && h.has(h.place.uri, bootTarget) && at(h.bmc.tree.look(h.place.uri), "Boot", bootTarget) == nil {
			boot[bootTarget] = nil // AMI: null without an override
		}
		if p.NoMode {
			delete(boot, bootMode)
		}
	}
	h.showResets(body)
	h.showReport(body)
	if _, ok := body["PowerRestorePolicy"]; ok {
		body["PowerRestorePolicy"] = h.restorePolicy()
	}
	return body
}

// showBoot puts values over the properties that a Boot object shows.
func (h *Host) showBoot(boot object, values bootValues) {
	rules := h.bmc.personality.Boot
	for name, value := range values {
		if _, ok := boot[name]; !ok || name == bootMode && boot[name] == nil {
			continue
		}
		boot[name] = clone(value)
		if name != bootTarget {
			continue
		}
		if s, ok := value.(string); ok && rules.ShowTarget[s] != "" {
			boot[name] = rules.ShowTarget[s]
		}
	}
	if rules.ModeHidden {
		delete(boot, bootMode)
	}
}

func (h *Host) showResets(body object) {
	p := h.bmc.personality
	reset, ok := at(body, "Actions", "#ComputerSystem.Reset").(object)
	if !ok {
		return
	}
	switch {
	case p.Power.NoResets:
		delete(reset, resetValues)
		delete(reset, resetInfo)
	case p.ActionInfoOnly:
		delete(reset, resetValues)
	case reset[resetValues] != nil:
		delete(reset, resetInfo)
	}
}

// showReport adds what the BMC tells of the host's boot.
func (h *Host) showReport(body object) {
	rules := h.bmc.personality.Report
	delete(body, "LastResetTime")
	switch {
	case rules.LastReset == "zero":
		body["LastResetTime"] = "0000-00-00T00:00:00+00:00"
	case rules.LastReset == "epoch":
		body["LastResetTime"] = "1970-01-01T00:00:00Z"
	case rules.LastReset == "" && !h.lastReset.IsZero():
		body["LastResetTime"] = h.lastReset.UTC().Format(time.RFC3339)
	}
	state := h.machine.State()
	delete(body, "BootProgress")
	switch rules.Progress {
	case "absent":
	case "stuck":
		body["BootProgress"] = object{"LastState": "SystemHardwareInitializationComplete"}
	case "oem":
		oem := "OsIsRunning"
		if state != MachineRunning {
			oem = progress(state)
		}
		body["BootProgress"] = object{"LastState": "OEM", "OemLastState": oem}
	case "hpe":
		merge(body, object{"Oem": object{"Hpe": object{"PostState": postState(state)}}})
	default:
		last := progress(state)
		if rules.Progress == "forgets" && h.bmc.restarted {
			last = "None"
		}
		body["BootProgress"] = object{"LastState": last}
	}
}

// progress is BootProgress.LastState for a machine's state.
func progress(s MachineState) string {
	switch s {
	case MachinePost:
		return "SystemHardwareInitializationComplete"
	case MachineBooting:
		return "OSBootStarted"
	case MachineRunning:
		return "OSRunning"
	case MachineShell:
		return "SetupEntered"
	default:
		return "None"
	}
}

// postState is Oem.Hpe.PostState for a machine's state.
func postState(s MachineState) string {
	switch s {
	case MachineOff:
		return "PowerOff"
	case MachinePost:
		return "InPost"
	default:
		return "FinishedPost"
	}
}

func (h *Host) patchSystem(r *request) *answer {
	if refused := h.bmc.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused == nil {
		refused = h.changeSystem(body)
	}
	if refused != nil {
		return refuse(refused)
	}
	return h.getSystem(r)
}

func (h *Host) changeSystem(body object) *refusal {
	if len(body) == 0 {
		return propertyError("PropertyValueTypeError", "Boot")
	}
	for name, value := range body {
		switch name {
		case "Boot":
		case "PowerRestorePolicy":
			policy, ok := value.(string)
			if h.bmc.tree.look(h.place.uri)[name] == nil || !ok ||
				!slices.Contains([]RestorePolicy{RestoreAlwaysOff, RestoreAlwaysOn, RestoreLastState}, RestorePolicy(policy)) {
				return propertyError("PropertyValueNotInList", name)
			}
		default:
			return propertyError("PropertyNotWritable", name)
		}
	}
	if boot, ok := body["Boot"]; ok {
		if refused := h.changeBoot(boot, h.mainWritable(), WriteMain); refused != nil {
			return refused
		}
	}
	if policy, ok := body["PowerRestorePolicy"].(string); ok {
		h.restore = RestorePolicy(policy)
		h.bmc.touch(h.place.uri)
	}
	return nil
}

// mainWritable are the properties of the system's own Boot that may be written.
func (h *Host) mainWritable() []string {
	boot, _ := at(h.bmc.tree.look(h.place.uri), "Boot").(object)
	return h.writable(boot)
}

func (h *Host) writable(boot object) []string {
	var names []string
	for _, name := range []string{bootTarget, bootEnabled, bootMode, bootURI, bootUEFI, bootNext, bootOrder} {
		if _, ok := boot[name]; !ok {
			continue
		}
		if name == bootMode && h.bmc.personality.NoMode {
			continue
		}
		names = append(names, name)
	}
	return names
}

// inPost says whether firmware runs. bmc.mu is held.
func (h *Host) inPost() bool {
	return h.power == protocol.PowerPoweringOn || h.machine.State() == MachinePost
}

// hostBusy refuses changes during POST or the boot. bmc.mu is held.
func (h *Host) hostBusy() *refusal {
	p := h.bmc.personality
	switch {
	case p.RefusePatchInPost && h.inPost():
		return &refusal{status: http.StatusBadRequest, id: messagePostHPE, text: "the property cannot be modified while the system is in POST"}
	case p.Boot.BusyInBoot > 0 && h.power != protocol.PowerOff && time.Since(h.begunAt) < p.Boot.BusyInBoot:
		return &refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.ServiceTemporarilyUnavailable", text: "the host is booting", retryAfter: "30"}
	default:
		return nil
	}
}
