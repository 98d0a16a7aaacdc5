package sim

import (
	"fmt"
	"net/http"
	"slices"

	"rackboot/protocol"
)

// changeBoot writes a Boot object at a place. bmc.mu is held.
func (h *Host) changeBoot(v any, writable []string, where Write) *refusal {
	rules := h.bmc.personality.Boot
	if _, ok := at(v, bootURI).(string); ok && rules.URIReadOnly {
		return propertyError("PropertyNotWritableOrUnknown", bootURI)
	}
	change, refused := parseBoot(v, writable, h.bmc.tree.targets(h.place, where))
	if refused != nil {
		return refused
	}
	if refused = h.judge(change, where); refused != nil {
		return refused
	}
	after := h.boot.with(change)
	h.bmc.record(RecordPatch, fmt.Sprintf("%s %s", after.text(bootTarget), after.text(bootEnabled)))
	if !h.bmc.personality.DropOverride {
		h.store(change, where)
	}
	if _, named := change[bootEnabled]; named && rules.RefuseYetDo {
		return propertyError("PropertyNotWritable", bootEnabled)
	}
	return nil
}

// judge refuses a change that the personality does not take.
func (h *Host) judge(change bootValues, where Write) *refusal {
	rules := h.bmc.personality.Boot
	if refused := h.hostBusy(); refused != nil {
		return refused
	}
	if where == WriteMain && rules.At != WriteMain {
		id := rules.RefuseID
		if id == "" {
			id = "Base.1.13.PropertyNotWritable"
		}
		return &refusal{status: http.StatusBadRequest, id: id, text: "write the boot override elsewhere"}
	}
	for _, name := range rules.NotTogether {
		if _, ok := change[name]; ok {
			return propertyError("PropertyNotWritable", name)
		}
	}
	switch {
	case change[bootEnabled] != nil && change.text(bootEnabled) == rules.RefuseEnabled:
		return propertyError("PropertyValueNotInList", bootEnabled)
	case slices.Contains(rules.RefuseTargets, change.text(bootTarget)):
		return &refusal{status: http.StatusBadRequest, id: "iLO.2.37.UnsupportedOperation", text: "this override is not supported"}
	case rules.EnabledNeedsTarget && change[bootEnabled] != nil && h.boot.with(change).text(bootTarget) == string(protocol.TargetNone):
		return propertyError("PropertyValueConflict", bootEnabled)
	case rules.FixedOrder && h.fixedOrder()["FixedBootOrder"] == "Enabled" && change[bootTarget] != nil:
		return &refusal{status: http.StatusBadRequest, id: "Ami.1.0.PropertyBlockedByFixedBootOrder", text: "the fixed boot order is on"}
	}
	if name, lacking := lacks(change, rules.Need); lacking && !rules.NeedReverts {
		return propertyError("PropertyMissing", name)
	}
	return nil
}

// lacks is the first property that a change of the override does not name.
func lacks(change bootValues, need []string) (name string, lacking bool) {
	if change[bootTarget] == nil && change[bootEnabled] == nil && change[bootMode] == nil {
		return "", false
	}
	for _, name := range need {
		if change[name] == nil {
			return name, true
		}
	}
	return "", false
}

// store keeps an accepted change, as the personality does.
func (h *Host) store(change bootValues, where Write) {
	rules := h.bmc.personality.Boot
	stored := bootValues{}.with(change)
	if rules.NeedReverts && change[bootTarget] != nil {
		if slices.Contains(rules.Need, bootMode) && change[bootMode] == nil {
			stored[bootMode] = modeLegacy
		}
		if slices.Contains(rules.Need, bootEnabled) && change[bootEnabled] == nil {
			stored[bootEnabled] = string(protocol.OverrideDisabled)
		}
	}
	if rules.ModeReverts && change[bootTarget] != nil {
		stored[bootMode] = modeLegacy
	}
	if rules.StoreEnabled != "" && change.text(bootEnabled) == string(protocol.OverrideOnce) {
		stored[bootEnabled] = rules.StoreEnabled
	}
	if rules.Forget && change[bootTarget] != nil {
		stored[bootMode], stored[bootEnabled] = modeLegacy, string(protocol.OverrideDisabled)
	}
	if rules.ModeJob && change[bootMode] != nil {
		h.biosJob = true
		h.bmc.addJob(h, "BIOS configuration")
	}
	if rules.LateJob && h.inPost() {
		h.lateJob, h.diskBoot = true, true
	}
	if rules.Pending && where == WriteSettings {
		h.pending = h.pending.with(stored)
		h.bmc.touch(h.place.settings)
		return
	}
	h.boot = h.boot.with(stored)
	h.bmc.touch(h.place.uri)
	h.bmc.touch(h.place.settings)
}

func (h *Host) getSettings(r *request) *answer {
	body := h.bmc.tree.get(h.place.settings)
	if body == nil {
		return missing()
	}
	if boot, ok := body["Boot"].(object); ok {
		h.showBoot(boot, h.boot.with(h.pending))
	}
	return h.bmc.tagged(r, body)
}

func (h *Host) patchSettings(r *request) *answer {
	if refused := h.bmc.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	for name := range body {
		if name != "Boot" {
			return refuse(propertyError("PropertyNotWritable", name))
		}
	}
	boot, _ := at(h.bmc.tree.look(h.place.settings), "Boot").(object)
	if refused := h.changeBoot(body["Boot"], h.writable(boot), WriteSettings); refused != nil {
		return refuse(refused)
	}
	return reply(http.StatusNoContent, nil)
}
