package watch

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// shown is a resource as all watches show it, made once. It never changes.
type shown struct {
	name   string
	raw    json.RawMessage // nil: it is gone
	line   []byte          // the event, with its newline
	digest string
	sum    string // of all that a watch depends on
	made   time.Time
	server string
	at     where
	labels map[string]string
	kind   resource.Kind
	// callers see reboot annotations of their own in it.
	callers []string
	plain   func() (any, error)
}

// where is where a resource is.
type where struct {
	Places     []access.Labels   `json:"places"`
	Rack       string            `json:"rack"`
	RackLabels map[string]string `json:"rackLabels"`
}

// gone is what is shown of a resource that is not there.
func gone(name string) *shown {
	return &shown{name: name, line: lineOf(protoapi.WatchEvent{Type: protoapi.WatchGone, Name: name})}
}

// lineOf is an event with its newline.
func lineOf(e protoapi.WatchEvent) []byte {
	line, err := json.Marshal(e)
	if err != nil { // its types are all of JSON
		panic(err)
	}
	return append(line, '\n')
}

// show makes what is shown of a stored resource.
func (r *Room) show(stored resource.Object) (*shown, error) {
	const op = "watch"
	r.metrics.made.Inc()
	obj := store.Copy(r.cfg.Store.Objects, stored)
	r.cfg.Status.Decorate(obj)
	resource.Shorten(obj)
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	w := world{r.cfg.Store.Objects}
	out := &shown{name: stored.Head().Metadata.Name, kind: resource.KindOfType(stored), raw: raw, made: time.Now(), server: serverOf(stored), labels: stored.Head().Metadata.Labels}
	out.at = whereIs(stored, w)
	out.plain = sync.OnceValues(func() (any, error) { return selector.Plain(json.RawMessage(raw)) })
	if sets := resource.Reboots(obj); sets != nil {
		for _, set := range *sets {
			out.callers = append(out.callers, set.By)
		}
	}
	settle(obj)
	settled, err := json.Marshal(obj)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	at, err := json.Marshal(out.at)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	out.digest = digestOf(settled, []byte(out.at.Rack))
	out.sum = digestOf(settled, at)
	out.line = lineOf(protoapi.WatchEvent{Type: protoapi.WatchPut, Name: out.name, Object: raw, Rack: out.at.Rack, Digest: out.digest})
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

// lineFor is the event as a caller sees it: his own reboot annotations, and the rack only where he may see it.
func (s *shown) lineFor(who string, rackSeen bool) ([]byte, error) {
	his := slices.Contains(s.callers, who)
	if !his && (rackSeen || s.at.Rack == "") {
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
	return lineOf(e), nil
}
