package daemon

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"rackboot/protocol"
	"rackboot/state/clock"
	"rackboot/state/file"
)

// Loss is somebody's word that an agent's database is lost.
type Loss struct {
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

func lossPath(dataDir string) string { return filepath.Join(dataDir, "loss.json") }

// AcceptLoss leaves that word for the agent, which takes it once, within seconds if it runs: if
// its database cannot be opened, or is another, it begins a new one. Where there is no loss the word counts for nothing.
func AcceptLoss(c Config, by, reason string) error {
	const op = "accept the loss of the agent's database"
	if reason == "" {
		return protocol.Errorf(protocol.CodeInvalid, op, "a reason is needed").WithHint("say how it was lost: --reason REASON")
	}
	raw, err := json.Marshal(Loss{By: by, Reason: reason, At: clock.Now()})
	if err != nil {
		return err
	}
	if err := file.Replace(lossPath(c.DataDir), raw, 0o600); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("a new database needs room too: free space in %s", c.DataDir)
	}
	return nil
}

// accepted is the word that was left; nil is none.
func accepted(dataDir string) *Loss {
	raw, err := os.ReadFile(lossPath(dataDir))
	if err != nil {
		return nil
	}
	var l Loss
	if json.Unmarshal(raw, &l) != nil || l.Reason == "" {
		return nil
	}
	return &l
}

// take uses it up, before anything is done by it.
func (l *Loss) take(dataDir string) error {
	err := os.Remove(lossPath(dataDir))
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "take the word that the database is lost", "%w", err)
	}
	return nil
}

// dismiss takes away a word that was not needed: it is not for another loss.
func dismiss(dataDir string, log *slog.Logger) {
	switch err := os.Remove(lossPath(dataDir)); {
	case err == nil:
		log.Warn("nothing is lost; the word that it is counts for nothing")
	case !errors.Is(err, os.ErrNotExist):
		log.Error("the word that the database is lost cannot be taken away", "err", err)
	}
}
