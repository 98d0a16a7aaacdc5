package daemon

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"rackboot/agent/installed"
	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/state/badger"
)

// Finding is one thing that is wrong in an agent's folder.
type Finding struct {
	Code  FindingCode `json:"code"`
	Where string      `json:"where"` // a file, or a key of the store
	Text  string      `json:"text"`
	Do    string      `json:"do"`
}

// FindingCode says what is wrong.
type FindingCode string

// The codes.
const (
	FoundIdentity   FindingCode = "IdentityDamaged"
	FoundSealKey    FindingCode = "SealKeyDamaged"
	FoundUnopened   FindingCode = "StoreDoesNotOpen"
	FoundLoss       FindingCode = "StoreLostSomething"
	FoundMissing    FindingCode = "KeyMissing"
	FoundUnreadable FindingCode = "ValueUnreadable"
	FoundUpgrade    FindingCode = "UpgradeDamaged"
	FoundTPMRoots   FindingCode = "TPMAuthoritiesDamaged"
)

// Check reads what an agent that does not run has on disk, and changes nothing. The error is that
// it cannot be checked: unavailable while the agent runs, or without room for a copy of the
// database.
func Check(c Config) (found []Finding, err error) {
	id, err := loadIdentity(c.DataDir)
	if err == nil {
		_, _, err = id.pair()
	}
	if err != nil {
		found = append(found, Finding{FoundIdentity, identityPath(c.DataDir), err.Error(), "join anew with a token: rackctl rack replace-agent RACK --reason REASON"})
	}
	if _, err := os.Stat(sealKeyPath(c.DataDir)); err == nil {
		if _, err := sealKey(c.DataDir); err != nil {
			found = append(found, Finding{FoundSealKey, sealKeyPath(c.DataDir), err.Error(), protocol.HintOf(err)})
		}
	}
	if _, err := tpmAuthorities(c.TPMAuthorities); err != nil {
		found = append(found, Finding{FoundTPMRoots, c.TPMAuthorities, err.Error(), cmp.Or(protocol.HintOf(err), "correct the file, or take tpmAuthorities out of agent.yaml")})
	}
	found = append(found, checkUpgrades(c)...)
	more, err := checkDatabase(c.DataDir, c.path("state"))
	return append(found, more...), err
}

func checkDatabase(dataDir, dir string) (found []Finding, err error) {
	const op = "check the agent's store"
	copied, known, err := copyDatabase(dataDir, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	db, err := badger.Open(badger.Config{Dir: filepath.Join(copied, "state"), MinFree: 1})
	if err != nil {
		return []Finding{{FoundUnopened, dir, err.Error(), acceptLoss}}, nil
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	in, err := store.Inspect(db, known)
	if err != nil {
		return []Finding{{FoundUnopened, dir, err.Error(), acceptLoss}}, nil //nolint:nilerr // it is what was found
	}
	if in.Condition.Lost() {
		found = append(found, Finding{FoundLoss, dir, lossText(in), acceptLoss})
	}
	for _, key := range in.Missing {
		found = append(found, Finding{FoundMissing, key, "it was known, and is not there", acceptLoss})
	}
	unreadable, err := store.Unreadable(db)
	if err != nil {
		return found, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	for _, key := range unreadable {
		found = append(found, Finding{FoundUnreadable, key, "its value is not what its kind is made of", acceptLoss})
	}
	return found, nil
}

// guardName is that of two files in the agent's folder: what is guarded without its database.
const guardName = "guard"

// copyDatabase copies the database of an agent that does not run, with what lies beside it, and reads what is known of it:
// to open it is to change it.
func copyDatabase(dataDir, dir string) (copied string, known store.Anchor, err error) {
	const op = "check the agent's store"
	lock, err := os.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", known, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	default:
		defer func() { _ = lock.Close() }()
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return "", known, protocol.Errorf(protocol.CodeUnavailable, op, "a process has %s open", dir).WithHint("stop the agent first")
		}
	}
	if copied, err = os.MkdirTemp("", "rackboot-check-"); err != nil {
		return "", known, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	if lock != nil {
		err = os.CopyFS(filepath.Join(copied, "state"), os.DirFS(dir))
	}
	if err == nil {
		for _, slot := range []string{anchorName + ".0", anchorName + ".1", guardName + ".0", guardName + ".1"} {
			raw, failed := os.ReadFile(filepath.Join(dataDir, slot))
			if failed == nil {
				failed = os.WriteFile(filepath.Join(copied, slot), raw, 0o600)
			}
			if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
				err = errors.Join(err, failed)
			}
		}
	}
	if err != nil {
		return "", known, errors.Join(protocol.Errorf(protocol.CodeUnavailable, op, "it cannot be copied: %w", err).
			WithHint("free space in TMPDIR, or set it to a folder with room"), os.RemoveAll(copied))
	}
	a, known, err := openAnchor(copied, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", known, errors.Join(err, os.RemoveAll(copied))
	}
	return copied, known, a.close()
}

// checkUpgrades looks at what is on disk of releases.
func checkUpgrades(c Config) (found []Finding) {
	files := installed.Files{Dir: installed.Dir(c.DataDir)}
	r, err := files.Read()
	if err != nil {
		return []Finding{{FoundUpgrade, files.Dir, err.Error(), "start the agent: its launcher runs the packaged program and writes the record anew"}}
	}
	if r.Current == installed.Packaged {
		return nil
	}
	path := files.Program(r.Current)
	switch digest, err := installed.DigestOf(path); {
	case errors.Is(err, fs.ErrNotExist), err == nil && digest != r.Digest:
		found = append(found, Finding{FoundUpgrade, path, "it is not the program that was put there", "start the agent: its launcher runs the packaged program in its place"})
	case err != nil:
		found = append(found, Finding{FoundUpgrade, path, err.Error(), "look at the disk"})
	}
	return found
}
