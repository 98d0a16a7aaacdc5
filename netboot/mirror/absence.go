package mirror

import "time"

// absence is that a name is no file, for a while.
type absence struct {
	until  time.Time
	folder bool
}

// missed notes that a name is no file: nothing, or a folder. When too many are known, new
// ones are asked for each time.
func (m *Mirror) missed(key string, folder bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if len(m.absent) >= maxAbsent {
		for k, a := range m.absent {
			if !now.Before(a.until) {
				delete(m.absent, k)
			}
		}
	}
	if len(m.absent) < maxAbsent {
		m.absent[key] = absence{now.Add(m.cfg.Negative), folder}
	}
}

// isAbsent says whether a name was no file a moment ago, and whether it was a folder. The
// lock is held.
func (m *Mirror) isAbsent(key string, now time.Time) (absent, folder bool) {
	a, ok := m.absent[key]
	if ok && !now.Before(a.until) {
		delete(m.absent, key)
		return false, false
	}
	return ok, a.folder
}
