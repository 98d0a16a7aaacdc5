package sim

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"rackboot/protocol"
)

// routeMedia adds the routes of one virtual media slot.
func (b *BMC) routeMedia(add func(method, uri string, do handle), h *Host, slot string, index int) {
	actions := at(b.tree.look(slot), "Actions")
	add("GET", slot, func(r *request) *answer { return h.getMedia(r, slot) })
	insert := func(r *request) *answer { return h.insertMedia(r, slot, index) }
	add("POST", textAt(actions, "#VirtualMedia.InsertMedia", "target"), insert)
	add("POST", textAt(actions, "#VirtualMedia.EjectMedia", "target"), func(r *request) *answer { return h.ejectMedia(r, slot) })
	if actions == nil {
		add("PATCH", slot, func(r *request) *answer { return h.patchMedia(r, slot, index) })
	}
}

// Media is the image that a slot of the host holds; empty for none. The slot is
// given by its URI.
func (h *Host) Media(slot string) string {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	return textAt(h.media[fold(slot)], "Image")
}

// Insert is somebody who inserts an image at the BMC's page; an empty one is ejected.
func (h *Host) Insert(slot, image string) {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	delete(h.drives, fold(slot))
	h.media[fold(slot)] = object{"Image": nil, "Inserted": false, "ConnectedVia": "NotConnected"}
	if image != "" {
		h.media[fold(slot)] = object{"Image": image, "ImageName": image, "Inserted": true, "ConnectedVia": "URI"}
	}
	h.bmc.touch(slot)
}

// Slots are the URIs of the host's virtual drives.
func (h *Host) Slots() []string { return slices.Clone(h.place.media) }

// The override targets of virtual media.
const (
	targetCd    protocol.BootTarget = "Cd"
	targetUsbCd protocol.BootTarget = "UsbCd"
)

func isMedium(t protocol.BootTarget) bool { return t == targetCd || t == targetUsbCd }

// mediumFor says whether a target boots an image that is inserted. bmc.mu is held.
func (h *Host) mediumFor(t protocol.BootTarget) bool {
	want := targetCd
	if name := h.bmc.personality.Media.Target; name != "" {
		want = protocol.BootTarget(name)
	}
	for _, m := range h.media {
		if textAt(m, "Image") != "" {
			return t == want
		}
	}
	return false
}

func (h *Host) getMedia(r *request, slot string) *answer {
	body := h.bmc.tree.get(slot)
	if body == nil {
		return missing()
	}
	maps.Copy(body, h.media[fold(slot)])
	return h.bmc.tagged(r, body)
}

func (h *Host) insertMedia(r *request, slot string, index int) *answer {
	body, refused := r.object()
	if refused == nil {
		refused = h.judgeMedia(body, slot, index)
	}
	if refused == nil {
		refused = h.take(slot, textAt(body, "Image"))
	}
	if refused != nil {
		return refuse(refused)
	}
	inserted, given := body["Inserted"].(bool)
	h.media[fold(slot)] = object{
		"Image": body["Image"], "ImageName": body["Image"], "ConnectedVia": "URI", "Inserted": inserted || !given,
	}
	h.bmc.touch(slot)
	h.bmc.record(RecordMedia, textAt(body, "Image"))
	return reply(http.StatusNoContent, nil)
}

// patchMedia is the way of slots without actions: an Image inserts, null ejects.
func (h *Host) patchMedia(r *request, slot string, index int) *answer {
	if refused := h.bmc.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	if image, ok := body["Image"]; ok && image == nil || body["Inserted"] == false {
		return h.ejectMedia(r, slot)
	}
	return h.insertMedia(r, slot, index)
}

func (h *Host) judgeMedia(body object, slot string, index int) *refusal {
	rules := &h.bmc.personality.Media
	image := textAt(body, "Image")
	for name := range body {
		if slices.Contains(rules.Refuse, name) {
			return propertyError("ActionParameterNotSupported", name)
		}
	}
	for _, name := range rules.Need {
		if textAt(body, name) == "" {
			return propertyError("ActionParameterMissing", name)
		}
	}
	switch {
	case image == "":
		return propertyError("ActionParameterMissing", "Image")
	case rules.NeedMethod != "" && textAt(body, "TransferMethod") != rules.NeedMethod:
		return propertyError("ActionParameterValueNotInList", "TransferMethod")
	case rules.RefuseChars != "" && strings.ContainsAny(image, rules.RefuseChars):
		return propertyError("ActionParameterValueFormatError", "Image")
	case rules.FirstSlot && index > 0:
		return &refusal{status: http.StatusMethodNotAllowed, id: "Base.1.13.ActionNotSupported", text: "use the first slot"}
	case rules.Busy > 0:
		rules.Busy--
		return &refusal{status: http.StatusInternalServerError, id: "Base.1.13.InternalError", text: "virtual media are not ready"}
	case textAt(h.media[fold(slot)], "Image") != "":
		return &refusal{status: http.StatusBadRequest, id: "Base.1.13.ResourceInUse", text: "eject first"}
	default:
		return nil
	}
}

func (h *Host) ejectMedia(r *request, slot string) *answer {
	rules := h.bmc.personality.Media
	if rules.EjectBody && strings.TrimSpace(string(r.body)) == "" {
		return refuse(&refusal{status: http.StatusBadRequest, id: "Base.1.13.MalformedJSON", text: "the body is not a JSON object"})
	}
	delete(h.drives, fold(slot))
	h.media[fold(slot)] = object{"Image": nil, "ImageName": nil, "ConnectedVia": "NotConnected", "Inserted": rules.KeepInserted}
	h.bmc.touch(slot)
	return reply(http.StatusNoContent, nil)
}
