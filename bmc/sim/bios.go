package sim

import (
	"maps"
	"net/http"
	"strings"
)

// attribute is a BIOS attribute that is in force; empty if there is none, or no
// string. bmc.mu is held.
func (h *Host) attribute(name string) string {
	if value, ok := h.attributes[name]; ok {
		s, _ := value.(string)
		return s
	}
	return textAt(h.bmc.tree.look(h.place.bios), "Attributes", name)
}

func (h *Host) getBIOS(r *request) *answer {
	body := h.bmc.tree.get(h.place.bios)
	if body == nil {
		return missing()
	}
	return h.bmc.tagged(r, merge(body, object{"Attributes": clone(h.attributes)}).(object))
}

// getBIOSSettings shows the attributes that wait for a reset.
func (h *Host) getBIOSSettings(r *request) *answer {
	body := h.bmc.tree.get(h.place.biosSettings)
	if body == nil {
		body = object{"@odata.id": h.place.biosSettings, "@odata.type": "#Bios.v1_2_0.Bios", "Id": "Settings", "Name": "BIOS settings"}
	}
	body["Attributes"] = clone(h.waiting)
	return h.bmc.tagged(r, body)
}

func (h *Host) patchBIOSSettings(r *request) *answer {
	rules := h.bmc.personality.BIOS
	if refused := h.bmc.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	change, ok := body["Attributes"].(object)
	if !ok {
		return refuse(propertyError("PropertyValueTypeError", "Attributes"))
	}
	if refused := h.judgeBIOS(change); refused != nil {
		return refuse(refused)
	}
	maps.Copy(h.waiting, change)
	h.bmc.touch(h.place.biosSettings)
	a := reply(http.StatusOK, object{})
	if at(body, "@Redfish.SettingsApplyTime", "ApplyTime") == "OnReset" && rules.OwnJob {
		a.status = http.StatusAccepted
		a.header.Set("Location", h.bmc.addJob(h, "BIOS configuration").uri)
	}
	return a
}

func (h *Host) judgeBIOS(change object) *refusal {
	rules := h.bmc.personality.BIOS
	if refused := h.hostBusy(); refused != nil {
		return refused
	}
	switch {
	case rules.Conflict && len(h.secure) > 0:
		return &refusal{status: http.StatusBadRequest, id: "IDRAC.2.8.SYS011", text: "a change of this configuration waits already"}
	case rules.OwnJob && h.bmc.openJob(h):
		return &refusal{status: http.StatusBadRequest, id: "IDRAC.2.8.SYS011", text: "the configuration is already committed"}
	}
	known := h.bmc.tree.look(h.place.bios)
	for name := range change {
		if at(known, "Attributes", name) == nil {
			return propertyError("PropertyUnknown", name)
		}
		for _, part := range rules.NeedParts {
			need, value, _ := strings.Cut(part.Value, "=")
			if strings.HasPrefix(name, part.Name) && name != need && h.attribute(need) != value && change[need] != value {
				return propertyError("PropertyNotWritable", name)
			}
		}
	}
	return nil
}

func (h *Host) getSecureBoot(r *request) *answer {
	body := h.bmc.tree.get(h.place.secureBoot)
	if body == nil {
		return missing()
	}
	return h.bmc.tagged(r, merge(body, clone(h.secureNow)).(object))
}

// patchSecureBoot takes SecureBootEnable for the next reset.
func (h *Host) patchSecureBoot(r *request) *answer {
	if refused := h.bmc.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	for name, value := range body {
		if _, ok := value.(bool); !ok || name != "SecureBootEnable" {
			return refuse(propertyError("PropertyNotWritable", name))
		}
	}
	merge(h.secure, body)
	h.bmc.touch(h.place.secureBoot)
	return reply(http.StatusNoContent, nil)
}
