package redfish

import (
	"net/http"
	"strings"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// locateEvery is how often a system is looked for that is not at its path.
const locateEvery = 30 * time.Second

// resetPath is where the reset of a system is by convention (DSP0266, actions), for one that
// could not be read yet.
const resetPath = "/Actions/ComputerSystem.Reset"

// Expect implements bmc.Finder.
func (d *driver) Expect(id bmc.SystemID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expected = bmc.SystemID{UUID: strings.ToLower(id.UUID), Serial: id.Serial}
}

// likeness is how one property of a system compares with what is known.
type likeness string

const (
	likeSame  likeness = "same"
	likeOther likeness = "other"
	likeOpen  likeness = "open" // one of them says nothing
)

func likenessOf(known, is string) likeness {
	switch {
	case known == "" || is == "":
		return likeOpen
	case known == is:
		return likeSame
	}
	return likeOther
}

// fitsRule says whether a system is the machine that is looked for. The first row that fits
// decides.
//
//	uuid  | serial | fits
//	other | *      | no
//	*     | other  | no
//	same  | *      | yes
//	*     | same   | yes
//	*     | *      | no
func fitsRule(uuid, serial likeness) bool {
	return uuid != likeOther && serial != likeOther && (uuid == likeSame || serial == likeSame)
}

// fits says so of a system that was read.
func fits(id bmc.SystemID, s *system) bool {
	uuid := strings.ToLower(printable(textOf(s.f["UUID"])))
	if uuidProblem(uuid) != "" {
		uuid = ""
	}
	return fitsRule(likenessOf(id.UUID, uuid), likenessOf(id.Serial, printable(textOf(s.f["SerialNumber"]))))
}

// locate looks for a system that is 404 at its path, by what it is known by. It returns the
// error of the read where there is nothing to know it by, or none that fits.
func (d *driver) locate(c *call, uri string, gone error) (*system, error) {
	now := time.Now()
	d.mu.Lock()
	id := d.expected
	early := now.Sub(d.looked) < locateEvery
	if !early {
		d.looked, d.lost = now, nil
	}
	lost := d.lost
	if id == (bmc.SystemID{}) && d.givenURI == "" {
		d.systemURI = "" // it was the only one, and is found anew
	}
	d.mu.Unlock()
	switch {
	case id == (bmc.SystemID{}) || early && lost == nil:
		return nil, gone
	case early:
		return nil, lost
	}
	uris, err := d.systems(c)
	if err != nil {
		return nil, gone
	}
	var found []*system
	var names []string
	for _, at := range uris {
		if sameURI(at, uri) {
			continue
		}
		s, err := get[system](c, at)
		if err != nil {
			continue // it may be the other one's turn to start
		}
		if s.located(at); s.bootable() && fits(id, s) {
			found, names = append(found, s), append(names, at)
		}
	}
	switch len(found) {
	case 0:
		return nil, gone
	case 1:
		d.logger.Warn("the system has another path now", "from", uri, "to", names[0])
		d.mu.Lock()
		d.systemURI, d.followed, d.irmc, d.future = names[0], true, nil, ""
		d.looked = time.Time{}
		d.learn(found[0])
		d.mu.Unlock()
		return found[0], nil
	}
	e := protocol.Errorf(protocol.CodeConflict, c.op, "the system is no more at %s of BMC %s, and %d others fit: %s", uri, d.link.base, len(found), strings.Join(names, ", ")).
		WithHint(onlyOneHint)
	e.Err = &answer{status: http.StatusNotFound, fault: protocol.BMCFault{Kind: protocol.FaultAmbiguous, Text: printable(strings.Join(names, ", "))}}
	d.mu.Lock()
	d.lost = e
	d.mu.Unlock()
	return nil, e
}

// stranger is the error of a path to which the system was followed, and where another
// machine is now; nil if it is the same one. The path that was given counts again then.
func (d *driver) stranger(c *call, s *system) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.followed || fits(d.expected, s) {
		return nil
	}
	d.systemURI, d.followed, d.learned, d.resetAt = d.givenURI, false, nil, ""
	e := protocol.Errorf(protocol.CodeConflict, c.op, "%s of BMC %s is another machine's by now", s.ODataID, d.link.base).
		WithHint("the system is looked for again; set its system URI if it stays so")
	e.Err = &answer{fault: protocol.BMCFault{Kind: protocol.FaultStranger, Text: printable(s.ODataID + " is another machine's")}}
	return e
}

// blindTarget is where ForceOff is sent although the system cannot be read; empty for
// nowhere. The first row that fits decides.
//
//	fault     | learned | target
//	Ambiguous | *       | nowhere
//	Stranger  | *       | nowhere
//	*         | yes     | learned
//	Cut       | no      | conventional
//	Slow      | no      | conventional
//	*         | no      | nowhere
//
// learned is that the address of the action was read in this driver's life. Else only the
// path that somebody gave is known, which is enough where the BMC has an answer for it.
func blindTarget(kind protocol.FaultKind, learned, given string) string {
	switch {
	case kind == protocol.FaultAmbiguous, kind == protocol.FaultStranger:
		return ""
	case learned != "":
		return learned
	case given != "" && (kind == protocol.FaultCut || kind == protocol.FaultSlow):
		return strings.TrimSuffix(given, "/") + resetPath
	}
	return ""
}
