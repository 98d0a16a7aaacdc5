package ignition

import "github.com/coreos/ignition/v2/config/v3_1/types"

// convert writes what was judged in words of specification 3.1.
func (s *source) convert() types.Config {
	ign := &s.stub.Ignition
	out := types.Config{
		Ignition: types.Ignition{
			Version: lowest3,
			Config:  types.IgnitionConfig{Merge: each(ign.Config.Append, resourceOf)},
			Security: types.Security{TLS: types.TLS{
				CertificateAuthorities: each(s.distinctAuthorities(), resourceOf),
			}},
			Timeouts: types.Timeouts{HTTPResponseHeaders: ign.Timeouts.HTTPResponseHeaders, HTTPTotal: ign.Timeouts.HTTPTotal},
			Proxy: types.Proxy{
				HTTPProxy: unlessEmpty(ign.Proxy.HTTPProxy), HTTPSProxy: unlessEmpty(ign.Proxy.HTTPSProxy),
				NoProxy: distinct[types.NoProxyItem](ign.Proxy.NoProxy),
			},
		},
		Passwd:  types.Passwd{Users: each(s.stub.Passwd.Users, userOf), Groups: each(s.stub.Passwd.Groups, groupOf)},
		Systemd: types.Systemd{Units: each(s.stub.Systemd.Units, unitOf)},
		Storage: types.Storage{
			Disks: each(s.stub.Storage.Disks, diskOf), Raid: each(s.stub.Storage.Raid, raidOf),
			Files:       each(s.stub.Storage.Files, fileOf),
			Directories: each(s.stub.Storage.Directories, directoryOf),
			Links:       each(s.stub.Storage.Links, linkOf),
		},
	}
	if ign.Config.Replace != nil {
		out.Ignition.Config.Replace = resourceOf(*ign.Config.Replace)
	}
	for _, i := range s.kept {
		out.Storage.Filesystems = append(out.Storage.Filesystems, filesystemOf(*s.stub.Storage.Filesystems[i].Mount, s.mounted[i]))
	}
	return out
}

// distinctAuthorities leaves out what is there twice, word for word: specification 3
// refuses it, and the same certificate twice is no more trusted.
func (s *source) distinctAuthorities() (out []reference2) {
	seen := map[string]bool{}
	for _, r := range s.stub.Ignition.Security.TLS.CertificateAuthorities {
		plain := r.Verification.Hash == nil && len(r.Headers) == 0
		if plain && seen[r.Source] {
			continue
		}
		seen[r.Source] = plain
		out = append(out, r)
	}
	return out
}

func each[A, B any](in []A, f func(A) B) (out []B) {
	for _, a := range in {
		out = append(out, f(a))
	}
	return out
}

// stringsOf is a list of strings of another name.
func stringsOf[T ~string](in []string) []T { return each(in, func(s string) T { return T(s) }) }

// distinct is a set without repeats, which specification 3 refuses; the order is the first's.
func distinct[T ~string](in []string) (out []T) {
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			out = append(out, T(s))
		}
		seen[s] = true
	}
	return out
}

// unlessEmpty is nil where specification 2 says nothing by an empty string.
func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ifTrue is nil where specification 2 says nothing by false.
func ifTrue(b bool) *bool {
	if !b {
		return nil
	}
	return &b
}

func resourceOf(r reference2) types.Resource {
	return types.Resource{
		Source: &r.Source, Verification: types.Verification{Hash: r.Verification.Hash},
		HTTPHeaders: each(r.Headers, func(h header2) types.HTTPHeader { return types.HTTPHeader{Name: h.Name, Value: &h.Value} }),
	}
}

func nodeOf(n inode2) types.Node {
	out := types.Node{Path: n.Path, Overwrite: n.Overwrite}
	if n.User != nil {
		out.User = types.NodeUser{ID: n.User.ID, Name: unlessEmpty(n.User.Name)}
	}
	if n.Group != nil {
		out.Group = types.NodeGroup{ID: n.Group.ID, Name: unlessEmpty(n.Group.Name)}
	}
	return out
}

