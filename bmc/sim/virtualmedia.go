package sim

import (
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// slots are the virtual drives of a system. Its methods are safe for concurrent use.
type slots struct {
	uris    []string
	tree    *tree.Tree
	manner  *manner
	tags    *tags
	diary   *diary
	logger  *slog.Logger
	fetches bool
	from    string // address of the BMC, from which it fetches

	mu     sync.Mutex
	media  map[string]tree.Object // what was inserted, by folded URI of the slot
	drives map[string]*hardware.Medium
}

func (s *slots) routes(t *router) {
	for i, slot := range s.uris {
		actions := tree.At(s.tree.Look(slot), "Actions")
		t.add("GET", slot, func(r *request) *answer { return s.get(r, slot) })
		t.add("POST", tree.TextAt(actions, "#VirtualMedia.InsertMedia", "target"), func(r *request) *answer { return s.insert(r, slot, i) })
		t.add("POST", tree.TextAt(actions, "#VirtualMedia.EjectMedia", "target"), func(r *request) *answer { return s.eject(r, slot) })
		if actions == nil {
			t.add("PATCH", slot, func(r *request) *answer { return s.patch(r, slot, i) })
		}
	}
}

// image is what a slot holds; empty for none. The slot is given by its URI.
func (s *slots) image(slot string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tree.TextAt(s.media[tree.Fold(slot)], "Image")
}

// put is somebody who inserts an image at the BMC's page; an empty one is ejected.
func (s *slots) put(slot, image string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.drives, tree.Fold(slot))
	s.media[tree.Fold(slot)] = tree.Object{"Image": nil, "Inserted": false, "ConnectedVia": "NotConnected"}
	if image != "" {
		s.media[tree.Fold(slot)] = tree.Object{"Image": image, "ImageName": image, "Inserted": true, "ConnectedVia": "URI"}
	}
	s.tags.touch(slot)
}

// mediumFor says whether a target boots an image that is inserted.
func (s *slots) mediumFor(t protocol.BootTarget) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := hardware.TargetCd
	if name := s.manner.now().Media.Target; name != "" {
		want = protocol.BootTarget(name)
	}
	for _, m := range s.media {
		if tree.TextAt(m, "Image") != "" {
			return t == want
		}
	}
	return false
}

func (s *slots) get(r *request, slot string) *answer {
	body := s.tree.Get(slot)
	if body == nil {
		return missing()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(body, s.media[tree.Fold(slot)])
	return s.tags.tagged(r, body)
}

func (s *slots) insert(r *request, slot string, index int) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, refused := r.object()
	if refused == nil {
		refused = s.judge(body, slot, index)
	}
	if refused == nil {
		refused = s.take(slot, tree.TextAt(body, "Image"))
	}
	if refused != nil {
		return refuse(refused)
	}
	inserted, given := body["Inserted"].(bool)
	s.media[tree.Fold(slot)] = tree.Object{
		"Image": body["Image"], "ImageName": body["Image"], "ConnectedVia": "URI", "Inserted": inserted || !given,
	}
	s.tags.touch(slot)
	s.diary.record(RecordMedia, tree.TextAt(body, "Image"))
	return reply(http.StatusNoContent, nil)
}

// patch is the way of slots without actions: an Image inserts, null ejects.
func (s *slots) patch(r *request, slot string, index int) *answer {
	if refused := s.tags.precondition(r); refused != nil {
		return refuse(refused)
	}
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	if image, ok := body["Image"]; ok && image == nil || body["Inserted"] == false {
		return s.eject(r, slot)
	}
	return s.insert(r, slot, index)
}

// judge refuses an insert. s.mu is held.
func (s *slots) judge(body tree.Object, slot string, index int) *refusal {
	rules := s.manner.now().Media
	image := tree.TextAt(body, "Image")
	for name := range body {
		if slices.Contains(rules.Refuse, name) {
			return propertyError("ActionParameterNotSupported", name)
		}
	}
	for _, name := range rules.Need {
		if tree.TextAt(body, name) == "" {
			return propertyError("ActionParameterMissing", name)
		}
	}
	switch {
	case image == "":
		return propertyError("ActionParameterMissing", "Image")
	case rules.NeedMethod != "" && tree.TextAt(body, "TransferMethod") != rules.NeedMethod:
		return propertyError("ActionParameterValueNotInList", "TransferMethod")
	case rules.RefuseChars != "" && strings.ContainsAny(image, rules.RefuseChars):
		return propertyError("ActionParameterValueFormatError", "Image")
	case rules.FirstSlot && index > 0:
		return &refusal{status: http.StatusMethodNotAllowed, id: "Base.1.13.ActionNotSupported", text: "use the first slot"}
	case s.manner.spend(func(p *Personality) *int { return &p.Media.Busy }):
		return &refusal{status: http.StatusInternalServerError, id: "Base.1.13.InternalError", text: "virtual media are not ready"}
	case tree.TextAt(s.media[tree.Fold(slot)], "Image") != "":
		return &refusal{status: http.StatusBadRequest, id: "Base.1.13.ResourceInUse", text: "eject first"}
	default:
		return nil
	}
}

func (s *slots) eject(r *request, slot string) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules := s.manner.now().Media
	if rules.EjectBody && strings.TrimSpace(string(r.body)) == "" {
		return refuse(&refusal{status: http.StatusBadRequest, id: "Base.1.13.MalformedJSON", text: "the body is not a JSON object"})
	}
	delete(s.drives, tree.Fold(slot))
	s.media[tree.Fold(slot)] = tree.Object{"Image": nil, "ImageName": nil, "ConnectedVia": "NotConnected", "Inserted": rules.KeepInserted}
	s.tags.touch(slot)
	return reply(http.StatusNoContent, nil)
}
