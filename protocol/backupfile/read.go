package backupfile

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"rackboot/protocol"
)

const opRead = "read backup"

// Each takes a member that is being read: all of it, or a part. It is not known yet whether the backup
// is whole. The reader is good until it returns.
type Each func(name string, size int64, r io.Reader) error

// Whole reads a backup to its end without a key, and returns its header. Errors: invalid with a
// *[Damage], unsupported of a newer version, and those of the reader as unavailable.
func Whole(r io.Reader) (Header, error) {
	u, h, err := newUnframer(r)
	if err == nil {
		_, err = io.Copy(io.Discard, u)
	}
	return h, wrong(err)
}

// Read verifies all of a backup, and hands each member to each, if it is not nil. Only when it
// returns without an error, what each got is what the backup has. Errors: as of Whole, and those of
// each as they are.
func Read(r io.Reader, keys []Identity, each Each) (Manifest, error) {
	u, h, err := newUnframer(r)
	if err != nil {
		return Manifest{}, wrong(err)
	}
	m, err := read(u, h, keys, each)
	if err == nil {
		_, err = io.Copy(io.Discard, u) // the end
	}
	// What is found inside of a frame that does not fit is of no interest.
	if u.err != nil && !errors.Is(u.err, io.EOF) {
		err = u.err
	}
	return m, wrong(err)
}

// wrong gives an error of this package its code and hint.
func wrong(err error) error {
	if err == nil {
		return nil
	}
	if d, ok := errors.AsType[*Damage](err); ok {
		return refused(opRead, d)
	}
	if _, ours := errors.AsType[*protocol.Error](err); ours {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, opRead, "%w", err).WithHint("look at the disk or the connection that it is read from, and try again")
}

func read(u *unframer, h Header, keys []Identity, each Each) (m Manifest, err error) {
	var content io.Reader = u
	if h.Sealed == SealedAge {
		if len(keys) == 0 {
			return m, &Damage{Fault: FaultKey, At: u.at, Err: errors.New("it is encrypted, and no key was given")}
		}
		if content, err = age.Decrypt(u, keys...); err != nil {
			return m, &Damage{Fault: FaultKey, At: u.at, Err: err}
		}
	}
	unpacked, err := zstd.NewReader(content, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8*window), zstd.WithDecoderLowmem(true))
	if err != nil {
		return m, &Damage{Fault: FaultContent, At: u.at, Err: err}
	}
	defer unpacked.Close()
	l := &loader{u: u, tar: tar.NewReader(unpacked), each: each, names: map[string]bool{}}
	if m, err = l.members(); err != nil {
		return m, err
	}
	// Nothing but the archive's own end comes after the manifest.
	if n, err := io.Copy(io.Discard, unpacked); err != nil || n > maxTrailer {
		return m, &Damage{Fault: FaultContent, At: u.at, Err: errors.Join(err, errors.New("its archive does not end where it should"))}
	}
	if !m.Made.Equal(h.Made) || m.Sealed != h.Sealed || m.Release != h.Release {
		return m, &Damage{Fault: FaultManifest, At: u.at, Member: manifestName, Err: errors.New("it has another header than the file")}
	}
	return m, nil
}

// maxTrailer bounds what may come after the last member: the end of an archive.
const maxTrailer = 64 << 10

// loader reads the members.
type loader struct {
	u     *unframer
	tar   *tar.Reader
	each  Each
	names map[string]bool
	list  []Member
}

func (l *loader) damage(f Fault, member, format string, args ...any) error {
	return &Damage{Fault: f, At: l.u.at, Member: member, Err: fmt.Errorf(format, args...)}
}

func (l *loader) members() (Manifest, error) {
	for {
		h, err := l.tar.Next()
		if errors.Is(err, io.EOF) {
			return Manifest{}, l.damage(FaultManifest, "", "there is no manifest")
		}
		if err != nil {
			return Manifest{}, l.damage(FaultContent, "", "%w", err)
		}
		if err := checkName(h.Name); err != nil || h.Typeflag != tar.TypeReg || l.names[h.Name] || len(l.list) >= maxMembers || h.Size < 0 {
			return Manifest{}, l.damage(FaultMember, "", "after %d members one that no backup has: %.200q of kind %q: %w", len(l.list), h.Name, h.Typeflag, err)
		}
		if h.Name == manifestName {
			return l.manifest(h)
		}
		l.names[h.Name] = true
		if err := l.member(h); err != nil {
			return Manifest{}, err
		}
	}
}

// member reads one, also what each leaves of it.
func (l *loader) member(h *tar.Header) error {
	sum := sha256.New()
	tee := &taken{r: io.TeeReader(l.tar, sum)}
	if l.each != nil {
		if err := l.each(h.Name, h.Size, tee); err != nil {
			if tee.err != nil { // each failed because of it
				return l.damage(FaultContent, h.Name, "%w", tee.err)
			}
			return err
		}
	}
	if _, err := io.Copy(io.Discard, tee); err != nil {
		return l.damage(FaultContent, h.Name, "%w", err)
	}
	l.list = append(l.list, Member{Name: h.Name, Size: h.Size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// taken keeps the error of a reader.
type taken struct {
	r   io.Reader
	err error
}

func (t *taken) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}

// manifest reads the manifest and compares it with what was read.
func (l *loader) manifest(h *tar.Header) (m Manifest, err error) {
	if h.Size > maxManifest {
		return m, l.damage(FaultManifest, manifestName, "%d bytes", h.Size)
	}
	var raw bytes.Buffer
	if _, err := io.Copy(&raw, l.tar); err != nil {
		return m, l.damage(FaultContent, manifestName, "%w", err)
	}
	if err := json.Unmarshal(raw.Bytes(), &m); err != nil {
		return m, l.damage(FaultManifest, manifestName, "%w", err)
	}
	if i := firstOther(m.Members, l.list); i >= 0 {
		return m, l.damage(FaultManifest, manifestName, "member %d of %d is %s, and the manifest of %d says %s", i+1, len(l.list), at(l.list, i), len(m.Members), at(m.Members, i))
	}
	if h, err := l.tar.Next(); !errors.Is(err, io.EOF) {
		if err != nil {
			return m, l.damage(FaultContent, "", "%w", err)
		}
		return m, l.damage(FaultMember, "", "%.200q comes after the manifest", h.Name)
	}
	return m, nil
}

// firstOther is the first place where two lists differ; -1 if they do not.
func firstOther(a, b []Member) int {
	if slices.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func at(list []Member, i int) string {
	if i >= len(list) {
		return "none"
	}
	return fmt.Sprintf("%s (%d bytes, %.12s)", list[i].Name, list[i].Size, list[i].SHA256)
}
