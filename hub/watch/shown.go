package watch

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// made is a resource as people see it, made once for all watches. It never changes.
type made struct {
	name    string
	raw     json.RawMessage // nil: it is gone
	settled json.RawMessage // for comparison
	when    time.Time
	server  string
	at      where
	labels  map[string]string
	kind    resource.Kind
	// callers see reboot annotations of their own in it.
	callers []string
}

// shown is what a board shows of it. It never changes.
type shown struct {
	*made
	raw    json.RawMessage // nil: it is gone
	line   []byte          // the event, with its newline
	digest string
	sum    string // of all that a watch depends on
	plain  func() (any, error)
}

// where is where a resource is.
type where struct {
	Places     []access.Labels   `json:"places"`
	Rack       string            `json:"rack"`
	RackLabels map[string]string `json:"rackLabels"`
}

// gone is what is shown of a resource that is not there.
func gone(name string) *shown {
	return &shown{made: &made{name: name}, line: lineOf(protoapi.WatchEvent{Type: protoapi.WatchGone, Name: name})}
}

// lineOf is an event with its newline.
func lineOf(e protoapi.WatchEvent) []byte {
	line, err := json.Marshal(e)
	if err != nil { // its types are all of JSON
		panic(err)
	}
	return append(line, '\n')
}

// show makes a stored resource as people see it; status says that somebody wants more of it than what is stored.
func (r *Room) show(stored resource.Object, status bool) (out *made, err error) {
	const op = "watch"
	r.metrics.made.Inc()
	w := world{r.cfg.Store.Objects}
	out = &made{name: stored.Head().Metadata.Name, kind: resource.KindOfType(stored), when: time.Now(), server: serverOf(stored), labels: stored.Head().Metadata.Labels}
	out.at = whereIs(stored, w)
	if !status {
		if out.raw, err = json.Marshal(stored); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		out.settled = out.raw // what is not settled is of the status
		return out, nil
	}
	obj := store.Copy(r.cfg.Store.Objects, stored)
	r.cfg.Status.Decorate(obj)
	resource.Shorten(obj)
	if out.raw, err = json.Marshal(obj); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if sets := resource.Reboots(obj); sets != nil {
		for _, set := range *sets {
			out.callers = append(out.callers, set.By)
		}
	}
	settle(obj)
	if out.settled, err = json.Marshal(obj); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return out, nil
}

// whereIs is where a stored resource is now.
func whereIs(stored resource.Object, w world) where {
	at := where{Places: access.Places(stored, w)}
	if rack := w.Rack(selector.RackOf(stored, w)); rack != nil {
		at.Rack, at.RackLabels = rack.Metadata.Name, rack.Metadata.Labels
	}
	return at
}

func digestOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
		h.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// lineFor is the event as a caller sees it: what he wants of it, his own reboot annotations, and the rack only where he may
// see it. less says that he wants less than is shown.
func (s *shown) lineFor(who string, only selector.Only, less, rackSeen bool) ([]byte, error) {
	his := slices.Contains(s.callers, who)
	if !his && !less && (rackSeen || s.at.Rack == "") {
		return s.line, nil
	}
	e := protoapi.WatchEvent{Type: protoapi.WatchPut, Name: s.name, Object: s.raw, Digest: s.digest}
	if rackSeen {
		e.Rack = s.at.Rack
	}
	if his {
		obj := resource.NewObject(s.kind)
		if err := json.Unmarshal(s.raw, obj); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "watch", "%w", err)
		}
		resource.ShowReboots(obj, who)
		var err error
		if e.Object, err = json.Marshal(obj); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "watch", "%w", err)
		}
	}
	var err error
	if e.Object, err = only.Of(e.Object); err != nil {
		return nil, err
	}
	return lineOf(e), nil
}
