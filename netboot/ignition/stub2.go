package ignition

// stub2 is a configuration of specification 2.0 to 2.4 (configuration-v2_0.md to
// v2_4.md of coreos/ignition at spec2x). since names the minor version that brought a
// field.
type stub2 struct {
	Ignition struct {
		Version string `json:"version"`
		Config  struct {
			Append  []reference2 `json:"append"`
			Replace *reference2  `json:"replace"`
		} `json:"config"`
		Timeouts struct {
			HTTPResponseHeaders *int `json:"httpResponseHeaders"` // in s
			HTTPTotal           *int `json:"httpTotal"`           // in s
		} `json:"timeouts" since:"1"`
		Security struct {
			TLS struct {
				CertificateAuthorities []reference2 `json:"certificateAuthorities"`
			} `json:"tls"`
		} `json:"security" since:"2"`
		Proxy struct {
			HTTPProxy  string   `json:"httpProxy"`
			HTTPSProxy string   `json:"httpsProxy"`
			NoProxy    []string `json:"noProxy"`
		} `json:"proxy" since:"4"`
	} `json:"ignition"`
	Storage struct {
		Disks       []disk2       `json:"disks"`
		Raid        []raid2       `json:"raid"`
		Filesystems []filesystem2 `json:"filesystems"`
		Files       []file2       `json:"files"`
		Directories []directory2  `json:"directories" since:"1"`
		Links       []link2       `json:"links" since:"1"`
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

type reference2 struct {
	Source       string    `json:"source"`
	Headers      []header2 `json:"httpHeaders" since:"4"`
	Verification struct {
		Hash *string `json:"hash"`
	} `json:"verification"`
}

type header2 struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type disk2 struct {
	Device     string       `json:"device"`
	WipeTable  bool         `json:"wipeTable"`
	Partitions []partition2 `json:"partitions"`
}

type partition2 struct {
	Label       *string `json:"label"`
	Number      int     `json:"number"`
	Size        *int    `json:"size"`  // in sectors of 512 bytes
	Start       *int    `json:"start"` // in sectors of 512 bytes
	SizeMiB     *int    `json:"sizeMiB" since:"3"`
	StartMiB    *int    `json:"startMiB" since:"3"`
	TypeGUID    string  `json:"typeGuid"`
	GUID        string  `json:"guid" since:"1"`
	WipeEntry   bool    `json:"wipePartitionEntry" since:"3"`
	ShouldExist *bool   `json:"shouldExist" since:"3"`
}

type raid2 struct {
	Name    string   `json:"name"`
	Level   string   `json:"level"`
	Devices []string `json:"devices"`
	Spares  int      `json:"spares"`
	Options []string `json:"options" since:"2"`
}

type filesystem2 struct {
	Name  string  `json:"name"`
	Mount *mount2 `json:"mount"`
	Path  *string `json:"path"` // where the live system has it
}

type mount2 struct {
	Device  string   `json:"device"`
	Format  string   `json:"format"`
	Wipe    bool     `json:"wipeFilesystem" since:"1"`
	Label   *string  `json:"label" since:"1"`
	UUID    *string  `json:"uuid" since:"1"`
	Options []string `json:"options" since:"1"`
	Create  *create2 `json:"create"`
}

type create2 struct {
	Force   bool     `json:"force"`
	Options []string `json:"options"`
}

// inode2 is what files, directories and links have in common.
type inode2 struct {
	Filesystem string  `json:"filesystem"`
	Path       string  `json:"path"`
	User       *owner2 `json:"user"`
	Group      *owner2 `json:"group"`
	Overwrite  *bool   `json:"overwrite" since:"2"`
}

type owner2 struct {
	ID   *int   `json:"id"`
	Name string `json:"name" since:"1"`
}

type file2 struct {
	inode2
	Mode     *int      `json:"mode"`
	Append   bool      `json:"append" since:"2"`
	Contents contents2 `json:"contents"`
}

type contents2 struct {
	reference2
	Compression string `json:"compression"`
}

type directory2 struct {
	inode2
	Mode *int `json:"mode"`
}

type link2 struct {
	inode2
	Target string `json:"target"`
	Hard   bool   `json:"hard"`
}

type unit2 struct {
	Name     string    `json:"name"`
	Enable   bool      `json:"enable"`
	Enabled  *bool     `json:"enabled" since:"1"`
	Mask     bool      `json:"mask"`
	Contents string    `json:"contents"`
	Dropins  []dropin2 `json:"dropins"`
}

type dropin2 struct {
	Name     string `json:"name"`
	Contents string `json:"contents"`
}

type user2 struct {
	Name         string   `json:"name"`
	PasswordHash *string  `json:"passwordHash"`
	Keys         []string `json:"sshAuthorizedKeys"`
	Create       *tree    `json:"create"`
	UID          *int     `json:"uid" since:"1"`
	Gecos        string   `json:"gecos" since:"1"`
	HomeDir      string   `json:"homeDir" since:"1"`
	NoCreateHome bool     `json:"noCreateHome" since:"1"`
	PrimaryGroup string   `json:"primaryGroup" since:"1"`
	Groups       []string `json:"groups" since:"1"`
	NoUserGroup  bool     `json:"noUserGroup" since:"1"`
	NoLogInit    bool     `json:"noLogInit" since:"1"`
	Shell        string   `json:"shell" since:"1"`
	System       bool     `json:"system" since:"1"`
}

type group2 struct {
	Name         string `json:"name"`
	GID          *int   `json:"gid"`
	PasswordHash string `json:"passwordHash"`
	System       bool   `json:"system"`
}
