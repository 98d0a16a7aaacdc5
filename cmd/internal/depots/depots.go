package depots

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"rackboot/protocol"
	"rackboot/protocol/backupfile"
	"rackboot/state/depot"
	"rackboot/state/depot/s3"
)

// Buckets are the flags of a bucket.
type Buckets struct {
	Endpoint, Region, CredentialsFile, CAFile string
}

// Flags adds them.
func (b *Buckets) Flags(f *pflag.FlagSet) {
	f.StringVar(&b.Endpoint, "s3-endpoint", "", "of an s3:// URL: https://host[:port] of the store; default AWS")
	f.StringVar(&b.Region, "s3-region", "", "of an s3:// URL: the bucket's region; default asks the store")
	f.StringVar(&b.CredentialsFile, "s3-credentials", "", "of an s3:// URL: a file with the account as AWS's tools write it; default AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	f.StringVar(&b.CAFile, "s3-ca", "", "of an s3:// URL: PEM of the authorities that sign the store's certificate; default the system's")
}

// Place is a folder, or s3://bucket/prefix.
func (b *Buckets) Place(where string) (depot.Place, error) {
	if !strings.HasPrefix(where, "s3:") {
		return depot.Folder{Dir: where}, nil
	}
	bucket, prefix, ok := s3.ParseURL(where)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeInvalid, "find backups", "%q is not s3://bucket/prefix", where)
	}
	return s3.New(s3.Config{Endpoint: b.Endpoint, Bucket: bucket, Prefix: prefix, Region: b.Region, CredentialsFile: b.CredentialsFile, CAFile: b.CAFile})
}

// Open opens a backup: a file, - for stdin, or s3://bucket/prefix/NAME. The newest one is taken of a
// folder, and of a URL that ends with a slash.
func (b *Buckets) Open(ctx context.Context, what string, stdin io.Reader) (r io.ReadCloser, name string, err error) {
	const op = "open backup"
	if what == "-" {
		return io.NopCloser(stdin), "standard input", nil
	}
	where, one := split(what, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	})
	place, err := b.Place(where)
	if err != nil {
		return nil, "", err
	}
	if one == "" {
		list, err := place.List(ctx)
		if err != nil {
			return nil, "", err
		}
		if len(list) == 0 {
			return nil, "", protocol.Errorf(protocol.CodeNotFound, op, "there is no backup in %s", place).WithHint("rackctl backup create makes one")
		}
		one = list[len(list)-1].Name
		what = strings.TrimSuffix(what, "/") + "/" + one
	}
	r, err = place.Open(ctx, one)
	return r, what, err
}

// split says in which place a backup is, and its name; no name is the newest.
func split(what string, folder func(string) bool) (where, name string) {
	if rest, ok := strings.CutPrefix(what, "s3://"); ok {
		if dir, base := path.Split(rest); dir != "" {
			return "s3://" + strings.TrimSuffix(dir, "/"), base
		}
		return what, ""
	}
	if folder(what) {
		return what, ""
	}
	return filepath.Dir(what), filepath.Base(what)
}

// Keys are the flags of what opens an encrypted backup.
type Keys struct {
	identity, passphrase string
}

// Flags adds them.
func (k *Keys) Flags(f *pflag.FlagSet) {
	f.StringVar(&k.identity, "identity", "", "a file with the private key that opens it, as age-keygen writes it")
	f.StringVar(&k.passphrase, "passphrase-file", "", "a file with the passphrase that opens it")
}

// Read reads the keys; none without a flag.
func (k *Keys) Read() ([]backupfile.Identity, error) {
	var keys []backupfile.Identity
	if k.identity != "" {
		raw, err := small(k.identity)
		if err != nil {
			return nil, err
		}
		if keys, err = backupfile.Identities(raw); err != nil {
			return nil, err
		}
	}
	if k.passphrase != "" {
		raw, err := small(k.passphrase)
		if err != nil {
			return nil, err
		}
		i, err := backupfile.Unlock(strings.TrimSpace(string(raw)))
		if err != nil {
			return nil, err
		}
		keys = append(keys, i)
	}
	return keys, nil
}

// maxKeys bounds a file of keys in bytes.
const maxKeys = 64 << 10

func small(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		code := protocol.CodeDenied
		if errors.Is(err, fs.ErrNotExist) {
			code = protocol.CodeNotFound
		}
		return nil, protocol.Errorf(code, "read key", "%w", err).WithHint("check the path %s", path)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeys+1))
	if err != nil || len(raw) > maxKeys {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read key", "%s has more than %d bytes, or cannot be read", path, maxKeys)
	}
	return raw, nil
}
