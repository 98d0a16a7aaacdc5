package redfish

import (
	"log/slog"
	"net/http"
	"sync"

	"rackboot/protocol"
)

// overrides writes the boot override of a system, and reads it.
type overrides struct {
	link    *link
	locator *locator
	learned *learned
	logger  *slog.Logger

	mu    sync.Mutex
	shown *shown // nil: what is read is reported
}

func newOverrides(l *link, at *locator, learned *learned, logger *slog.Logger) *overrides {
	return &overrides{link: l, locator: at, learned: learned, logger: logger}
}

// shown remembers how the BMC shows the override of the last SetBoot, where it
// does so in other words or at another place than Observe reads.
type shown struct {
	want    protocol.Override // what SetBoot reported as stored
	read    protocol.Override
	pending bool // in the settings only
}

func (o *overrides) remember(s *shown) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shown = s
}

// of is the override that the BMC holds, in the words of the last set for as long as it is
// that one. The power state is from before, so that it is never younger than it says.
func (o *overrides) of(c *call, s *system) protocol.Override {
	o.mu.Lock()
	last := o.shown
	o.mu.Unlock()
	main := s.boot.override
	if uri, err := o.oemOf(c, s); uri != "" || err != nil {
		if oem, errGet := get[object](c, uri); err == nil && errGet == nil {
			return decodeIRMC(uri, "", oem.f).override
		}
		return protocol.Override{}
	}
	if last == nil {
		return main
	}
	if last.pending && !main.Armed() && s.settings != "" {
		settings, err := get[object](c, s.settings)
		if err != nil || decodeBoot(s.settings, "", settings.f["Boot"]).override == last.read {
			return last.want // without news it still counts as armed
		}
	}
	if main == last.read { // what waited has reached the system
		o.remember(&shown{want: last.want, read: last.read})
		return last.want
	}
	o.remember(nil)
	return main
}

// view reads all that a plan is made from. A settings object that cannot be
// read is an error only where the system itself says nothing.
func (o *overrides) view(c *call) (bootView, error) {
	s, err := o.locator.read(c)
	if err != nil {
		return bootView{}, err
	}
	v := bootView{main: &s.boot, profile: s.profile}
	uri, err := o.oemOf(c, s)
	if err != nil {
		return bootView{}, err
	}
	if uri != "" {
		oem, err := get[object](c, uri)
		if err != nil {
			return bootView{}, err
		}
		b := decodeIRMC(uri, oem.tag(), oem.f)
		v.irmc = &b
		return v, nil
	}
	if s.settings == "" {
		return v, nil
	}
	settings, err := get[object](c, s.settings)
	switch {
	case err == nil:
		v.useSettings(s.settings, settings)
	case protocol.CodeOf(err) == protocol.CodeDenied, !s.boot.has(keyTarget) || s.boot.override.Target == "":
		return bootView{}, err
	}
	return v, nil
}

// oemOf is where this system's override is if it is in a vendor's resource;
// empty elsewhere. It is looked for once; a system that has none of what its
// vendor is known for is taken as standard.
func (o *overrides) oemOf(c *call, s *system) (string, error) {
	if s.oemBoot != "" || len(s.profile.oemBoot) == 0 {
		return s.oemBoot, nil
	}
	if known, ok := o.learned.oemBoot(s.ODataID); ok {
		return known, nil
	}
	found := ""
	for _, path := range s.profile.oemBoot {
		_, err := get[object](c, s.ODataID+path)
		if status, _, refused := refusal(err); err != nil && (!refused || status != http.StatusNotFound) {
			return "", err
		}
		if err == nil {
			found = s.ODataID + path
			break
		}
	}
	o.learned.foundOEMBoot(s.ODataID, found)
	return found, nil
}
