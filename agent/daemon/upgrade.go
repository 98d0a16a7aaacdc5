package daemon

import (
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"strings"

	"rackboot/agent/installed"
	"rackboot/protocol/agentpackage"
)

// Upgrade says by whose signature the agent runs another release of itself, when the hub orders it.
type Upgrade struct {
	// Keys are public keys of publishers, each a file or PEM; none lets nobody upgrade the agent.
	Keys []string `yaml:"keys"`
}

// check refuses PEM that is none. A file that cannot be read is no reason not to start: the agent serves its rack, and only
// cannot be upgraded.
func (u Upgrade) check() error { return agentpackage.CheckKeys(u.Keys) }

// read reads the keys, and says which cannot be had.
func (u Upgrade) read() (keys []ed25519.PublicKey, err error) { return agentpackage.ReadKeys(u.Keys) }

// keys are those that can be read; what cannot is logged.
func (u Upgrade) keys(log *slog.Logger) []ed25519.PublicKey {
	keys, err := u.read()
	if err != nil {
		log.Error("a key of publishers cannot be read; nothing that it signed is run", "err", err)
	}
	return keys
}

// Standing says whether an agent with that dataDir can upgrade itself, and why not, as far as can be seen while it does not run.
func (u Upgrade) Standing(dataDir string) (can bool, says string) {
	keys, err := u.read()
	switch {
	case err != nil:
		return false, err.Error()
	case len(keys) == 0:
		return false, "upgrade.keys of the agent's file names no key"
	}
	dir := installed.Dir(dataDir)
	r, err := (installed.Files{Dir: dir}).Read()
	if err != nil {
		return false, err.Error()
	}
	if r.Packaged == "" {
		return false, "rackboot-launcher has never started an agent with the folder " + dir
	}
	switch last := r.Last; {
	case r.Trial != nil:
		return true, fmt.Sprintf("%s is on trial by order %s", r.Trial.Version, r.Trial.Order)
	case last != nil:
		return true, strings.TrimRight(fmt.Sprintf("order %s: %s %s %s", last.Order, last.Stage, last.Code, last.Message), " ")
	}
	return true, "none was ordered yet"
}
