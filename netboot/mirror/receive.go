package mirror

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"rackboot/protocol"
	"rackboot/state/blob"
)

// chunk is how many bytes of a body are read at once.
const chunk = 128 << 10

var errChanged = errors.New("the file was changed while it was fetched")

// begin makes room for a body.
func (f *flight) begin(resp *http.Response, v reply) reply {
	now := time.Now()
	size := resp.ContentLength
	if size > f.m.cfg.MaxFile {
		return reply{answerLocal, f.tooLarge()}
	}
	f.noStore = cacheControl(resp.Header.Values("Cache-Control")).noStore
	f.strong = validator(resp.Header)
	f.noRange.Store(resp.Header.Get("Accept-Ranges") == "none")
	f.entry = entry{URL: show(f.asked.url), Size: size, Fetched: now}.heard(resp.Header, now)
	draft, err := f.m.store.draft(size, f.m.cfg.MaxFile)
	if err != nil {
		return reply{answerLocal, disk(err)}
	}
	f.draft = draft
	return v
}

// disk is an error of the cache's own disk; that there is no room on it says so itself.
func disk(err error) error {
	if errors.Is(err, blob.ErrInsufficient) {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, "fetch", "write the mirror's cache: %w", err).WithHint("look at the disk of the mirror's cache")
}

func (f *flight) tooLarge() error {
	return protocol.Errorf(protocol.CodeUnavailable, "fetch", "%s is larger than the %d bytes that one file may have", show(f.asked.url), f.m.cfg.MaxFile).
		WithHint("raise the bound of one file of the mirror's cache")
}

// receive takes the body into the file, and the file into the cache.
func (f *flight) receive(body io.Reader) {
	err := f.copyAll(body)
	late := f.entry.Size < 0
	if late {
		f.entry.Size = f.arrival.now().bytes
	}
	var done func()
	if err == nil {
		if done, err = f.keep(); err != nil {
			err = &localError{disk(err)}
		}
	} else if rerr := f.draft.Drop(); rerr != nil {
		err = errors.Join(err, rerr)
	}

	// What is told last is told to readers: who begins or looks after it finds it so.
	f.m.end(f)
	if done != nil {
		done()
	}
	if err != nil {
		f.m.cfg.Logger.Info("file was not fetched whole", "url", show(f.asked.url), "err", err)
		if _, local := errors.AsType[*localError](err); !local && !errors.Is(err, errChanged) && f.m.ctx.Err() == nil {
			f.m.hear(f.asked.site, reply{answerTrouble, err})
		}
	}
	f.arrival.end(err)
	if late {
		if err != nil {
			f.outcome, f.err = judge(answerTrouble, f.asked.has), err
		}
		close(f.known)
	}
}

// keep puts the whole file into the cache. Who claimed it gets a hold on it.
func (f *flight) keep() (done func(), err error) {
	f.keeping.Lock()
	defer f.keeping.Unlock()
	key := f.asked.key
	if f.noStore || f.disowned {
		key = ""
		if !f.wanted() {
			if !f.disowned { // else what is there now is newer
				f.m.store.drop(f.asked.key)
			}
			return nil, f.draft.Drop()
		}
	}
	if f.kept, done, err = f.m.store.commit(f.draft, key, f.entry); err != nil {
		return nil, err
	}
	f.m.end(f) // no claim comes after it
	f.claims.hold(func() (func(), bool) { return f.m.store.hold(f.kept.SHA256) })
	return done, nil
}

// wanted says whether somebody pins a file that is not to be stored. If not, nobody will.
func (f *flight) wanted() bool {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	claimed := f.claims.any()
	if !claimed && f.m.flights[f.asked.key] == f {
		delete(f.m.flights, f.asked.key)
	}
	return claimed
}

// copyAll copies until the end. A body that breaks off is gone on with, if what is there
// can be told to be of the same file.
func (f *flight) copyAll(body io.Reader) error {
	err := f.copy(body)
	for try := 1; err != nil && try <= maxResumes && f.ctx.Err() == nil && f.resumable(err); try++ {
		if waited := pause(f.ctx, time.Duration(try)*time.Second); waited != nil {
			return err
		}
		err = f.resume()
	}
	if err == nil {
		return nil
	}
	return f.broke(err)
}

// broke is an error of a body as people see it.
func (f *flight) broke(err error) error {
	if protocol.CodeOf(err) != protocol.CodeInternal {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, "fetch", "%s broke off: %w", show(f.asked.url), f.asked.site.scrubbed(err)).
		WithHint("it is tried again when it is asked for; check the way to %s", f.asked.url.Host)
}

// resumable says whether the rest of the file may be asked for.
func (f *flight) resumable(err error) bool {
	_, local := errors.AsType[*localError](err)
	return !local && !errors.Is(err, errChanged) && f.strong != "" && f.entry.Size >= 0 && !f.noRange.Load()
}

// localError is one of this side.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// copy copies a body to its end.
func (f *flight) copy(body io.Reader) error {
	buf := make([]byte, chunk)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if werr := f.append(buf[:n]); werr != nil {
				return &localError{werr}
			}
		}
		switch {
		case errors.Is(err, io.EOF) && (f.entry.Size < 0 || f.arrival.now().bytes == f.entry.Size):
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
}

// append takes bytes that came, and tells who waits.
func (f *flight) append(p []byte) error {
	end := f.arrival.now().bytes + int64(len(p)) // only this goroutine moves it
	switch {
	case f.entry.Size >= 0 && end > f.entry.Size:
		return fmt.Errorf("more than the %d bytes of the file: %w", f.entry.Size, errChanged)
	case end > f.m.cfg.MaxFile:
		return f.tooLarge()
	}
	if _, err := f.draft.Write(p); err != nil {
		return disk(f.m.store.roomError(err))
	}
	f.m.metrics.bytes.Add(float64(len(p)))
	f.arrival.reach(end)
	return nil
}
