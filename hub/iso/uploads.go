package iso

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state"
	"rackboot/state/file"
)

// maxUploads bounds the uploads that have not ended.
const maxUploads = 32

// upload is one that has not ended, as it is on disk. Its file's modification time is when
// something came last.
type upload struct {
	protoapi.ISOUploadRequest
	By      string    `json:"by"`
	BegunAt time.Time `json:"begunAt"`

	id   string
	used time.Time // guarded by uploads.mu
}

// idOf follows from name and digest, so that an upload is found again.
func idOf(file, digest string) string {
	sum := sha256.Sum256([]byte(file + "\x00" + digest))
	return hex.EncodeToString(sum[:16])
}

// uploads are those that have not ended, each with its file.
type uploads struct {
	dir   string
	log   *slog.Logger
	clock state.Clock

	mu   sync.Mutex
	byID map[string]*upload
}

func (us *uploads) path(id string) string { return filepath.Join(us.dir, id+".json") }

// load reads the uploads that a restart has cut off.
func (us *uploads) load() error {
	const op = "open uploaded files"
	files, err := os.ReadDir(us.dir)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	for _, f := range files {
		path := filepath.Join(us.dir, f.Name())
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok { // of a write that was cut off
			if err := os.Remove(path); err != nil {
				return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
			}
			continue
		}
		u, err := readUpload(path)
		if err == nil && u.id != id {
			err = errors.New("it is of another upload")
		}
		if err != nil {
			us.log.Error("an upload cannot be read and is forgotten", "path", path, "err", err)
			if err := os.Remove(path); err != nil {
				return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
			}
			continue
		}
		us.byID[id] = u
	}
	return nil
}

func readUpload(path string) (*upload, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	u := &upload{used: info.ModTime()}
	if err := json.Unmarshal(raw, u); err != nil {
		return nil, err
	}
	u.id = idOf(u.File, u.Digest)
	return u, u.Validate()
}

// keep writes an upload to disk, as a whole.
func (us *uploads) keep(u *upload) error {
	const op = "begin upload"
	raw, err := json.Marshal(u)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return file.Replace(us.path(u.id), raw, 0o600)
}

// checkSize compares sizes of the same digest: one of them must be wrong.
func (us *uploads) checkSize(op string, r protoapi.ISOUploadRequest) error {
	us.mu.Lock()
	defer us.mu.Unlock()
	for _, u := range us.byID {
		if u.Digest == r.Digest && u.Size != r.Size {
			return protocol.Errorf(protocol.CodeConflict, op, "%s has %d bytes, and another upload says %d", r.Digest, r.Size, u.Size).
				WithHint("one of the two is wrong: rackctl iso list shows the other; rackctl iso remove --upload ends it")
		}
	}
	return nil
}

// enter makes the upload one of those that have not ended, if there is room. It is fresh
// if it was none of them.
func (us *uploads) enter(op string, u *upload) (fresh bool, err error) {
	us.mu.Lock()
	defer us.mu.Unlock()
	fresh = us.byID[u.id] == nil
	if fresh && len(us.byID) >= maxUploads {
		return false, protocol.Errorf(protocol.CodeUnavailable, op, "%d uploads have not ended", maxUploads).
			WithHint("finish them, or remove some: rackctl iso list shows them; each goes a day after nothing came to it")
	}
	us.byID[u.id] = u
	return fresh, nil
}

// forget removes an upload. What came of its content goes with the next collection.
func (us *uploads) forget(id string) error {
	us.mu.Lock()
	delete(us.byID, id)
	us.mu.Unlock()
	if err := os.Remove(us.path(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// of is the upload of an id; not_found if there is none.
func (us *uploads) of(op, id string) (*upload, error) {
	us.mu.Lock()
	defer us.mu.Unlock()
	u := us.byID[id]
	if u == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is no upload %.64q", id).
			WithHint("it has ended, or nothing came to it for %s; begin it again", protoapi.ISOUploadLife)
	}
	return u, nil
}

func (us *uploads) said(u *upload) protoapi.ISOUpload {
	us.mu.Lock()
	defer us.mu.Unlock()
	return protoapi.ISOUpload{ID: u.id, File: u.File, Digest: u.Digest, Size: u.Size, ExpiresAt: u.used.Add(protoapi.ISOUploadLife).UTC()}
}

// touch notes that something came.
func (us *uploads) touch(u *upload) {
	now := us.clock()
	us.mu.Lock()
	u.used = now
	us.mu.Unlock()
	if err := os.Chtimes(us.path(u.id), now, now); err != nil {
		us.log.Warn("time of an upload not kept", "id", u.id, "err", err)
	}
}

// uploading says whether an upload has the digest.
func (us *uploads) uploading(digest string) bool {
	us.mu.Lock()
	defer us.mu.Unlock()
	for _, u := range us.byID {
		if u.Digest == digest {
			return true
		}
	}
	return false
}

// all are the uploads that have not ended, in order of name.
func (us *uploads) all() []*upload {
	us.mu.Lock()
	defer us.mu.Unlock()
	var out []*upload
	for _, u := range us.byID {
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b *upload) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.id, b.id)) })
	return out
}

// sizeOf is the size that an upload of a content says, else size.
func (us *uploads) sizeOf(digest string, size int64) int64 {
	us.mu.Lock()
	defer us.mu.Unlock()
	for _, u := range us.byID {
		if u.Digest == digest {
			return u.Size
		}
	}
	return size
}

// count counts them.
func (us *uploads) count() int {
	us.mu.Lock()
	defer us.mu.Unlock()
	return len(us.byID)
}
