package redfish

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path"
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
	by       string // ConnectedVia
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
		by:       o.text("ConnectedVia"),
	}
}

// takesCD: a DVD slot takes a CD image.
func (s slot) takesCD() bool {
	return len(s.types) == 0 || slices.ContainsFunc(s.types, func(t string) bool { return t == "CD" || t == "DVD" })
}

// takesStick: HPE's first slot is no CD drive; a system that runs reads the config image
// from it all the same (metal-operator #690).
func (s slot) takesStick() bool { return slices.Contains(s.types, "USBStick") }

func (s slot) full() bool { return s.inserted || s.image != "" }

// connectedByApplet is Redfish ConnectedVia of what a person has mounted from a console.
const connectedByApplet = "Applet"

// ours says whether the slot holds an image of ours. Some BMCs show its name only.
func (s slot) ours(own string) bool {
	if !strings.Contains(s.image, "://") {
		return slices.Contains([]string{protocol.FileISO, protocol.FileConfigISO}, path.Base(s.image))
	}
	return own != "" && strings.HasPrefix(s.image, own)
}

// foreign says whether somebody else's medium is in the slot. Inserted alone means nothing:
// it may stay true after an eject (sushy).
func (s slot) foreign(own string) bool {
	return s.image != "" && !s.ours(own) || s.inserted && s.by == connectedByApplet
}

// drives are the slots of a BMC: boot for CD images, those with the action first, and
// other for USB sticks.
type drives struct{ boot, other []slot }

func (d drives) all() []slot { return slices.Concat(d.boot, d.other) }

// drives reads the slots: those of the system (iDRAC 10 has no others, bmclib #433), else
// those of its managers.
func (v *survey) drives() (out drives) {
	add := func(o *object) {
		switch s := decodeSlot(o.ODataID, o); {
		case s.takesCD():
			out.boot = append(out.boot, s)
		case s.takesStick():
			out.other = append(out.other, s)
		}
	}
	v.each("VirtualMedia", v.system.f["VirtualMedia"], add)
	if len(out.boot) == 0 {
		out.other = nil
		for _, m := range v.managers() {
			v.each("VirtualMedia", m.f["VirtualMedia"], add)
		}
	}
	slices.SortStableFunc(out.boot, func(a, b slot) int {
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

// media counts the drives for the inventory; nothing is said where one cannot be read.
func (v *survey) media() {
	problems := len(v.out.Problems)
	if d := v.drives(); len(v.out.Problems) == problems {
		v.out.Media = &protocol.MediaDrives{Boot: len(d.boot), Other: len(d.other)}
	}
}

func (v *survey) mediaReport() protocol.MediaSlot {
	slots := v.drives().boot
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
func (d *driver) InsertMedia(ctx context.Context, m bmc.Media) (in bmc.Inserted, err error) {
	for _, image := range []string{m.Boot, m.Config} {
		if u, err := url.Parse(image); image != "" && (err != nil || u.Scheme == "" || u.Host == "") || m.Boot == "" {
			return in, protocol.Errorf(protocol.CodeInvalid, opInsert, "the image's URL is not a URL of scheme and host").
				WithHint("give an address that the BMC itself can reach, such as http://host/path.iso")
		}
	}
	c := d.call(ctx, opInsert)
	c.slow = true // a BMC reads from the agent before it answers
	all, err := d.mediaDrives(c)
	if err != nil {
		return in, err
	}
	for _, s := range all.boot {
		if s.foreign(m.Own) {
			return in, protocol.Errorf(protocol.CodeConflict, opInsert, "BMC %s: %w", d.link.base, &bmc.Occupied{Drive: s.uri}).
				WithHint("eject it at the BMC; it may be a person's who works on the server")
		}
	}
	var free []slot
	for _, s := range all.all() {
		switch {
		case s.image == m.Boot:
			in.Boot = s.uri // of an answer that was lost
		case s.image == m.Config && m.Config != "":
			in.Config = s.uri
		case s.foreign(m.Own):
		default:
			if s.full() {
				if err := c.eject(s); err != nil && !isRefused(err) {
					return in, err
				}
			}
			free = append(free, s)
		}
	}
	if in.Boot == "" {
		if in.Boot, err = d.insertInto(c, slices.DeleteFunc(slices.Clone(free), func(s slot) bool { return !s.takesCD() }), m.Boot); err != nil {
			return in, withMediaHint(err, m.Boot)
		}
	}
	if in.Boot == "" {
		return in, protocol.Errorf(protocol.CodeUnavailable, opInsert, "BMC %s has no drive free for the image", d.link.base).WithHint("eject what its virtual drives hold")
	}
	if m.Config != "" && in.Config == "" {
		second := slices.DeleteFunc(free, func(s slot) bool { return s.uri == in.Boot })
		if in.Config, err = d.insertInto(c, second, m.Config); err != nil && !isRefused(err) {
			return in, err
		}
	}
	return in, nil
}

// insertInto inserts an image into the first slot that takes it. The error is the last
// one's; without slots there is none.
func (d *driver) insertInto(c *call, slots []slot, image string) (string, error) {
	scheme, _, _ := strings.Cut(image, ":")
	for i, s := range slots {
		err := c.insert(s, image, scheme)
		if err == nil {
			return s.uri, d.inserted(c, s)
		}
		if !isRefused(err) || i == len(slots)-1 {
			return "", err
		}
	}
	return "", nil
}

// EjectMedia empties the slots that hold something of ours.
func (d *driver) EjectMedia(ctx context.Context, own string) error {
	c := d.call(ctx, opEject)
	all, err := d.mediaDrives(c)
	if err != nil {
		return err
	}
	var failed error
	for _, s := range all.all() {
		if s.image == "" || !s.ours(own) {
			continue
		}
		err := c.eject(s)
		if err == nil {
			err = d.ejected(c, s, own)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func (d *driver) mediaDrives(c *call) (drives, error) {
	s, err := d.read(c)
	if err != nil {
		return drives{}, err
	}
	v := &survey{driver: d, c: c, system: s}
	all := v.drives()
	switch {
	case len(all.boot) > 0:
		return all, nil
	case len(v.out.Problems) == 0:
		return all, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s has no virtual media slot for CD images", d.link.base).
			WithHint("use another boot method; virtual media often needs a licence of the BMC")
	}
	p := v.out.Problems[0]
	return all, protocol.Errorf(p.Code, c.op, "BMC %s: its virtual media cannot be read: %s", d.link.base, p.Text)
}

// isRefused: nothing was done, and the BMC may do it in another form or slot.
func isRefused(err error) bool {
	status, said, ok := refusal(err)
	return ok && status != http.StatusUnauthorized && status != http.StatusForbidden && !said.is(postMessages)
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
func (c *call) insert(s slot, image, scheme string) error {
	body := map[string]any{"Image": image, "Inserted": true, "WriteProtected": true}
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
		if !ok || status != http.StatusBadRequest && status != http.StatusUnprocessableEntity || said.is(postMessages) {
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

// ejected reads the slot until it does not show our image any more.
func (d *driver) ejected(c *call, s slot, own string) error {
	for n := 0; ; n++ {
		o, err := get[object](c, s.uri)
		if err != nil {
			return err
		}
		if now := decodeSlot(s.uri, o); now.image == "" || !now.ours(own) {
			return nil
		}
		if n == mediaReads || !pause(c.ctx, mediaPause) {
			return protocol.Errorf(protocol.CodeUnavailable, c.op, "BMC %s accepted the eject and still shows the image in %s", d.link.base, s.uri).
				WithHint("eject it at the BMC")
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
