package sim

import (
	"fmt"
	"net/http"
	"slices"

	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// change writes a Boot object at a place. o.mu is held.
func (o *override) change(v any, writable []string, where Write) *refusal {
	rules := o.manner.now().Boot
	if _, ok := tree.At(v, tree.BootURI).(string); ok && rules.URIReadOnly {
		return propertyError("PropertyNotWritableOrUnknown", tree.BootURI)
	}
	change, refused := parseBoot(v, writable, o.tree.Targets(o.place, where == WriteSettings))
	if refused != nil {
		return refused
	}
	if refused = o.judge(change, where); refused != nil {
		return refused
	}
	after := o.boot.with(change)
	o.diary.record(RecordPatch, fmt.Sprintf("%s %s", after.text(tree.BootTarget), after.text(tree.BootEnabled)))
	if !o.manner.now().DropOverride {
		o.store(change, where)
	}
	if _, named := change[tree.BootEnabled]; named && rules.RefuseYetDo {
		return propertyError("PropertyNotWritable", tree.BootEnabled)
	}
	return nil
}

// judge refuses a change that the personality does not take. o.mu is held.
func (o *override) judge(change bootValues, where Write) *refusal {
	rules := o.manner.now().Boot
	if refused := o.supply.busy(); refused != nil {
		return refused
	}
	if where == WriteMain && rules.At != WriteMain {
		id := rules.RefuseID
		if id == "" {
			id = "Base.1.13.PropertyNotWritable"
		}
		return &refusal{status: http.StatusBadRequest, id: id, text: "write the boot override elsewhere"}
	}
	if rules.NeedTarget && change[tree.BootTarget] == nil && change[tree.BootMode] == nil {
		return &refusal{status: http.StatusBadRequest, plain: true, text: "Missing the BootSourceOverrideTarget and/or BootSourceOverrideMode element"}
	}
	for _, name := range rules.NotTogether {
		if _, ok := change[name]; ok {
			return propertyError("PropertyNotWritable", name)
		}
	}
	switch {
	case change[tree.BootEnabled] != nil && change.text(tree.BootEnabled) == rules.RefuseEnabled:
		return propertyError("PropertyValueNotInList", tree.BootEnabled)
	case slices.Contains(rules.RefuseTargets, change.text(tree.BootTarget)):
		return &refusal{status: http.StatusBadRequest, id: "iLO.2.37.UnsupportedOperation", text: "this override is not supported"}
	case rules.EnabledNeedsTarget && change[tree.BootEnabled] != nil && o.boot.with(change).text(tree.BootTarget) == string(protocol.TargetNone):
		return propertyError("PropertyValueConflict", tree.BootEnabled)
	case rules.FixedOrder && o.order.now()["FixedBootOrder"] == "Enabled" && change[tree.BootTarget] != nil:
		return &refusal{status: http.StatusBadRequest, id: "Ami.1.0.PropertyBlockedByFixedBootOrder", text: "the fixed boot order is on"}
	}
	if name, lacking := lacks(change, rules.Need); lacking && !rules.NeedReverts {
		return propertyError("PropertyMissing", name)
	}
	return nil
}

// lacks is the first property that a change of the override does not name.
func lacks(change bootValues, need []string) (name string, lacking bool) {
	if change[tree.BootTarget] == nil && change[tree.BootEnabled] == nil && change[tree.BootMode] == nil {
		return "", false
	}
	for _, name := range need {
		if change[name] == nil {
			return name, true
		}
	}
	return "", false
}

// store keeps an accepted change, as the personality does. o.mu is held.
func (o *override) store(change bootValues, where Write) {
	rules := o.manner.now().Boot
	stored := bootValues{}.with(change)
	if rules.NeedReverts && change[tree.BootTarget] != nil {
		if slices.Contains(rules.Need, tree.BootMode) && change[tree.BootMode] == nil {
			stored[tree.BootMode] = tree.ModeLegacy
		}
		if slices.Contains(rules.Need, tree.BootEnabled) && change[tree.BootEnabled] == nil {
			stored[tree.BootEnabled] = string(protocol.OverrideDisabled)
		}
	}
	if rules.ModeReverts && change[tree.BootTarget] != nil {
		stored[tree.BootMode] = tree.ModeLegacy
	}
	if other := rules.StoreTarget[change.text(tree.BootTarget)]; other != "" {
		stored[tree.BootTarget] = other
	}
	if rules.StoreEnabled != "" && change.text(tree.BootEnabled) == string(protocol.OverrideOnce) {
		stored[tree.BootEnabled] = rules.StoreEnabled
	}
	if rules.Forget && change[tree.BootTarget] != nil {
		stored[tree.BootMode], stored[tree.BootEnabled] = tree.ModeLegacy, string(protocol.OverrideDisabled)
	}
	if rules.ModeJob && change[tree.BootMode] != nil {
		o.biosJob = true
		o.jobs.add(o.place.URI, "BIOS configuration")
	}
	if rules.LateJob && o.supply.inPost() {
		o.lateJob, o.diskBoot = true, true
	}
	if rules.Pending && where == WriteSettings {
		o.pending = o.pending.with(stored)
		o.tags.touch(o.place.Settings)
		return
	}
	o.boot = o.boot.with(stored)
	o.tags.touch(o.place.URI)
	o.tags.touch(o.place.Settings)
}
