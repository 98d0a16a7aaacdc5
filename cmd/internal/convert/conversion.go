package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The bounds of a conversion: bytes of one file, and of one of YAML, files, depth of what is in them, and what is
// made of them.
const (
	MaxFile     = 16 << 20
	maxYAML     = 4 << 20
	MaxFiles    = 256
	maxDepth    = 64
	maxFindings = 1 << 20
	maxObjects  = 50_000
)

// File is one file of the input.
type File struct {
	Name string // as it is shown
	Data []byte
}

// Settings are what Rackboot needs and other tools do not know.
type Settings struct {
	// Rack is the rack of all BMCs; Segment is the boot segment of all servers, RACK-boot if empty.
	Rack    string
	Segment string
	// CA has PEM certificates that sign the BMCs' own; Fingerprints are theirs by name of the BMC.
	CA           string
	Fingerprints map[string]string
	// Credentials is the credentialsRef of BMCs whose account is not in the input; local:BMC if empty.
	Credentials string
	// Image and BootEnv are what claims boot whose image cannot be taken; at most one is given.
	Image   string
	BootEnv string
}

// Conversion collects what readers make of the input.
type Conversion struct {
	Settings Settings
	Report   Report

	objects []resource.Object
	names   map[string]bool
	needs   map[Need]bool
	bmcs    map[string]string // names by host and port
	err     error
}

// New begins a conversion.
func New(s Settings) *Conversion {
	return &Conversion{Settings: s, Report: Report{Findings: []Finding{}, Needs: []Need{}, Written: []string{}}, names: map[string]bool{}, needs: map[Need]bool{}, bmcs: map[string]string{}}
}

// fail keeps the first thing that ends the conversion.
func (c *Conversion) fail(format string, args ...any) {
	if c.err == nil {
		c.err = protocol.Errorf(protocol.CodeInvalid, "convert", format, args...).WithHint("split the input, and convert the parts one by one")
	}
}

// Object begins to read an object of the input. name says what it is: BareMetalHost/n1.
func (c *Conversion) Object(file, name string, root any) *Object {
	return &Object{c: c, file: file, name: name, root: root, marks: map[string]*Finding{}}
}

// Has reports whether a resource was made already.
func (c *Conversion) Has(kind resource.Kind, name string) bool { return c.names[ID(kind, name)] }

// There reports whether a resource was made already, by its [ID].
func (c *Conversion) There(id string) bool { return c.names[id] }

// ID is how a report names a resource: server/n1.
func ID(kind resource.Kind, name string) string { return strings.ToLower(string(kind)) + "/" + name }

// Add takes a resource; false if there is one of that kind and name already, which stays.
func (c *Conversion) Add(obj resource.Object) bool {
	filled(obj)
	h := obj.Head()
	id := ID(h.Kind, h.Metadata.Name)
	if c.names[id] {
		return false
	}
	if len(c.objects) >= maxObjects {
		c.fail("the input makes more than %d resources", maxObjects)
		return false
	}
	c.names[id] = true
	c.objects = append(c.objects, obj)
	return true
}

// filled sets apiVersion and kind, without the defaults of the spec: those are the hub's to fill.
func filled(obj resource.Object) {
	for _, k := range resource.Kinds() {
		if fmt.Sprintf("%T", resource.NewObject(k)) == fmt.Sprintf("%T", obj) {
			obj.Head().APIVersion, obj.Head().Kind = resource.APIVersion, k
		}
	}
}

// Need says that a resource lacks something. The same is said once.
func (c *Conversion) Need(object, field string, code Code) {
	if n := (Need{object, field, code}); !c.needs[n] {
		c.needs[n] = true
		c.Report.Needs = append(c.Report.Needs, n)
	}
}

// Result is what a conversion made.
type Result struct {
	// Objects are in an order in which they can be applied.
	Objects []resource.Object
	Report  Report
}

// Finish checks what was made as rackctl apply does, and ends the conversion. The code of its error is invalid.
func (c *Conversion) Finish() (Result, error) {
	if c.err != nil {
		return Result{}, c.err
	}
	order := resource.Kinds()
	slices.SortStableFunc(c.objects, func(a, b resource.Object) int {
		return slices.Index(order, a.Head().Kind) - slices.Index(order, b.Head().Kind)
	})
	needed := map[string][]string{}
	for _, n := range c.Report.Needs {
		needed[n.Object] = append(needed[n.Object], n.Field)
	}
	for _, obj := range c.objects {
		id := ID(obj.Head().Kind, obj.Head().Metadata.Name)
		c.Report.Written = append(c.Report.Written, id)
		wrong, err := problems(obj)
		if err != nil {
			return Result{}, err
		}
		for _, field := range wrong {
			if !slices.ContainsFunc(needed[id], func(n string) bool { return strings.HasPrefix(n+".", field+".") || strings.HasPrefix(field+".", n+".") }) {
				c.Need(id, field, ApplyRefuses)
			}
		}
	}
	return Result{c.objects, c.Report}, nil
}

// problems are the paths that apply would refuse.
func problems(obj resource.Object) ([]string, error) {
	raw, err := encode(obj)
	if err != nil {
		return nil, err
	}
	twin := resource.NewObject(obj.Head().Kind)
	if err := json.Unmarshal(raw, twin); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "convert", "%s cannot be read again", ID(obj.Head().Kind, obj.Head().Metadata.Name))
	}
	twin.Default()
	var out []string
	for _, f := range twin.Validate() {
		if !slices.Contains(out, f.Path) {
			out = append(out, f.Path)
		}
	}
	return out, nil
}

// encode is the JSON of a resource, of a Secret with its data.
func encode(obj resource.Object) ([]byte, error) {
	if s, is := obj.(*resource.Secret); is {
		raw, err := s.Reveal()
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "convert", "a Secret cannot be written")
		}
		return raw, nil
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "convert", "%w", err)
	}
	return raw, nil
}
