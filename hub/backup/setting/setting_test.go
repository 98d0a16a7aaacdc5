package setting

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const public = "age1fvj2axm0rjp6ygd4s5mfrarytx722m7q8s0jy2yqythskfnqccdqtjaaxe"

func TestCheck(t *testing.T) {
	for name, row := range map[string]struct {
		b    Backup
		says string // empty is right
	}{
		"nothing":                        {Backup{}, ""},
		"when somebody asks":             {Backup{Recipients: []string{public}}, ""},
		"plain":                          {Backup{Plain: true, Folder: "/b", Every: time.Hour, Keep: 3}, ""},
		"each night":                     {Backup{PassphraseFile: "/p", S3: S3{Bucket: "b"}, At: "02:30"}, ""},
		"for nobody":                     {Backup{Folder: "/b"}, "private keys"},
		"for nobody, with files":         {Backup{WithFiles: true}, "private keys"},
		"for somebody and plain":         {Backup{Recipients: []string{public}, Plain: true}, "or plain"},
		"for somebody and by passphrase": {Backup{RecipientsFile: "/r", PassphraseFile: "/p"}, "or passphraseFile"},
		"for no key":                     {Backup{Recipients: []string{"ssh-ed25519 AAAA"}}, "recipients"},
		"nowhere":                        {Backup{Plain: true, Every: time.Hour}, "give folder or s3"},
		"in two places":                  {Backup{Plain: true, Folder: "/b", S3: S3{Bucket: "b"}}, "folder or s3"},
		"in no bucket":                   {Backup{Plain: true, S3: S3{Endpoint: "https://s3"}}, "s3.bucket"},
		"at two times":                   {Backup{Plain: true, Folder: "/b", Every: time.Hour, At: "02:30"}, "every or at"},
		"at no time":                     {Backup{Plain: true, Folder: "/b", At: "2 am"}, "time of day"},
		"too often":                      {Backup{Plain: true, Folder: "/b", Every: time.Minute}, "less than 10m"},
		"fewer than none":                {Backup{Plain: true, Folder: "/b", Keep: -1}, "less than 1"},
		"in a folder below who knows":    {Backup{Plain: true, Folder: "b"}, "does not begin with /"},
	} {
		if err := row.b.Check(); (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is private is read from a file that nobody else may read, and is in no error.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, row := range map[string]struct {
		b        Backup
		to, open int
		says     string
	}{
		"none":                {Backup{Plain: true}, 0, 0, ""},
		"two":                 {Backup{Recipients: []string{public}, RecipientsFile: write("r", "# of the vault\n"+public+"\n", 0o644)}, 2, 0, ""},
		"a passphrase":        {Backup{PassphraseFile: write("p", "sixteen bytes or more\n", 0o600)}, 1, 1, ""},
		"open to others":      {Backup{PassphraseFile: write("o", "sixteen bytes or more\n", 0o644)}, 0, 0, "chmod 600"},
		"a short one":         {Backup{PassphraseFile: write("s", "hunter2\n", 0o600)}, 0, 0, "one line of 16 bytes"},
		"no file":             {Backup{PassphraseFile: filepath.Join(dir, "no")}, 0, 0, "no such file"},
		"no file of somebody": {Backup{RecipientsFile: filepath.Join(dir, "no")}, 0, 0, "no such file"},
	} {
		to, open, err := row.b.Keys()
		if len(to) != row.to || len(open) != row.open || (err == nil) != (row.says == "") || err != nil && (!strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %d, %d, %v", name, len(to), len(open), err)
		}
	}
	if _, err := (Backup{S3: S3{Bucket: "b", CredentialsFile: write("c", "[default]\n", 0o644)}}).Place(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
	if p, err := (Backup{Folder: dir}).Place(); err != nil || p.String() != dir {
		t.Errorf("%v, %v", p, err)
	}
	if p, err := (Backup{}).Place(); err != nil || p != nil {
		t.Errorf("%v, %v", p, err)
	}
}
