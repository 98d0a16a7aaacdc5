package daemon

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"

	"rackboot/agent/guard"
	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
	"rackboot/state/clock"
	"rackboot/state/file"
)

// LocalHolds reads the holds that were placed at an agent from its folder, while it does not run, and signs them
// with its key. The agent's database is not changed.
func LocalHolds(c Config) (m message.LocalHolds, sealed []byte, err error) {
	const op = "read local holds"
	id, err := loadIdentity(c.DataDir)
	if err != nil {
		return m, nil, err
	}
	if _, err := os.Stat(c.path("state")); err != nil {
		return m, nil, protocol.Errorf(protocol.CodeNotFound, op, "%w", err).
			WithHint("this folder has no agent's database: give the agent.yaml of the first host, with its dataDir")
	}
	holds, err := readLocalHolds(c, id.Answer.Agent)
	if err != nil {
		return m, nil, err
	}
	m = message.LocalHolds{Agent: id.Answer.Agent, Rack: id.Answer.Rack, Term: id.Answer.Term, At: clock.Now(), Holds: holds}
	sealed, err = wire.Seal(wire.NewSigner(ed25519.NewKeyFromSeed(id.Key)), wire.FactLocalHolds, m)
	return m, sealed, err
}

// readLocalHolds reads a copy of the folder's database and guard set. What lacks something that it had is refused: nobody
// knows that no hold is missing.
func readLocalHolds(c Config, agent string) (holds []resource.ActiveHold, err error) {
	const op = "read local holds"
	lost := func(why error) error {
		return protocol.Errorf(protocol.CodeInternal, op, "holds may be missing: %w", why).
			WithHint("look at %s with rackboot-agent check; if it is lost, and once you know which holds matter: rackctl rack settle RACK --loss-accepted --reason REASON", c.DataDir)
	}
	dir, known, err := copyDatabase(c.DataDir, c.path("state"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := badger.Open(badger.Config{Dir: filepath.Join(dir, "state"), MinFree: 1})
	if err != nil {
		return nil, lost(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	in, err := store.Inspect(db, known)
	if err != nil {
		return nil, lost(err)
	}
	if in.Condition.Lost() {
		return nil, lost(errors.New(lossText(in)))
	}
	g := guard.Open(guard.Config{Agent: agent, Dir: dir, Clock: clock.Now})
	defer func() { err = errors.Join(err, g.Close()) }()
	if g.Damaged() {
		return nil, lost(errors.New("the guard set is damaged, which may have had holds that could not be recorded"))
	}
	set, _ := g.Set()
	return store.LocalHolds(db, set)
}

// WriteLocalHolds is LocalHolds, and writes them to a file that is whole or as it was.
func WriteLocalHolds(c Config, out string) (message.LocalHolds, error) {
	m, sealed, err := LocalHolds(c)
	if err != nil {
		return m, err
	}
	if err := file.Replace(out, sealed, 0o600); err != nil {
		return m, protocol.Errorf(protocol.CodeUnavailable, "write local holds", "%w", err).WithHint("give another --out; nothing was changed on the agent's disk")
	}
	return m, nil
}
