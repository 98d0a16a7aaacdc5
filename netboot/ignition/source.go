package ignition

import "reflect"

func authorityPath(i int) string {
	return "$.ignition.security.tls.certificateAuthorities[" + itoa(i) + "]"
}

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

// judgeHeaders refuses headers without a value: specification 3 takes them for headers to
// leave out when it is checked, and fails with them on the server.
func (s *source) judgeHeaders(at string, headers []header2) {
	for i, h := range headers {
		if h.Value == "" {
			s.refuse(Invalid, at+".httpHeaders["+itoa(i)+"].value", "is empty, which specification 3 has no header for")
		}
	}
}
