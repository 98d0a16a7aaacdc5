package mirror

import (
	"os"
	"strings"
)

// load reads what the folder has. What does not fit together is removed: it can be
// fetched again. What is not ours is left alone.
func (s *store) load() error {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		name := f.Name()
		switch {
		case name == contentFolder && f.IsDir():
		case !f.Type().IsRegular():
			s.logger.Warn("file is not of the mirror's cache, left alone", "path", s.records.path(name))
		case strings.HasPrefix(name, prefixTemp):
			s.records.discard(name)
		case strings.HasPrefix(name, prefixEntry) && isHash(name[len(prefixEntry):]):
			s.loadEntry(name)
		case strings.HasPrefix(name, prefixPin) && isHash(name[len(prefixPin):]):
			if err := s.loadPin(name); err != nil {
				return err
			}
		default:
			s.logger.Warn("file is not of the mirror's cache, left alone", "path", s.records.path(name))
		}
	}
	for _, digest := range s.blobs.Digests() {
		s.collect(hashIn(digest))
	}
	return nil
}

func (s *store) loadEntry(name string) {
	key := name[len(prefixEntry):]
	raw, err := s.records.small(name)
	var e entry
	if err == nil {
		e, err = parseEntry(raw)
	}
	if err == nil {
		size, there := s.blobs.Size(digestOf(e.SHA256))
		if u, perr := parseStored(e.URL); perr != nil || keyOf(u) != key || !there || size != e.Size {
			err = errSidecar
		}
	}
	if err != nil {
		s.logger.Warn("file of the mirror's cache is damaged, removed", "path", s.records.path(name), "err", err)
		s.records.discard(name)
		return
	}
	s.entries[key] = &e
	s.name(e.SHA256, key)
}

func (s *store) loadPin(name string) error {
	raw, err := s.records.small(name)
	var p pin
	if err == nil {
		p, err = parsePin(raw)
	}
	if err == nil && prefixPin+hashOf(p.Name) != name {
		err = errSidecar
	}
	if err != nil {
		s.logger.Warn("file of the mirror's cache is damaged, removed", "path", s.records.path(name), "err", err)
		s.records.discard(name)
		return nil
	}
	// A pin with a content that is lost stays: it says so when it is asked for.
	s.pins[p.Name] = p
	for _, f := range p.Files {
		if err := s.blobs.Pin(digestOf(f.SHA256)); err != nil {
			return err
		}
	}
	return nil
}
