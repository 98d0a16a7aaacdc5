package bootcert

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/protocol"
)

// lookEvery is how often the files are looked at.
const lookEvery = 30 * time.Second

// StoreConfig is what a Store needs.
type StoreConfig struct {
	Folder Folder
	// Names is what the certificates must be for now: the hosts of the boot URLs.
	// Where it has no address, nothing is renewed and names are not checked.
	Names func() Names

	Logger     *slog.Logger          // none if nil
	Registerer prometheus.Registerer // none if nil
	Clock      func() time.Time      // time.Now if nil
}

// Store serves the certificates of a folder and follows its files. It is safe for
// concurrent use.
type Store struct {
	cfg     StoreConfig
	source  keySource
	metrics *storeMetrics
	current map[netboot.KeyKind]*atomic.Pointer[tls.Certificate] // the map itself never changes
	seen    [sha256.Size]byte                                    // of Open and then Run alone
	failed  string                                               // the last warning, so that it is said once
}

// OpenStore reads the folder. A certificate that [Check] has something against is
// not served. Errors: invalid, and whatever Folder.Pair returns, if none of the two
// is left; conflict if the metrics are registered already.
func OpenStore(cfg StoreConfig) (*Store, error) { return openStore(cfg, newKey) }

func openStore(cfg StoreConfig, source keySource) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Names == nil {
		cfg.Names = func() Names { return Names{} }
	}
	s := &Store{cfg: cfg, source: source, metrics: newStoreMetrics(), current: make(map[netboot.KeyKind]*atomic.Pointer[tls.Certificate])}
	for _, kind := range kinds {
		s.current[kind] = new(atomic.Pointer[tls.Certificate])
	}
	err := s.look()
	if s.Certificate(netboot.KeyECDSA) == nil && s.Certificate(netboot.KeyRSA) == nil {
		if err == nil {
			err = protocol.Errorf(protocol.CodeInvalid, "open boot certificates", "there is no certificate in %s", cfg.Folder).
				WithHint("make them with rackctl boot-cert make, or put your own there; rackctl boot-cert check says what is missing")
		}
		return nil, err
	}
	if err := s.metrics.all().Register(cfg.Registerer); err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, "open boot certificates", "registering metrics: %w", err)
	}
	s.note(err)
	return s, nil
}

// Certificate implements netboot.Certificates.
func (s *Store) Certificate(kind netboot.KeyKind) *tls.Certificate {
	if p := s.current[kind]; p != nil {
		return p.Load()
	}
	return nil
}

// Run looks at the files until ctx ends. It renews what is due where the
// authority's key is in the folder, and takes what has changed; handshakes from
// then on have it, connections that are open stay. It may be called once.
func (s *Store) Run(ctx context.Context) error {
	defer s.metrics.all().Unregister(s.cfg.Registerer)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.note(s.look())
		}
	}
}

// note logs what is wrong, when it begins or changes.
func (s *Store) note(err error) {
	said := ""
	if err != nil {
		s.metrics.failures.Inc()
		said = err.Error()
	}
	if said != "" && said != s.failed {
		s.cfg.Logger.Warn("boot certificates are not as they should be", "err", err, "hint", protocol.HintOf(err))
	}
	s.failed = said
}

// look renews and reads. What cannot be used leaves the certificate of before.
func (s *Store) look() error {
	now, names := s.cfg.Clock(), s.cfg.Names()
	renewed := s.renew(names, now)
	sum, err := s.sum(names)
	if err != nil {
		return errors.Join(renewed, err)
	}
	if sum == s.seen && s.failed == "" {
		return renewed
	}
	s.seen = sum
	roots, err := s.cfg.Folder.Roots()
	if err != nil {
		return errors.Join(renewed, err)
	}
	problems := []error{renewed}
	for _, kind := range kinds {
		p, ok, err := s.cfg.Folder.Pair(kind)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if !ok {
			s.current[kind].Store(nil) // it was taken away
			s.metrics.ends.DeleteLabelValues(string(kind))
			continue
		}
		if bad := Check(kind, p, names, roots, now); len(bad) > 0 {
			problems = append(problems, bad...)
			continue
		}
		if old := s.current[kind].Load(); old == nil || !old.Leaf.Equal(p.Leaf()) {
			s.cfg.Logger.Info("boot certificate taken", "key", KeyName(p.Leaf()), "names", strings.Join(p.Names().List(), " "), "ends", p.Leaf().NotAfter)
		}
		s.current[kind].Store(p.TLS())
		s.metrics.ends.WithLabelValues(string(kind)).Set(float64(p.Leaf().NotAfter.Unix()))
	}
	return errors.Join(problems...)
}

// renew makes certificates anew where this host may.
func (s *Store) renew(names Names, now time.Time) error {
	if len(names.Addrs) == 0 {
		return nil
	}
	if a, err := s.cfg.Folder.authority(); a == nil {
		return err
	}
	made, err := s.cfg.Folder.make(names, now, s.source)
	for _, kind := range made.Issued {
		s.cfg.Logger.Info("boot certificate issued", "kind", string(kind))
	}
	return err
}

// sum is of all that look depends on but the time.
func (s *Store) sum(names Names) (out [sha256.Size]byte, err error) {
	h := sha256.New()
	for _, name := range names.List() {
		h.Write([]byte(name + "\n"))
	}
	files := []string{caFile}
	for _, kind := range kinds {
		files = append(files, string(kind)+certEnd, string(kind)+keyEnd)
	}
	for _, name := range files {
		data, err := s.cfg.Folder.read(name, strings.HasSuffix(name, keyEnd))
		if err != nil {
			return out, err
		}
		one := sha256.Sum256(data)
		h.Write(one[:])
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

var _ netboot.Certificates = (*Store)(nil)
