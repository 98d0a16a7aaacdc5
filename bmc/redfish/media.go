package redfish

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// A slot is read back so often after an insert, and so far apart.
const (
	mediaReads = 5
	mediaPause = time.Second
)

// media puts images into the virtual drives of a system, and takes them out.
type media struct {
	link    *link
	locator *locator
}

func newMedia(l *link, at *locator) *media { return &media{link: l, locator: at} }

// insert tries the slots in turn until one takes the image.
func (m *media) insert(ctx context.Context, want bmc.Media) (in bmc.Inserted, err error) {
	for _, image := range []string{want.Boot, want.Config} {
		if u, err := url.Parse(image); image != "" && (err != nil || u.Scheme == "" || u.Host == "") || want.Boot == "" {
			return in, protocol.Errorf(protocol.CodeInvalid, opInsert, "the image's URL is not a URL of scheme and host").
				WithHint("give an address that the BMC itself can reach, such as http://host/path.iso")
		}
	}
	c := newSlowCall(ctx, opInsert, m.link) // a BMC reads from the agent before it answers
	all, err := m.drives(c)
	if err != nil {
		return in, err
	}
	for _, s := range all.boot {
		if s.foreign(want.Own) {
			return in, protocol.Errorf(protocol.CodeConflict, opInsert, "BMC %s: %w", m.link.base, &bmc.Occupied{Drive: s.uri}).
				WithHint("eject it at the BMC; it may be a person's who works on the server")
		}
	}
	var free []slot
	for _, s := range all.all() {
		switch {
		case s.image == want.Boot:
			in.Boot = s.uri // of an answer that was lost
		case s.image == want.Config && want.Config != "":
			in.Config = s.uri
		case s.foreign(want.Own):
		default:
			if s.full() {
				if err := eject(c, s); err != nil && !isRefused(err) {
					return in, err
				}
			}
			free = append(free, s)
		}
	}
	if in.Boot == "" {
		if in.Boot, err = m.insertInto(c, slices.DeleteFunc(slices.Clone(free), func(s slot) bool { return !s.takesCD() }), want.Boot); err != nil {
			return in, withMediaHint(err, want.Boot)
		}
	}
	if in.Boot == "" {
		return in, protocol.Errorf(protocol.CodeUnavailable, opInsert, "BMC %s has no drive free for the image", m.link.base).WithHint("eject what its virtual drives hold")
	}
	if want.Config != "" && in.Config == "" {
		second := slices.DeleteFunc(free, func(s slot) bool { return s.uri == in.Boot })
		if in.Config, err = m.insertInto(c, second, want.Config); err != nil && !isRefused(err) {
			return in, err
		}
	}
	return in, nil
}

// insertInto inserts an image into the first slot that takes it. The error is the last
// one's; without slots there is none.
func (m *media) insertInto(c *call, slots []slot, image string) (string, error) {
	scheme, _, _ := strings.Cut(image, ":")
	for i, s := range slots {
		err := insert(c, s, image, scheme)
		if err == nil {
			return s.uri, m.inserted(c, s)
		}
		if !isRefused(err) || i == len(slots)-1 {
			return "", err
		}
	}
	return "", nil
}

// eject empties the slots that hold something of ours.
func (m *media) eject(ctx context.Context, own string) error {
	c := newCall(ctx, opEject, m.link)
	all, err := m.drives(c)
	if err != nil {
		return err
	}
	var failed error
	for _, s := range all.all() {
		if s.image == "" || !s.ours(own) {
			continue
		}
		err := eject(c, s)
		if err == nil {
			err = m.ejected(c, s, own)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func (m *media) drives(c *call) (drives, error) {
	s, err := m.locator.read(c)
	if err != nil {
		return drives{}, err
	}
	v := newSurvey(c, s)
	all := drivesOf(v)
	switch {
	case len(all.boot) > 0:
		return all, nil
	case len(v.problems) == 0:
		return all, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s has no virtual media slot for CD images", m.link.base).
			WithHint("use another boot method; virtual media often needs a licence of the BMC")
	}
	p := v.problems[0]
	return all, protocol.Errorf(p.Code, c.op, "BMC %s: its virtual media cannot be read: %s", m.link.base, p.Text)
}

// inserted reads the slot until it shows the image.
func (m *media) inserted(c *call, s slot) error {
	for n := 0; ; n++ {
		o, err := get[object](c, s.uri)
		if err != nil {
			return err
		}
		if decodeSlot(s.uri, o).full() {
			return nil
		}
		if n == mediaReads || !pause(c.ctx, mediaPause) {
			return protocol.Errorf(protocol.CodeUnavailable, c.op, "BMC %s accepted the image and shows the slot %s empty", m.link.base, s.uri).
				WithHint("check that the BMC can reach the image's address, and that its clock is right if it is https")
		}
	}
}

// ejected reads the slot until it does not show our image any more.
func (m *media) ejected(c *call, s slot, own string) error {
	for n := 0; ; n++ {
		o, err := get[object](c, s.uri)
		if err != nil {
			return err
		}
		if now := decodeSlot(s.uri, o); now.image == "" || !now.ours(own) {
			return nil
		}
		if n == mediaReads || !pause(c.ctx, mediaPause) {
			return protocol.Errorf(protocol.CodeUnavailable, c.op, "BMC %s accepted the eject and still shows the image in %s", m.link.base, s.uri).
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
