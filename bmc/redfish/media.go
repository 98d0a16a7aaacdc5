package redfish

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

const (
	opInsert = "bmc.insert_media"
	opEject  = "bmc.eject_media"
	// A slot is read back so often after an insert, and so far apart.
	mediaReads = 5
	mediaPause = time.Second
	// maxForms bounds the forms in which an insert is tried.
	maxForms = 6
)

// slot is a virtual media slot.
type slot struct {
	uri      string
	tag      string
	insert   string   // target of InsertMedia; empty: PATCH (Lenovo)
	eject    string   // target of EjectMedia; empty: PATCH
	types    []string // MediaTypes
	image    string
	inserted bool
}

func decodeSlot(uri string, o *object) slot {
	actions := fields(o.f["Actions"])
	return slot{
		uri: uri, tag: o.tag(),
		insert:   textOf(fields(actions["#VirtualMedia.InsertMedia"])["target"]),
		eject:    textOf(fields(actions["#VirtualMedia.EjectMedia"])["target"]),
		types:    textsOf[string](o.f["MediaTypes"]),
		image:    o.text("Image"),
		inserted: string(o.f["Inserted"]) == "true",
	}
}

// takesCD: a DVD slot takes a CD image.
func (s slot) takesCD() bool {
	return len(s.types) == 0 || slices.ContainsFunc(s.types, func(t string) bool { return t == "CD" || t == "DVD" })
}

func (s slot) full() bool { return s.inserted || s.image != "" }

// slots are the slots for CD images: those of the system (iDRAC 10 has no
// others, bmclib #433), else those of its managers. Ones with the action come
// first.
func (v *survey) slots() []slot {
	var out []slot
	add := func(o *object) {
		if s := decodeSlot(o.ODataID, o); s.takesCD() {
			out = append(out, s)
		}
	}
	v.each("VirtualMedia", v.system.f["VirtualMedia"], add)
	if len(out) == 0 {
		for _, m := range v.managers() {
			v.each("VirtualMedia", m.f["VirtualMedia"], add)
		}
	}
	slices.SortStableFunc(out, func(a, b slot) int {
		switch {
		case (a.insert == "") == (b.insert == ""):
			return 0
		case a.insert == "":
			return 1
		}
		return -1
	})
	return out
}

func (v *survey) mediaReport() protocol.MediaSlot {
	slots := v.slots()
	if len(slots) == 0 {
		return protocol.MediaSlot{Why: "there is no virtual media slot for CD images"}
	}
	r := protocol.MediaSlot{Supported: true, Slot: slots[0].uri, Method: "InsertMedia", Inserted: slots[0].full()}
	if slots[0].insert == "" {
		r.Method, r.Why = http.MethodPatch, "the slot has no InsertMedia action; its properties are written"
	}
	return r
}

// InsertMedia tries the slots in turn until one takes the image.
func (d *driver) InsertMedia(ctx context.Context, m bmc.Media) error {
	u, err := url.Parse(m.URL)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return protocol.Errorf(protocol.CodeInvalid, opInsert, "the image's URL is not a URL of scheme and host").
			WithHint("give an address that the BMC itself can reach, such as http://host/path.iso")
	}
	c := d.call(ctx, opInsert)
	slots, err := d.mediaSlots(c)
	if err != nil {
		return err
	}
	for i, s := range slots {
		if s.full() {
			// Inserted may stay true after an eject (sushy): the insert settles it.
			if err := c.eject(s); err != nil && !isRefused(err) {
				return err
			}
		}
		err := c.insert(s, m, u.Scheme)
		if err == nil {
			return d.inserted(c, s)
		}
		if !isRefused(err) || i == len(slots)-1 {
			return withMediaHint(err, m.URL)
		}
	}
	return nil
}

