package ignition

import "reflect"

// source is a stub of specification 1 or 2 on its way to 3, with what was found on it.
type source struct {
	stub    stub2
	version string
	minor   int // of specification 2; 0 for 1

	// files and filesystems are the paths of the entries in the stub as it was given.
	files, filesystems []string
	mount              string // what follows before the fields of a mount: .mount, or nothing

	// prefix has where the root of a named filesystem is in the server's tree; "" is
	// nowhere. kept are the indexes of the filesystems that the result has too.
	prefix map[string]string
	kept   []int
	// mounted has the place in the tree of filesystems that something is written to.
	mounted map[int]string

	refused *Refusal // the first
	lost    []Loss
}

// read2 reads specification 2.minor.
func read2(t *tree, version string, minor int) (*source, *Refusal) {
	s := &source{version: version, minor: minor, mount: ".mount"}
	f := filler{minor: minor}
	f.fill(t, reflect.ValueOf(&s.stub).Elem(), "$")
	if f.refusal != nil {
		return nil, f.refusal
	}
	s.lost = f.lost
	for i := range s.stub.Storage.Files {
		s.files = append(s.files, "$.storage.files["+itoa(i)+"]")
	}
	for i := range s.stub.Storage.Filesystems {
		s.filesystems = append(s.filesystems, "$.storage.filesystems["+itoa(i)+"]")
	}
	return s, nil
}

func (s *source) refuse(c Class, path, message string) {
	if s.refused == nil {
		s.refused = refuse(c, path, message)
	}
}

func (s *source) lose(path, what string) { s.lost = append(s.lost, Loss{path, what}) }

// judge refuses what specification 3 cannot say, notes what would be lost, and changes
// what has other words there. Nothing is looked at again after the first refusal.
func (s *source) judge() *Refusal {
	for _, step := range []func(){s.judgeReferences, s.judgeNetworkd, s.judgeFilesystems, s.judgeInodes, s.judgeUnits, s.judgeDisks, s.judgeUsers} {
		if step(); s.refused != nil {
			return s.refused
		}
	}
	return nil
}

func (s *source) judgeNetworkd() {
	if len(s.stub.Networkd.Units) > 0 {
		s.refuse(UsesNetworkd, "$.networkd.units", "is not known to specification 3; write the units as files below /etc/systemd/network")
	}
}

const noSource = "has no source"

func (s *source) judgeReferences() {
	ign := &s.stub.Ignition
	for i := range ign.Config.Append {
		s.judgeReference("$.ignition.config.append["+itoa(i)+"]", &ign.Config.Append[i])
	}
	if ign.Config.Replace != nil {
		s.judgeReference("$.ignition.config.replace", ign.Config.Replace)
	}
	for i := range ign.Security.TLS.CertificateAuthorities {
		s.judgeReference(authorityPath(i), &ign.Security.TLS.CertificateAuthorities[i])
	}
}

func (s *source) judgeReference(at string, r *reference2) {
	if r.Source == "" {
		s.refuse(Invalid, at+".source", noSource)
	}
	s.judgeHeaders(at, r.Headers)
}

// judgeHeaders refuses headers without a value: specification 3 takes them for headers to
// leave out when it is checked, and fails with them on the server.
func (s *source) judgeHeaders(at string, headers []header2) {
	for i, h := range headers {
		if h.Value == "" {
			s.refuse(Invalid, at+".httpHeaders["+itoa(i)+"].value", "is empty, which specification 3 has no header for")
		}
	}
}

// judgeUnits refuses units and drop-ins that are there twice. Specification 2 writes them
// over each other; which of them was meant nobody knows.
func (s *source) judgeUnits() {
	units := map[string]bool{}
	for i := range s.stub.Systemd.Units {
		u := &s.stub.Systemd.Units[i]
		at := "$.systemd.units[" + itoa(i) + "]"
		if units[u.Name] {
			s.refuse(DuplicateUnit, at+".name", "is the name of an earlier unit too")
		}
		units[u.Name] = true
		dropins := map[string]bool{}
		for j, d := range u.Dropins {
			if dropins[d.Name] {
				s.refuse(DuplicateDropin, at+".dropins["+itoa(j)+"].name", "is the name of an earlier drop-in of the unit too")
			}
			dropins[d.Name] = true
		}
		if u.Enable && u.Enabled == nil { // the deprecated word, which enabled overrules
			u.Enabled = &u.Enable
		}
	}
}

func (s *source) judgeUsers() {
	for i := range s.stub.Passwd.Users {
		u := &s.stub.Passwd.Users[i]
		if u.Create != nil {
			s.lose("$.passwd.users["+itoa(i)+"].create", "how the account is made; write its fields into the user itself")
		}
		if s.minor == 0 && u.PasswordHash != nil && *u.PasswordHash == "" {
			u.PasswordHash = nil // 2.0 did not tell them apart
		}
	}
}
