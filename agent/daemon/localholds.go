package daemon

import (
	"crypto/ed25519"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
	"rackboot/state/clock"
	"rackboot/state/file"
)

// LocalHolds reads the holds that were placed at an agent from its folder, while it does not run, and signs them
// with its key. The agent's database is not changed.
func LocalHolds(c Config, log *slog.Logger) (m message.LocalHolds, sealed []byte, err error) {
	const op = "read local holds"
	id, err := loadIdentity(c.DataDir)
	if err != nil {
		return m, nil, err
	}
	if _, err := os.Stat(c.path("state")); err != nil {
		return m, nil, protocol.Errorf(protocol.CodeNotFound, op, "%w", err).
			WithHint("this folder has no agent's database: give the agent.yaml of the first host, with its dataDir")
	}
	db, err := badger.Open(badger.Config{Dir: c.path("state"), Logger: log, Registerer: prometheus.NewRegistry()})
	if err != nil {
		return m, nil, err
	}
	holds, err := store.LocalHolds(db)
	if closed := db.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return m, nil, err
	}
	m = message.LocalHolds{Agent: id.Answer.Agent, Rack: id.Answer.Rack, Term: id.Answer.Term, At: clock.Now(), Holds: holds}
	sealed, err = wire.Seal(wire.NewSigner(ed25519.NewKeyFromSeed(id.Key)), wire.FactLocalHolds, m)
	return m, sealed, err
}

// WriteLocalHolds is LocalHolds, and writes them to a file that is whole or as it was.
func WriteLocalHolds(c Config, out string, log *slog.Logger) (message.LocalHolds, error) {
	m, sealed, err := LocalHolds(c, log)
	if err != nil {
		return m, err
	}
	if err := file.Replace(out, sealed, 0o600); err != nil {
		return m, protocol.Errorf(protocol.CodeUnavailable, "write local holds", "%w", err).WithHint("give another --out; nothing was changed on the agent's disk")
	}
	return m, nil
}
