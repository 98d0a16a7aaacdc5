package mirror

import (
	"cmp"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// load reads what the folder has. What does not fit together is removed: it can be
// fetched again. What is not ours is left alone.
func (s *store) load() error {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var contents []fs.FileInfo
	var entries, pins []string
	for _, f := range files {
		name := f.Name()
		switch {
		case !f.Type().IsRegular():
			s.logger.Warn("file is not of the mirror's cache, left alone", "path", s.path(name))
		case strings.HasPrefix(name, prefixTemp):
			s.discard(name)
		case strings.HasPrefix(name, prefixContent) && isHash(name[len(prefixContent):]):
			info, err := f.Info()
			if err != nil {
				return err
			}
			contents = append(contents, info)
		case strings.HasPrefix(name, prefixEntry) && isHash(name[len(prefixEntry):]):
			entries = append(entries, name)
		case strings.HasPrefix(name, prefixPin) && isHash(name[len(prefixPin):]):
			pins = append(pins, name)
		default:
			s.logger.Warn("file is not of the mirror's cache, left alone", "path", s.path(name))
		}
	}
	slices.SortFunc(contents, func(a, b fs.FileInfo) int { return cmp.Compare(accessTime(a), accessTime(b)) })
	for _, c := range contents {
		s.add(c.Name()[len(prefixContent):], c.Size())
	}
	for _, name := range entries {
		s.loadEntry(name)
	}
	for _, name := range pins {
		s.loadPin(name)
	}
	for _, c := range s.contents {
		s.collect(c)
	}
	return nil
}

func (s *store) loadEntry(name string) {
	key := name[len(prefixEntry):]
	raw, err := s.small(name)
	var e entry
	if err == nil {
		e, err = parseEntry(raw)
	}
	var c *content
	if err == nil {
		c = s.contents[e.SHA256]
		if u, perr := parseStored(e.URL); perr != nil || keyOf(u) != key || c == nil || c.size != e.Size {
			err = errSidecar
		}
	}
	if err != nil {
		s.logger.Warn("file of the mirror's cache is damaged, removed", "path", s.path(name), "err", err)
		s.discard(name)
		return
	}
	s.entries[key] = &e
	c.keys[key] = true
}

func (s *store) loadPin(name string) {
	raw, err := s.small(name)
	var p pin
	if err == nil {
		p, err = parsePin(raw)
	}
	if err == nil && prefixPin+hashOf(p.Name) != name {
		err = errSidecar
	}
	if err != nil {
		s.logger.Warn("file of the mirror's cache is damaged, removed", "path", s.path(name), "err", err)
		s.discard(name)
		return
	}
	// A pin with a content that is lost stays: it says so when it is asked for.
	s.pins[p.Name] = p
	for _, f := range p.Files {
		if c := s.contents[f.SHA256]; c != nil {
			c.pins++
		}
	}
}

// small reads a file that describes another.
func (s *store) small(name string) ([]byte, error) {
	info, err := os.Stat(s.path(name))
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSidecar {
		return nil, errSidecar
	}
	return os.ReadFile(s.path(name))
}

// accessTime is in nanoseconds.
func accessTime(f fs.FileInfo) int64 {
	st, ok := f.Sys().(*syscall.Stat_t)
	if !ok {
		return f.ModTime().UnixNano()
	}
	return st.Atim.Nano()
}
