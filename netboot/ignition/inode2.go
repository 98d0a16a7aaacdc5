package ignition

import "path"

// maxPath is PATH_MAX of Linux, in bytes.
const maxPath = 4096

// Modes of files and directories; see chmod(2).
const (
	permissions = 0o777
	specialBits = 0o7000
)

// inodes are the files, directories and links, in this order.
func (s *source) inodes() (out []*inode2) {
	st := &s.stub.Storage
	for i := range st.Files {
		out = append(out, &st.Files[i].inode2)
	}
	for i := range st.Directories {
		out = append(out, &st.Directories[i].inode2)
	}
	for i := range st.Links {
		out = append(out, &st.Links[i].inode2)
	}
	return out
}

// inodePath is the path in the stub of the entry that has the index among inodes.
func (s *source) inodePath(i int) string {
	files, directories := len(s.stub.Storage.Files), len(s.stub.Storage.Directories)
	switch {
	case i < files:
		return s.files[i]
	case i < files+directories:
		return "$.storage.directories[" + itoa(i-files) + "]"
	}
	return "$.storage.links[" + itoa(i-files-directories) + "]"
}

// judgeInodes gives entries their place in the server's tree, and refuses those that
// share one or lie below a link of the stub.
func (s *source) judgeInodes() {
	for i := range s.stub.Storage.Files {
		s.judgeFile(&s.stub.Storage.Files[i], s.files[i])
	}
	for i := range s.stub.Storage.Directories {
		d := &s.stub.Storage.Directories[i]
		d.Mode = s.judgeMode(d.Mode, "$.storage.directories["+itoa(i)+"].mode")
	}
	all, taken, links := s.inodes(), map[string]bool{}, map[string]bool{}
	for i, n := range all {
		at := s.inodePath(i)
		prefix, ok := s.prefix[n.Filesystem]
		switch {
		case n.Filesystem == "":
			s.refuse(Invalid, at+".filesystem", "is missing")
		case !path.IsAbs(n.Path):
			s.refuse(Invalid, at+".path", "path not absolute")
		case len(n.Path) > maxPath:
			s.refuse(Invalid, at+".path", "is longer than a path can be")
		case !ok:
			s.lose(at+".filesystem", "that it is on a filesystem which the stub does not have; it would be in the root filesystem")
		}
		if n.Path = path.Join("/", prefix, n.Path); taken[n.Path] {
			s.refuse(DuplicateInode, at+".path", "is the path of an earlier file, directory or link too")
		}
		taken[n.Path] = true
		if i >= len(all)-len(s.stub.Storage.Links) {
			links[n.Path] = true
		}
	}
	for i, n := range all {
		for end, c := range n.Path {
			if c == '/' && links[n.Path[:end]] {
				s.refuse(UsesOwnLink, s.inodePath(i)+".path", "lies below a link of the stub, which specification 3 does not follow; give the path that the link means")
			}
		}
	}
}

func (s *source) judgeFile(f *file2, at string) {
	s.judgeHeaders(at+".contents", f.Contents.Headers)
	if f.Append && f.Overwrite != nil && *f.Overwrite {
		s.refuse(Invalid, at+".overwrite", "is true for a file that is appended to")
	}
	if f.Append && f.Mode == nil {
		return // the mode of the file that is there
	}
	f.Mode = s.judgeMode(f.Mode, at+".mode")
}

// judgeMode is the mode in specification 3. Where none is given specification 2 makes
// files and directories that only the superuser can read (mode 0), and 3 such that
// everybody can: what was secret has to stay so.
func (s *source) judgeMode(mode *int, at string) *int {
	switch {
	case mode == nil:
		return new(0)
	case *mode < 0 || *mode > permissions|specialBits:
		s.refuse(Invalid, at, "illegal file mode")
	case *mode&specialBits != 0:
		s.lose(at, "the setuid, setgid and sticky bits, which no Ignition for specification 2 set and 3 sets from 3.6.0 on")
	}
	return new(*mode & permissions)
}
