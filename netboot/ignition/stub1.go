package ignition

import (
	"reflect"
)

// stub1 is a configuration of specification 1, which came before the word ignition.version
// (config/v1/types of coreos/ignition v0.35). What is not here is as in 2.0.
type stub1 struct {
	Version int `json:"ignitionVersion"`
	Storage struct {
		Disks       []disk2       `json:"disks"`
		Raid        []raid2       `json:"raid"`
		Filesystems []filesystem1 `json:"filesystems"`
	} `json:"storage"`
	Systemd struct {
		Units []unit2 `json:"units"`
	} `json:"systemd"`
	Networkd struct {
		Units []unit2 `json:"units"`
	} `json:"networkd"`
	Passwd struct {
		Users  []user2  `json:"users"`
		Groups []group2 `json:"groups"`
	} `json:"passwd"`
}

type filesystem1 struct {
	Device string   `json:"device"`
	Format string   `json:"format"`
	Create *create2 `json:"create"`
	Files  []file1  `json:"files"`
}

type file1 struct {
	Path     string `json:"path"`
	Contents string `json:"contents"` // themselves, not their URL
	Mode     *int   `json:"mode"`
	UID      *int   `json:"uid"`
	GID      *int   `json:"gid"`
}

// read1 reads specification 1 as what it is in 2.0. A filesystem has no name there; the
// files that are written to it lie inside it.
func read1(t *tree) (*source, *Refusal) {
	var old stub1
	f := filler{}
	f.fill(t, reflect.ValueOf(&old).Elem(), "$")
	if f.refusal != nil {
		return nil, f.refusal
	}
	s := &source{version: "1", lost: f.lost}
	s.stub.Storage.Disks, s.stub.Storage.Raid = old.Storage.Disks, old.Storage.Raid
	s.stub.Systemd.Units, s.stub.Networkd.Units = old.Systemd.Units, old.Networkd.Units
	s.stub.Passwd.Users, s.stub.Passwd.Groups = old.Passwd.Users, old.Passwd.Groups
	for i, fs := range old.Storage.Filesystems {
		at := "$.storage.filesystems[" + itoa(i) + "]"
		name := "filesystem " + itoa(i)
		s.stub.Storage.Filesystems = append(s.stub.Storage.Filesystems, filesystem2{Name: name, Mount: &mount2{Device: fs.Device, Format: fs.Format, Create: fs.Create}})
		s.filesystems = append(s.filesystems, at)
		for j, file := range fs.Files {
			out := file2{Mode: file.Mode}
			out.Filesystem, out.Path = name, file.Path
			out.User, out.Group = &owner2{ID: file.UID}, &owner2{ID: file.GID}
			out.Contents.Source = dataURL([]byte(file.Contents))
			s.stub.Storage.Files = append(s.stub.Storage.Files, out)
			s.files = append(s.files, at+".files["+itoa(j)+"]")
		}
	}
	return s, nil
}
