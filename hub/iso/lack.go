package iso

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"rackboot/hub/store"
	"rackboot/netboot/bootenv"
	"rackboot/netboot/fsview"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxRead bounds the files of which it is kept what was read; the oldest go first.
const maxRead = 4096

// readKey is a file in a content, and what it is to be.
type readKey struct {
	digest, path, arch string
	part               bootenv.Part
}

// reading keeps what was found of files in contents, which do not change: each is read to
// its end once. It is safe for concurrent use; those who ask for the same wait for one.
type reading struct {
	mu    sync.Mutex
	found map[readKey]*readResult
	order []readKey
}

type readResult struct {
	once sync.Once
	err  error
}

func (r *reading) of(k readKey) *readResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	if have := r.found[k]; have != nil {
		return have
	}
	if len(r.order) >= maxRead {
		delete(r.found, r.order[0])
		r.order = r.order[1:]
	}
	have := &readResult{}
	r.found[k] = have
	r.order = append(r.order, k)
	return have
}

// forget drops what may be another one next time.
func (r *reading) forget(k readKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.found, k)
	r.order = slices.DeleteFunc(r.order, func(o readKey) bool { return o == k })
}

// Lacks says what of the needs a content does not have: each file is there, was read to its
// end, and is of its architecture (P7). A content that is not on the shelf is not judged:
// nil. An error is that it could not be read.
func (s *Shelf) Lacks(ctx context.Context, file, digest string, needs []bootenv.Need) (protocol.FieldErrors, error) {
	if !s.blobs.Has(digest) {
		return nil, nil
	}
	in := &inContent{s: s, file: file, digest: digest}
	defer in.close()
	var wrong protocol.FieldErrors
	for _, n := range needs {
		err := in.judge(ctx, n)
		switch protocol.CodeOf(err) {
		case "":
		case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal:
			return nil, err
		default:
			wrong = append(wrong, protocol.FieldError{Path: n.Field, Message: fmt.Sprintf("the %s %s in %s: %s", n.Part, n.Path, file, protocol.Advice(err))})
		}
	}
	return wrong, nil
}

// inContent reads files in a content, which is opened for the first that was not read yet.
type inContent struct {
	s            *Shelf
	file, digest string
	view         *fsview.View
}

func (in *inContent) close() {
	if in.view != nil {
		in.view.Release()
	}
}

func (in *inContent) judge(ctx context.Context, n bootenv.Need) error {
	k := readKey{in.digest, n.Path, n.Arch, n.Part}
	r := in.s.reading.of(k)
	r.once.Do(func() { r.err = in.read(ctx, n) })
	switch protocol.CodeOf(r.err) {
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal:
		in.s.reading.forget(k)
	default:
	}
	return r.err
}

func (in *inContent) read(ctx context.Context, n bootenv.Need) error {
	const op = "read uploaded file"
	if in.view == nil {
		f, size, err := in.s.blobs.Open(in.digest)
		if err != nil {
			return err
		}
		mount, err := fsview.MountArchive(f, size, in.file)
		if err != nil {
			return err
		}
		if in.view, err = fsview.New([]fsview.Mount{mount}); err != nil {
			return err
		}
	}
	w, err := fsview.ReadWhole(ctx, in.view, n.Path)
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound:
		return protocol.Errorf(protocol.CodeNotFound, op, "%w", err).WithHint("correct the path, or upload the file that has it")
	case err != nil:
		return err
	}
	check := image.CheckFile(w.Head)
	if n.Part.Program() {
		check = image.CheckProgram(w.Head, w.Size, n.Arch)
	}
	if check != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "it %w", check).WithHint("name the file that %s boots from, or upload the medium of that architecture", n.Arch)
	}
	return nil
}

// LacksOf says what of the files that an environment names is not in the uploaded files that
// it names, as far as those are there and are the ones that are meant.
func (s *Shelf) LacksOf(ctx context.Context, spec resource.BootEnvSpec) (wrong protocol.FieldErrors, err error) {
	for _, n := range bootenv.Needs(spec) {
		f, err := s.cfg.Store.ISOs.Get(n.File)
		switch {
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			continue
		case err != nil:
			return nil, err
		case n.Sum != "" && f.Uploaded != "sha256:"+n.Sum: // it waits for another one
			continue
		}
		some, err := s.Lacks(ctx, f.File, f.Digest, n.Needs)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, some...)
	}
	return wrong, nil
}

// checkNeeded refuses a content that lacks what an environment wants of a file of that name.
func (s *Shelf) checkNeeded(ctx context.Context, op, file, digest string) error {
	for _, env := range store.List[*resource.BootEnv](s.cfg.Store.Objects) {
		for _, n := range bootenv.Needs(env.Spec) {
			if n.File != file {
				continue
			}
			wrong, err := s.Lacks(ctx, file, digest, n.Needs)
			if err != nil {
				return err
			}
			if len(wrong) > 0 {
				return refuse(protocol.Errorf(protocol.CodeInvalid, op, "%s has not what BootEnv %s names: %s", file, env.Metadata.Name, wrong).
					WithHint("upload the file that the environment means, or correct the environment first"))
			}
		}
	}
	return nil
}
