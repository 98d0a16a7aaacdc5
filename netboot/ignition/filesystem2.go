package ignition

import (
	"path"
	"slices"
	"strings"
)

// In specification 2 a filesystem has a name, and files say on which one they are; where
// it is in the server's tree only a mount unit says. In specification 3 a filesystem has
// its place in the tree, and files are where their paths say.
//
//   - root is the server's own tree, and so is what the live system has at /sysroot;
//   - a filesystem with nothing on it needs no place;
//   - one with files on it is where the mount unit for its device says.

const (
	rootName = "root"
	sysroot  = "/sysroot"
)

// rootDevices are the names under which images have their root filesystem: Container
// Linux's and Fedora CoreOS's.
var rootDevices = []string{"/dev/disk/by-label/ROOT", "/dev/disk/by-partlabel/ROOT", "/dev/disk/by-label/root", "/dev/disk/by-partlabel/root"}

// judgeFilesystems finds out where the root of each filesystem is.
func (s *source) judgeFilesystems() {
	s.prefix, s.mounted = map[string]string{rootName: "/"}, map[int]string{}
	used, named := s.usedFilesystems(), map[string]bool{}
	for i := range s.stub.Storage.Filesystems {
		fs, at := &s.stub.Storage.Filesystems[i], s.filesystems[i]
		if fs.Name != "" && named[fs.Name] {
			s.refuse(Invalid, at+".name", "is the name of an earlier filesystem too")
		}
		named[fs.Name] = true
		switch {
		case (fs.Mount == nil) == (fs.Path == nil):
			s.refuse(Invalid, at, "needs either mount or path")
		case fs.Path != nil:
			s.prefix[fs.Name] = s.judgeMounted(*fs.Path, used[fs.Name], at)
		default:
			s.judgeMount(fs.Mount, at+s.mount)
			s.prefix[fs.Name] = s.judgePlace(i, used[fs.Name])
		}
		if s.refused != nil {
			return
		}
	}
}

// judgeMounted says where a filesystem is that the live system has mounted already.
func (s *source) judgeMounted(at string, used bool, where string) string {
	switch clean := path.Clean(at); {
	case !path.IsAbs(at):
		s.refuse(Invalid, where+".path", "path not absolute")
	case clean == sysroot:
		return "/"
	case strings.HasPrefix(clean, sysroot+"/"):
		return strings.TrimPrefix(clean, sysroot)
	case used:
		s.refuse(NoFilesystem, where+".path", "is a place of the live system, which nothing is left of; use the filesystem root")
	}
	return "/" // of nothing
}

// judgeMount writes the words of 2.0 as those of 2.1.
func (s *source) judgeMount(m *mount2, at string) {
	if s.minor == 0 && !slices.Contains([]string{"ext4", "btrfs", "xfs"}, m.Format) {
		s.refuse(Invalid, at+".format", "invalid filesystem format")
	}
	if m.Create == nil {
		return
	}
	if m.Wipe || len(m.Options) > 0 {
		s.refuse(Invalid, at+".create", "is given together with wipeFilesystem or options")
		return
	}
	if !m.Create.Force {
		s.lose(at+".create", "that a filesystem which is there makes it fail; specification 3 keeps one that fits")
	}
	m.Wipe, m.Options, m.Create = m.Create.Force, m.Create.Options, nil
}

// judgePlace says where a filesystem with a device is, and keeps it unless it is root.
func (s *source) judgePlace(i int, used bool) string {
	fs, at := s.stub.Storage.Filesystems[i], s.filesystems[i]
	isRoot := slices.Contains(rootDevices, fs.Mount.Device)
	if fs.Name == rootName || isRoot {
		if fs.Mount.Wipe || !isRoot {
			s.lose(at+s.mount, "that the root filesystem is made or taken anew")
		}
		return "/"
	}
	s.kept = append(s.kept, i)
	if !used {
		return ""
	}
	where := s.mountPoint(fs.Mount)
	if where == "" {
		s.refuse(NoFilesystem, at, "has something on it, and no one mount unit of the stub says where it is")
	}
	s.mounted[i] = where
	return where
}

// usedFilesystems are the names of those that something is on.
func (s *source) usedFilesystems() map[string]bool {
	used := map[string]bool{}
	for _, n := range s.inodes() {
		used[n.Filesystem] = true
	}
	return used
}

// mountPoint is the place that the only mount unit for a filesystem says; "" is none.
func (s *source) mountPoint(m *mount2) string {
	devices := []string{m.Device}
	if m.Label != nil && *m.Label != "" {
		devices = append(devices, "/dev/disk/by-label/"+*m.Label, "LABEL="+*m.Label)
	}
	if m.UUID != nil && *m.UUID != "" {
		devices = append(devices, "/dev/disk/by-uuid/"+*m.UUID, "UUID="+*m.UUID)
	}
	var found []string
	for _, u := range s.stub.Systemd.Units {
		if u.Mask || path.Ext(u.Name) != ".mount" {
			continue
		}
		what, where := mountOf(u.Contents)
		if slices.Contains(devices, what) && path.IsAbs(where) && path.Clean(where) != "/" {
			found = append(found, path.Clean(where))
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// mountOf reads What= and Where= of systemd.mount(5); the last of each holds.
func mountOf(unit string) (what, where string) {
	section := ""
	for line := range strings.Lines(unit) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		key, value, _ := strings.Cut(line, "=")
		if section != "[Mount]" {
			continue
		}
		switch strings.TrimSpace(key) {
		case "What":
			what = strings.TrimSpace(value)
		case "Where":
			where = strings.TrimSpace(value)
		}
	}
	return what, where
}
