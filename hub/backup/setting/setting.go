package setting

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rackboot/hub/backup"
	"rackboot/protocol"
	"rackboot/protocol/backupfile"
	"rackboot/state/depot"
	"rackboot/state/depot/s3"
)

// Backup says for whom backups are encrypted, and where and when the hub makes some by itself.
type Backup struct {
	// Recipients are public keys of age; RecipientsFile is a file with some. PassphraseFile has a
	// passphrase instead, in one line, mode 0600. With Plain backups are not encrypted.
	Recipients     []string `yaml:"recipients"`
	RecipientsFile string   `yaml:"recipientsFile"`
	PassphraseFile string   `yaml:"passphraseFile"`
	Plain          bool     `yaml:"plain"`
	// Folder is where the hub keeps backups, or S3 is. Without one it makes none by itself. They are
	// this hub's alone: old backups are removed there.
	Folder string `yaml:"folder"`
	S3     S3     `yaml:"s3"`
	// Every is the time between two, 10 min at least; At is the time of day instead, 02:30, in the zone
	// of the host. Default every 24 h.
	Every time.Duration `yaml:"every"`
	At    string        `yaml:"at"`
	// Keep is how many are kept. Default 14.
	Keep int `yaml:"keep"`
	// WithFiles copies the uploaded files and the hub's registry, too.
	WithFiles bool `yaml:"withFiles"`
}

// S3 is a bucket of an S3-compatible store.
type S3 struct {
	// Endpoint is https://host[:port]. Default that of AWS.
	Endpoint string `yaml:"endpoint"`
	Bucket   string `yaml:"bucket"`
	Prefix   string `yaml:"prefix"`
	Region   string `yaml:"region"`
	// CredentialsFile has the account as AWS's tools write it, mode 0600. Without it, it is in
	// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the unit.
	CredentialsFile string `yaml:"credentialsFile"`
	// CAFile is PEM of the authorities that sign the store's certificate. Default the system's.
	CAFile string `yaml:"caFile"`
}

const (
	defaultEvery = 24 * time.Hour
	defaultKeep  = 14
	minEvery     = 10 * time.Minute
)

// Check says what is wrong with it, of what can be seen without reading files.
func (b Backup) Check() error {
	ways := 0
	for _, given := range []bool{len(b.Recipients) > 0 || b.RecipientsFile != "", b.PassphraseFile != "", b.Plain} {
		if given {
			ways++
		}
	}
	scheduled := b.placed()
	switch {
	case ways > 1:
		return fmt.Errorf("backup: give recipients, or passphraseFile, or plain: true")
	case ways == 0 && (scheduled || b.WithFiles):
		return fmt.Errorf("backup: a backup has the hub's private keys: give public keys of age-keygen in recipients, or plain: true")
	case !scheduled && (b.Every != 0 || b.At != "" || b.Keep != 0):
		return fmt.Errorf("backup: every, at and keep are for backups that the hub makes by itself: give folder or s3, too")
	case b.Folder != "" && b.S3 != (S3{}):
		return fmt.Errorf("backup: give folder or s3")
	case b.S3 != (S3{}) && b.S3.Bucket == "":
		return fmt.Errorf("backup.s3.bucket: give the name of a bucket that is there")
	case b.Every != 0 && b.At != "":
		return fmt.Errorf("backup: give every or at")
	case b.Every != 0 && b.Every < minEvery:
		return fmt.Errorf("backup.every: %s is less than %s", b.Every, minEvery)
	case b.Keep < 0:
		return fmt.Errorf("backup.keep: %d is less than 1", b.Keep)
	case b.Folder != "" && !filepath.IsAbs(b.Folder):
		return fmt.Errorf("backup.folder: %q does not begin with /", b.Folder)
	}
	if _, err := b.Schedule(); err != nil {
		return err
	}
	if b.PassphraseFile == "" && b.RecipientsFile == "" {
		_, _, err := b.Keys()
		return err
	}
	return nil // files are read at start
}

// placed reports whether the hub makes backups by itself.
func (b Backup) placed() bool { return b.Folder != "" || b.S3 != (S3{}) }

// Schedule is when backups are made.
func (b Backup) Schedule() (backup.Schedule, error) {
	switch {
	case b.Every != 0:
		return backup.Schedule{Every: b.Every}, nil
	case b.At == "":
		return backup.Schedule{Every: defaultEvery}, nil
	}
	at, err := time.Parse("15:04", b.At)
	if err != nil {
		return backup.Schedule{}, fmt.Errorf("backup.at: %q is no time of day such as 02:30", b.At)
	}
	return backup.Schedule{At: time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, Zone: time.Local}, nil
}

// Keys reads what backups are encrypted for, and what opens them, if the hub has that.
func (b Backup) Keys() (to []backupfile.Recipient, open []backupfile.Identity, err error) {
	if b.PassphraseFile != "" {
		raw, err := readPrivate("backup.passphraseFile", b.PassphraseFile)
		if err != nil {
			return nil, nil, err
		}
		lock, err := backupfile.Lock(strings.TrimSpace(string(raw)))
		if err != nil {
			return nil, nil, err
		}
		unlock, err := backupfile.Unlock(strings.TrimSpace(string(raw)))
		return []backupfile.Recipient{lock}, []backupfile.Identity{unlock}, err
	}
	text := []byte(strings.Join(b.Recipients, "\n"))
	if b.RecipientsFile != "" {
		raw, err := os.ReadFile(b.RecipientsFile)
		if err != nil {
			return nil, nil, fmt.Errorf("backup.recipientsFile: %w", err)
		}
		text = slices.Concat(text, []byte("\n"), raw)
	}
	if len(b.Recipients) == 0 && b.RecipientsFile == "" {
		return nil, nil, nil
	}
	to, err = backupfile.Recipients(text)
	return to, nil, err
}

// readPrivate reads a small file that nobody else may read.
func readPrivate(field, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	if info.Mode().Perm()&0o077 != 0 || info.Size() > 64<<10 {
		return nil, fmt.Errorf("%s: %s may be read by others, or is no such file; run: chmod 600 %s", field, path, path)
	}
	return os.ReadFile(path)
}

// Place is where the hub keeps backups; nil is nowhere.
func (b Backup) Place() (depot.Place, error) {
	switch {
	case b.Folder != "":
		return depot.Folder{Dir: b.Folder}, nil
	case b.S3 == (S3{}):
		return nil, nil
	}
	if b.S3.CredentialsFile != "" {
		if _, err := readPrivate("backup.s3.credentialsFile", b.S3.CredentialsFile); err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "read the hub's file", "%w", err)
		}
	}
	return s3.New(s3.Config(b.S3))
}

// Kept is how many backups are kept.
func (b Backup) Kept() int {
	if b.Keep == 0 {
		return defaultKeep
	}
	return b.Keep
}