// fileOf: files of specification 2 take the place of what is there unless they say
// otherwise, those of 3 if they say so; and what is appended to cannot be replaced.
func fileOf(f file2) types.File {
	contents := resourceOf(f.Contents.reference2)
	contents.Compression = unlessEmpty(f.Contents.Compression)
	out := types.File{Node: nodeOf(f.inode2), FileEmbedded1: types.FileEmbedded1{Mode: f.Mode}}
	if f.Append {
		out.Overwrite, out.Append = new(false), []types.Resource{contents}
		return out
	}
	if out.Overwrite == nil {
		out.Overwrite = new(true)
	}
	out.Contents = contents
	return out
}

func directoryOf(d directory2) types.Directory {
	return types.Directory{Node: nodeOf(d.inode2), DirectoryEmbedded1: types.DirectoryEmbedded1{Mode: d.Mode}}
}

func linkOf(l link2) types.Link {
	return types.Link{Node: nodeOf(l.inode2), LinkEmbedded1: types.LinkEmbedded1{Target: l.Target, Hard: ifTrue(l.Hard)}}
}

func unitOf(u unit2) types.Unit {
	return types.Unit{
		Name: u.Name, Enabled: u.Enabled, Mask: ifTrue(u.Mask), Contents: unlessEmpty(u.Contents),
		Dropins: each(u.Dropins, func(d dropin2) types.Dropin { return types.Dropin{Name: d.Name, Contents: unlessEmpty(d.Contents)} }),
	}
}

func diskOf(d disk2) types.Disk {
	return types.Disk{Device: d.Device, WipeTable: ifTrue(d.WipeTable), Partitions: each(d.Partitions, partitionOf)}
}

func partitionOf(p partition2) types.Partition {
	return types.Partition{
		Label: p.Label, Number: p.Number, SizeMiB: p.SizeMiB, StartMiB: p.StartMiB, TypeGUID: unlessEmpty(p.TypeGUID),
		GUID: unlessEmpty(p.GUID), WipePartitionEntry: ifTrue(p.WipeEntry), ShouldExist: p.ShouldExist,
	}
}

func raidOf(r raid2) types.Raid {
	out := types.Raid{Name: r.Name, Level: r.Level, Devices: stringsOf[types.Device](r.Devices), Options: stringsOf[types.RaidOption](r.Options)}
	if r.Spares != 0 {
		out.Spares = &r.Spares
	}
	return out
}

// filesystemOf: where is its place in the tree; "" mounts it nowhere.
func filesystemOf(m mount2, where string) types.Filesystem {
	return types.Filesystem{
		Device: m.Device, Format: unlessEmpty(m.Format), Label: m.Label, UUID: m.UUID, Path: unlessEmpty(where),
		WipeFilesystem: ifTrue(m.Wipe), Options: stringsOf[types.FilesystemOption](m.Options),
	}
}

func userOf(u user2) types.PasswdUser {
	return types.PasswdUser{
		Name: u.Name, PasswordHash: u.PasswordHash, SSHAuthorizedKeys: distinct[types.SSHAuthorizedKey](u.Keys), UID: u.UID,
		Gecos: unlessEmpty(u.Gecos), HomeDir: unlessEmpty(u.HomeDir), NoCreateHome: ifTrue(u.NoCreateHome), PrimaryGroup: unlessEmpty(u.PrimaryGroup),
		Groups: distinct[types.Group](u.Groups), NoUserGroup: ifTrue(u.NoUserGroup), NoLogInit: ifTrue(u.NoLogInit), Shell: unlessEmpty(u.Shell), System: ifTrue(u.System),
	}
}

func groupOf(g group2) types.PasswdGroup {
	return types.PasswdGroup{Name: g.Name, Gid: g.GID, PasswordHash: unlessEmpty(g.PasswordHash), System: ifTrue(g.System)}
}