// EjectMedia empties the slots that hold something.
func (d *driver) EjectMedia(ctx context.Context) error {
	c := d.call(ctx, opEject)
	slots, err := d.mediaSlots(c)
	if err != nil {
		return err
	}
	for _, s := range slots {
		if s.full() {
			if err := c.eject(s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *driver) mediaSlots(c *call) ([]slot, error) {
	s, err := d.read(c)
	if err != nil {
		return nil, err
	}
	v := &survey{driver: d, c: c, system: s}
	if slots := v.slots(); len(slots) > 0 {
		return slots, nil
	}
	text := "none"
	if len(v.out.Problems) > 0 {
		text = v.out.Problems[0].Text
	}
	return nil, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s has no virtual media slot for CD images (%s)", d.link.base, text).
		WithHint("use another boot method; virtual media often needs a licence of the BMC")
}

// isRefused: nothing was done, and the BMC may do it in another form or slot.
func isRefused(err error) bool {
	status, said, ok := refusal(err)
	return ok && status != http.StatusUnauthorized && status != http.StatusForbidden && !said.is(postMessages())
}

// eject needs a body even where it has no parameters (iLO).
func (c *call) eject(s slot) error {
	if s.eject == "" {
		_, err := c.patch(s.uri, s.tag, map[string]any{"Image": nil, "Inserted": false})
		return err
	}
	resp, err := c.Post(s.eject, struct{}{})
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// insert tries the forms that BMCs want, beginning with the common one, guided
// by what they say about the last.
func (c *call) insert(s slot, m bmc.Media, scheme string) error {
	body := map[string]any{"Image": m.URL, "Inserted": true, "WriteProtected": true}
	if m.Username != "" {
		body["UserName"], body["Password"] = m.Username, m.Password
	}
	var err error
	for n := range maxForms {
		if s.insert == "" {
			_, err = c.patch(s.uri, s.tag, body)
		} else {
			var resp *http.Response
			if resp, err = c.Post(s.insert, body); err == nil {
				err = resp.Body.Close()
			}
		}
		status, said, ok := refusal(err)
		if !ok || status != http.StatusBadRequest && status != http.StatusUnprocessableEntity || said.is(postMessages()) {
			return err
		}
		next := otherForm(body, said, n, scheme)
		if maps.Equal(next, body) {
			return err
		}
		body = next
	}
	return err
}

// otherForm changes what the BMC named; where it named nothing, it goes through
// the forms that are known to be wanted (sushy virtual_media.py): Supermicro X11
// and X12 refuse Inserted and WriteProtected, Nokia needs the protocol, some the
// method, some credentials although none are needed.
func otherForm(body map[string]any, said message, n int, scheme string) map[string]any {
	out := maps.Clone(body)
	extra := map[string]any{
		"TransferProtocolType": strings.ToUpper(scheme), "TransferMethod": "Stream", "UserName": "none", "Password": "none",
	}
	for _, key := range []string{"Inserted", "WriteProtected"} {
		if said.about(key) {
			delete(out, key)
		}
	}
	for key, value := range extra {
		if _, has := out[key]; !has && said.about(key) {
			out[key] = value
		}
	}
	if !maps.Equal(out, body) || len(said.names) > 0 && slices.ContainsFunc(said.names, func(k string) bool { return k == "Image" }) {
		return out
	}
	switch n {
	case 0:
		delete(out, "Inserted")
		delete(out, "WriteProtected")
	case 1:
		out["TransferProtocolType"] = extra["TransferProtocolType"]
	case 2:
		out["TransferMethod"] = extra["TransferMethod"]
	case 3:
		if _, has := out["UserName"]; !has {
			out["UserName"], out["Password"] = "none", "none"
		}
	}
	return out
}

// inserted reads the slot until it shows the image.
func (d *driver) inserted(c *call, s slot) error {
	for n := 0; ; n++ {
		o, err := get[object](c, s.uri)
		if err != nil {
			return err
		}
		if decodeSlot(s.uri, o).full() {
			return nil
		}
		if n == mediaReads || !pause(c.ctx, mediaPause) {
			return protocol.Errorf(protocol.CodeUnavailable, c.op, "BMC %s accepted the image and shows the slot %s empty", d.link.base, s.uri).
				WithHint("check that the BMC can reach the image's address, and that its clock is right if it is https")
		}
	}
}

// withMediaHint adds what is the matter most often.
func withMediaHint(err error, image string) error {
	e, ok := errors.AsType[*protocol.Error](err)
	if ok && isRefused(err) && strings.ContainsAny(image, "?=") {
		e.Hint = "use a URL without ? and =, which some BMCs (Supermicro X12) refuse"
	}
	return err
}
