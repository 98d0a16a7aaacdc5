package top

import (
	"testing"

	"rackboot/protocol"
)

// Whatever is typed, on whatever screen, while whatever is heard: a frame fits its screen, and what is selected is one
// of the rows.
func FuzzKeys(f *testing.F) {
	for _, keys := range []string{"jjGgk", "/worker-1\rsss", "\t\r\x1bs", "\rjjG\x7f", "pLBp", "/\x15\x1bN\tNGNp"} {
		f.Add(keys, uint8(80), uint8(24))
		f.Add(keys, uint8(3), uint8(2))
	}
	names := map[rune]string{'\r': "enter", '\x1b': "esc", '\x7f': "backspace", '\t': "tab", '\x15': "ctrl+u", ' ': "space", '>': "pgdown", '<': "pgup"}
	f.Fuzz(func(t *testing.T, keys string, columns, lines uint8) {
		m := newModel(fleet(), int(columns), int(lines))
		for _, r := range keys {
			switch r {
			case 'L':
				m = m.lose(trouble{noon(), protocol.CodeUnavailable, keys})
			case 'B':
				m = m.take(fleet(), noon())
			case 'N':
				none := fleet()
				none.servers, none.racks = nil, nil
				m = m.take(none, noon())
			case 'Z':
				m = m.size(int(lines), int(columns))
			default:
				k := press{name: names[r], text: string(r)}
				if k.name == "" {
					k.name = string(r)
				}
				m, _ = m.key(k, noon())
			}
			checkFrame(t, m, m.frame(noon(), painter{}))
			if at := m.at(); len(m.rows) > 0 && m.open == "" && m.room() > 0 && (at < m.first || at >= m.first+m.room()) {
				t.Fatalf("row %d is selected, and those from %d are shown", at, m.first)
			}
		}
	})
}
