package daemon

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"rackboot/agent/installed"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// publisherKey is PEM of a public key.
func publisherKey(t *testing.T) string {
	t.Helper()
	_, public, err := wire.EncodeKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	must(t, err)
	return string(public)
}

func TestUpgradeKeys(t *testing.T) {
	pem := publisherKey(t)
	file := write(t, "publisher.pub", pem, 0o644)
	inline := "\n    - |\n      " + strings.ReplaceAll(strings.TrimSpace(pem), "\n", "\n      ")
	for name, row := range map[string]struct {
		text string
		keys int
		says string // of the error of the file, or of what could not be read
		bad  bool   // the file is refused
	}{
		"none":              {"", 0, "", false},
		"a file":            {"upgrade: {keys: [" + file + "]}\n", 1, "", false},
		"PEM":               {"upgrade:\n  keys:" + inline + "\n", 1, "", false},
		"both":              {"upgrade:\n  keys:" + inline + "\n    - " + file + "\n", 2, "", false},
		"a file that is no": {"upgrade: {keys: [/nonexistent, " + file + "]}\n", 1, "upgrade.keys[0]", false},
		"a file of no key":  {"upgrade: {keys: [" + write(t, "x", "no key", 0o600) + "]}\n", 0, "upgrade.keys[0]", false},
		"a relative path":   {"upgrade: {keys: [publisher.pub]}\n", 0, "upgrade.keys[0]", true},
		"PEM that is none":  {"upgrade:\n  keys:\n    - |\n      -----BEGIN PUBLIC KEY-----\n      x\n      -----END PUBLIC KEY-----\n", 0, "upgrade.keys[0]", true},
		"another word":      {"upgrade: {key: [" + file + "]}\n", 0, "key", true},
	} {
		c, err := LoadConfig(write(t, "agent.yaml", goodConfig+row.text, 0o600))
		if (err != nil) != row.bad || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if n := len(c.Upgrade.keys(slog.New(slog.DiscardHandler))); n != row.keys {
			t.Errorf("%s: %d keys", name, n)
		}
		if _, err := c.Upgrade.read(); (err != nil) != (row.says != "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUpgradeStanding(t *testing.T) {
	keys := Upgrade{Keys: []string{publisherKey(t)}}
	packaged := wire.Digest([]byte("packaged"))
	for name, row := range map[string]struct {
		upgrade Upgrade
		record  *installed.Record
		can     bool
		says    string
	}{
		"no keys":          {Upgrade{}, nil, false, "names no key"},
		"a key that is no": {Upgrade{Keys: []string{"/nonexistent"}}, nil, false, "upgrade.keys[0]"},
		"no launcher":      {keys, nil, false, "rackboot-launcher has never"},
		"no order":         {keys, &installed.Record{Packaged: packaged, Current: installed.Packaged}, true, "none was ordered"},
		"a trial": {keys, &installed.Record{
			Packaged: packaged, Current: installed.Packaged, Trial: &installed.Trial{Order: "01a", Slot: installed.SlotA, Digest: packaged, Version: "2.0.0"},
		}, true, "2.0.0 is on trial by order 01a"},
		"one that came back": {keys, &installed.Record{
			Packaged: packaged, Current: installed.Packaged, Last: &installed.Outcome{Order: "01a", Stage: message.UpgradeReturned, Code: message.UpgradeUnheard, Message: "not heard", At: time.Unix(1, 0)},
		}, true, "order 01a: Returned unheard not heard"},
	} {
		dir := t.TempDir()
		if row.record != nil {
			f := installed.Files{Dir: installed.Dir(dir)}
			must(t, errors.Join(f.Prepare(), f.Write(*row.record)))
		}
		if can, says := row.upgrade.Standing(dir); can != row.can || !strings.Contains(says, row.says) {
			t.Errorf("%s: %t, %s", name, can, says)
		}
	}
}

// TestCheckUpgrades: a damaged record, and a slot that has another program, are found.
func TestCheckUpgrades(t *testing.T) {
	for name, row := range map[string]struct {
		damage func(f installed.Files) error
		found  bool
	}{
		"whole":            {func(installed.Files) error { return nil }, false},
		"no record":        {func(f installed.Files) error { return os.RemoveAll(f.Dir) }, false},
		"a damaged record": {func(f installed.Files) error { return os.WriteFile(f.Dir+"/record.json", []byte("{"), 0o600) }, true},
		"another program":  {func(f installed.Files) error { return os.WriteFile(f.Program(installed.SlotA), []byte("x"), 0o600) }, true},
		"no program":       {func(f installed.Files) error { return os.Remove(f.Program(installed.SlotA)) }, true},
	} {
		c := Config{DataDir: t.TempDir()}
		f := installed.Files{Dir: installed.Dir(c.DataDir)}
		program := "the program"
		must(t, errors.Join(f.Prepare(), f.Install(t.Context(), installed.SlotA, wire.Digest([]byte(program)), int64(len(program)), strings.NewReader(program)),
			f.Write(installed.Record{Packaged: wire.Digest(nil), Current: installed.SlotA, Digest: wire.Digest([]byte(program))}), row.damage(f)))
		found := checkUpgrades(c)
		if len(found) > 0 != row.found || row.found && (found[0].Code != FoundUpgrade || found[0].Do == "") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
