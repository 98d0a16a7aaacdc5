package redfish

import (
	"encoding/json"
	"net/http"
	"slices"

	"rackboot/protocol"
)

// maxProblems bounds a report about a BMC on which nothing can be read.
const maxProblems = 32

// survey reads the parts of a server, each with its own error.
type survey struct {
	c        *call
	system   *system
	problems []protocol.PartProblem

	managed  []*object
	hasAsked bool // for the managers
}

func newSurvey(c *call, s *system) *survey { return &survey{c: c, system: s} }

// problem notes that a part could not be read.
func (v *survey) problem(part string, err error) {
	p := protocol.PartProblem{Part: part, Code: protocol.CodeOf(err), Text: err.Error()}
	if len(v.problems) < maxProblems && !slices.Contains(v.problems, p) {
		v.problems = append(v.problems, p)
	}
}

// get reads one resource of a part; nil if there is none or it fails.
func (v *survey) get(part, uri string) *object {
	if uri == "" {
		return nil
	}
	o, err := get[object](v.c, uri)
	if err != nil {
		v.problem(part, err)
		return nil
	}
	o.ODataID = uri
	return o
}

// each reads the members of a collection that a resource links to. Members that
// are embedded whole are read all the same: some are stubs.
func (v *survey) each(part string, link json.RawMessage, do func(*object)) {
	uri := linkOf(link)
	if uri == "" {
		return
	}
	uris, err := members(v.c, uri)
	v.visit(part, uris, err, do)
}

// visit reads the members of a list.
func (v *survey) visit(part string, uris []string, err error, do func(*object)) {
	if err != nil {
		v.problem(part, err)
		return
	}
	for _, uri := range uris {
		if o := v.get(part, uri); o != nil {
			do(o)
		}
	}
}

// eachIfThere is each of a collection that a BMC may link to and not have.
func (v *survey) eachIfThere(part string, link json.RawMessage, do func(*object)) {
	uri := linkOf(link)
	if uri == "" {
		return
	}
	if uris, err := members(v.c, uri); !missing(err) {
		v.visit(part, uris, err, do)
	}
}

// missing reports whether a BMC has nothing at a path.
func missing(err error) bool {
	status, _, refused := refusal(err)
	return refused && status == http.StatusNotFound
}

// managers are the BMCs of this system: those that it names, else those that
// name it, else those that name none (DGX).
func (v *survey) managers() []*object {
	if v.hasAsked {
		return v.managed
	}
	v.hasAsked = true
	for _, m := range rawsOf(fields(v.system.f["Links"])["ManagedBy"]) {
		if o := v.get("Managers", linkOf(m)); o != nil {
			v.managed = append(v.managed, o)
		}
	}
	if len(v.managed) > 0 {
		return v.managed
	}
	root := v.get("Managers", rootURI)
	if root == nil {
		return nil
	}
	var all []*object
	v.each("Managers", root.f["Managers"], func(o *object) { all = append(all, o) })
	for _, o := range all {
		for _, s := range rawsOf(fields(o.f["Links"])["ManagerForServers"]) {
			if sameURI(linkOf(s), v.system.ODataID) {
				v.managed = append(v.managed, o)
			}
		}
	}
	if len(v.managed) > 0 {
		return v.managed
	}
	for _, o := range all {
		if len(rawsOf(fields(o.f["Links"])["ManagerForServers"])) == 0 {
			v.managed = append(v.managed, o)
		}
	}
	return v.managed
}
