package sim

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"rackboot/protocol"
)

func (b *BMC) getSystems(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	members := []string{uriSystem}
	if b.personality.SecondSystem {
		members = []string{uriBaseboard, uriSystem}
	}
	b.mu.Unlock()
	writeObject(w, http.StatusOK, collection(uriSystems, "ComputerSystemCollection", members...))
}

func (b *BMC) getSystem(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writeSystem(w)
}

// writeSystem answers with the system as it is now. b.mu is held.
func (b *BMC) writeSystem(w http.ResponseWriter) {
	boot := object{
		"BootSourceOverrideTarget":                         b.override.Target,
		"BootSourceOverrideEnabled":                        b.override.Enabled,
		"BootSourceOverrideTarget@Redfish.AllowableValues": allowedTargets(),
	}
	if !b.personality.NoMode {
		boot["BootSourceOverrideMode"] = b.override.Mode
	}
	reset := object{"target": uriReset}
	if b.personality.ActionInfoOnly {
		reset["@Redfish.ActionInfo"] = uriResetInfo
	} else {
		reset["ResetType@Redfish.AllowableValues"] = allowedResets()
	}
	system := object{
		"@odata.id": uriSystem, "@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "@odata.etag": b.tag(),
		"Id": "1", "Name": "System", "SystemType": "Physical",
		"Manufacturer": b.personality.Manufacturer, "Model": b.personality.Model,
		"PowerState":   b.power,
		"Boot":         boot,
		"BootProgress": object{"LastState": progress(b.machine.State())},
		"Actions":      object{"#ComputerSystem.Reset": reset},
	}
	if !b.lastReset.IsZero() {
		system["LastResetTime"] = b.lastReset.UTC().Format(time.RFC3339)
	}
	w.Header().Set("ETag", b.tag())
	writeObject(w, http.StatusOK, system)
}

// tag is the ETag of the system. b.mu is held.
func (b *BMC) tag() string { return fmt.Sprintf(`W/"%d"`, b.etag) }

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

// getBaseboard is the system that is no host: no reset, an empty Boot.
func (b *BMC) getBaseboard(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	ok := b.personality.SecondSystem
	b.mu.Unlock()
	if !ok {
		writeError(w, &refusal{status: http.StatusNotFound, id: "Base.1.13.ResourceMissingAtURI", text: "no such resource"})
		return
	}
	writeObject(w, http.StatusOK, object{
		"@odata.id": uriBaseboard, "@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem",
		"Id": "HGX_Baseboard_0", "Name": "HGX Baseboard", "PowerState": protocol.PowerOn, "Boot": object{}, "UUID": nil,
	})
}

func (b *BMC) patchSystem(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if match := r.Header.Get("If-Match"); match != "" && match != "*" && match != b.tag() {
		writeError(w, &refusal{status: http.StatusPreconditionFailed, id: "Base.1.13.PreconditionFailed", text: "the ETag does not match"})
		return
	}
	patch, refused := parseBootPatch(body, !b.personality.NoMode)
	if refused == nil && b.personality.RefusePatchInPost && (b.power == protocol.PowerPoweringOn || b.machine.State() == MachinePost) {
		refused = &refusal{status: http.StatusBadRequest, id: messagePostHPE, text: "the property cannot be modified while the system is in POST"}
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	b.record(RecordPatch, fmt.Sprintf("%s %s", patch.apply(b.override).Target, patch.apply(b.override).Enabled))
	if !b.personality.DropOverride {
		b.override = patch.apply(b.override)
		b.etag++
	}
	b.writeSystem(w)
}
