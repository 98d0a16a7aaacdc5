package daemon

import "rackboot/hub/cluster"

// Store says where the hub keeps what it knows. Without NATS that is its folder, which a server within the process
// writes.
type Store struct {
	NATS *cluster.Config `yaml:"nats"`
}

func (s *Store) check() error {
	if s.NATS == nil {
		return nil
	}
	return s.NATS.Check()
}
