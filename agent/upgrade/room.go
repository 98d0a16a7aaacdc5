package upgrade

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/installed"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state"
	"rackboot/state/blob"
)

// ErrTrial is in the chain of Run's error when a release is ready to be tried: the agent ends, and its launcher starts that one.
var ErrTrial = errors.New("another release is to be tried")

const (
	// lookEvery is how often the rack is looked at while an order waits, and the disk tried anew.
	lookEvery = 2 * time.Second
	// fetchTimeout bounds one try to fetch; the next goes on where it ended.
	fetchTimeout = 15 * time.Minute
	// maxOrder bounds the name of an order, in bytes.
	maxOrder   = 128
	fetchPause = 10 * time.Second
)

// Config is what the room is made of.
type Config struct {
	Version, Architecture string
	// Keys are those of the agent's own file; see [Config.Unable].
	Keys []ed25519.PublicKey
	// Launched is the word of the launcher that started this process; nil is none.
	Launched *installed.Launched
	// Store has the record.
	Store installed.Files
	Rack  Rack
	Files Files
	// Tell takes what is reported. It does not wait.
	Tell       func(message.UpgradeReport)
	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Rack is what the room asks of the rest of the agent.
type Rack interface {
	// Order is the hub's order as it is on disk; nil is none.
	Order() (*message.UpgradeIntent, error)
	// Facts are what the rack does now.
	Facts() (Facts, error)
	// HubTime is the hub's time; zero while it is not known or its last word is not fresh.
	HubTime() time.Time
}

// Files brings files from the hub.
type Files interface {
	Bring(ctx context.Context, name, digest string, size int64) error
	Read(digest string) (io.ReadCloser, error)
	Let(digest string) error
}

// Unable says why the agent cannot upgrade itself; empty if it can.
func (c *Config) Unable() string {
	switch {
	case len(c.Keys) == 0:
		return "upgrade.keys of the agent's file names no key"
	case c.Launched == nil:
		return "rackboot-launcher has not started this agent"
	case c.Launched.Dir != c.Store.Dir:
		return "rackboot-launcher looks for releases in " + c.Launched.Dir + ", and dataDir of the agent's file has them in " + c.Store.Dir
	}
	return ""
}

// Room follows orders. Make it with New, then call Run once. All methods are safe for concurrent use, and only Run waits.
type Room struct {
	cfg Config
	met *metrics

	mu     sync.Mutex
	inStep bool // the hub has answered this process, and it has all that the hub has
	wake   chan struct{}
	said   message.UpgradeReport

	// Of Run alone.
	record installed.Record // as it is on disk
	ready  string           // digest of what is known to lie in the slot that does not run; empty is not known
	failed string           // what could not be read the last time, which is logged once
}

// New makes the room.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg, wake: make(chan struct{}, 1)}
	r.met = newMetrics(r, cfg.Registerer)
	return r
}

// Capabilities are those that the hub is told of.
func (r *Room) Capabilities() []message.Capability {
	if r.cfg.Unable() != "" {
		return nil
	}
	return []message.Capability{message.CapUpgrade}
}

// InStep is to be called when the hub has answered and the agent has all that it has.
func (r *Room) InStep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.inStep {
		r.inStep = true
		r.wakeUp()
	}
}

// Look has the room look at the order.
func (r *Room) Look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakeUp()
}

func (r *Room) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run follows orders until ctx ends, then returns nil; or [ErrTrial].
func (r *Room) Run(ctx context.Context) error {
	if why := r.cfg.Unable(); why != "" {
		r.cfg.Logger.Info("the hub cannot order this agent to run another release", "why", why)
	}
	if err := r.begin(); err != nil {
		r.cfg.Logger.Error("the record of upgrades cannot be read; no order is followed", "err", err)
		<-ctx.Done()
		return nil
	}
	for {
		again, err := r.turn(ctx)
		if err != nil {
			return err
		}
		if !r.rest(ctx, again) {
			return nil
		}
	}
}

// rest waits until the room is woken, or for d where it is not 0. It returns false when ctx has ended.
func (r *Room) rest(ctx context.Context, d time.Duration) bool {
	var due <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-r.wake:
	case <-due:
	}
	return true
}

// begin reads the record. What an agent before this one did not come to is given up: an order that stands is judged anew.
func (r *Room) begin() error {
	if r.cfg.Unable() != "" {
		return nil
	}
	rec, err := r.cfg.Store.Read()
	if err != nil {
		return err
	}
	r.record = rec
	if t := rec.Trial; t != nil && t.Order != r.cfg.Launched.Order {
		// No launcher has begun it, or one has given it up and could not record that.
		if spent, err := r.cfg.Store.ReadSpent(t.Order); err != nil || spent > 0 {
			rec.Last = &installed.Outcome{
				Order: t.Order, Stage: message.UpgradeReturned, Code: message.UpgradeBroken, Message: t.Version + " was tried; what came of it could not be recorded", At: r.cfg.Clock(),
			}
		}
		rec.Trial = nil
		return r.write(rec)
	}
	if o := rec.Last; o != nil && o.Order == "" {
		// The record of an order was damaged. If it still stands, it is not tried again.
		order, err := r.cfg.Rack.Order()
		if err != nil {
			return err
		}
		rec.Last = nil
		if order != nil {
			lost := *o
			lost.Order = order.Order
			rec.Last = &lost
		}
		return r.write(rec)
	}
	return nil
}

// turn does what is next for the order, and returns when to look again without being woken; 0 is never.
func (r *Room) turn(ctx context.Context) (time.Duration, error) {
	order, err := r.cfg.Rack.Order()
	if r.fails(err) {
		return lookEvery, nil
	}
	if order != nil && (order.Order == "" || len(order.Order) > maxOrder) {
		order = nil // it has no name by which it could be known again
	}
	if why := r.cfg.Unable(); why != "" {
		r.unable(order, why)
		return 0, nil
	}
	if t := r.record.Trial; t != nil {
		return r.tried(*t), nil
	}
	last := r.record.Last
	if order == nil || last != nil && last.Order == order.Order {
		r.tellLast()
		return 0, nil
	}
	return r.follow(ctx, *order)
}

// fails reports whether something of the agent could not be read. It is tried again.
func (r *Room) fails(err error) bool {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if err != nil && text != r.failed {
		r.cfg.Logger.Error("what an order needs cannot be read; it waits", "err", err)
	}
	r.failed = text
	return err != nil
}

// unable says why an order is not followed. Nothing is recorded: once the agent can, it follows the order.
func (r *Room) unable(order *message.UpgradeIntent, why string) {
	if order != nil {
		r.say(order.Order, message.UpgradeRefused, message.UpgradeNotByLauncher, why)
	}
}

// tried confirms the release that runs, once the hub has answered it.
func (r *Room) tried(t installed.Trial) time.Duration {
	r.say(t.Order, message.UpgradeTrial, "", "")
	r.mu.Lock()
	inStep := r.inStep
	r.mu.Unlock()
	if !inStep {
		return 0
	}
	rec := r.record
	rec.Current, rec.Digest, rec.Trial = t.Slot, t.Digest, nil
	r.ready = "" // of the other slot from here on
	rec.Last = &installed.Outcome{Order: t.Order, Stage: message.UpgradeDone, Message: t.Version, At: r.cfg.Clock()}
	if err := r.write(rec); err != nil {
		r.cfg.Logger.Error("that the hub has answered this release cannot be recorded; it is tried again", "err", err)
		return lookEvery
	}
	r.cfg.Logger.Info("the hub has answered this release; it stays", "order", t.Order, "version", t.Version)
	r.met.ended(message.UpgradeDone)
	r.tellLast()
	return lookEvery // at once, where another order waits
}

// follow brings an order to its trial, or ends it.
func (r *Room) follow(ctx context.Context, order message.UpgradeIntent) (time.Duration, error) {
	me := self{r.cfg.Version, r.cfg.Architecture, r.cfg.Keys, r.cfg.Launched.Digest}
	j, code, why := judge(me, order, r.cfg.Rack.HubTime())
	switch {
	case code != "":
		return r.end(order.Order, message.UpgradeRefused, code, why), nil
	case j.runs:
		return r.end(order.Order, message.UpgradeDone, "", j.version+" runs already"), nil
	}
	slot := r.record.Current.Other()
	if r.ready != j.binary.SHA256 {
		r.ready, _ = installed.DigestOf(r.cfg.Store.Program(slot)) // of an earlier process, if there is one
	}
	if r.ready != j.binary.SHA256 {
		again, done := r.fetch(ctx, order.Order, slot, j)
		if !done {
			return again, nil
		}
		r.ready = j.binary.SHA256
	}
	return r.trial(order, slot, j)
}

// fetch puts the program of an order into a slot.
func (r *Room) fetch(ctx context.Context, order string, slot installed.Place, j judged) (again time.Duration, done bool) {
	r.say(order, message.UpgradeFetching, "", "")
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	err := r.cfg.Files.Bring(ctx, "rackboot-agent "+j.version, j.binary.SHA256, j.binary.Size)
	if err == nil {
		err = r.install(ctx, slot, j)
	}
	switch {
	case err == nil:
	case errors.Is(err, blob.ErrContent):
		r.let(j)
		return r.end(order, message.UpgradeRefused, message.UpgradeBadFile, err.Error()), false
	case errors.Is(err, blob.ErrInsufficient):
		r.let(j)
		return r.end(order, message.UpgradeRefused, message.UpgradeNoRoom, err.Error()), false
	default:
		if ctx.Err() == nil {
			r.cfg.Logger.Warn("a release could not be fetched; it is tried again", "order", order, "err", err)
		}
		r.say(order, message.UpgradeFetching, message.UpgradeWaitsFetch, err.Error())
		return fetchPause, false
	}
	r.let(j)
	return 0, true
}

func (r *Room) install(ctx context.Context, slot installed.Place, j judged) error {
	if err := r.cfg.Store.Prepare(); err != nil {
		return err
	}
	in, err := r.cfg.Files.Read(j.binary.SHA256)
	if err != nil {
		return err
	}
	err = r.cfg.Store.Install(ctx, slot, j.binary.SHA256, j.binary.Size, in)
	if protocol.CodeOf(err) == protocol.CodeInvalid {
		err = errors.Join(err, blob.ErrContent)
	}
	return errors.Join(err, in.Close())
}

func (r *Room) let(j judged) {
	if err := r.cfg.Files.Let(j.binary.SHA256); err != nil {
		r.cfg.Logger.Error("what was fetched of a release was not removed", "err", err)
	}
}

// trial begins the trial of what lies in a slot, once a restart loses nothing.
func (r *Room) trial(order message.UpgradeIntent, slot installed.Place, j judged) (time.Duration, error) {
	facts, err := r.cfg.Rack.Facts()
	if r.fails(err) {
		return lookEvery, nil
	}
	facts.Unheard = facts.Unheard || r.cfg.Rack.HubTime().IsZero()
	if code, why := allowed(facts); code != "" {
		r.say(order.Order, message.UpgradeWaiting, code, why)
		return lookEvery, nil
	}
	rec := r.record
	rec.Trial = &installed.Trial{Order: order.Order, Slot: slot, Digest: j.binary.SHA256, Version: j.version, Since: r.cfg.Clock()}
	if err := r.write(rec); err != nil {
		return r.end(order.Order, message.UpgradeRefused, message.UpgradeNoRoom, err.Error()), nil
	}
	r.say(order.Order, message.UpgradeTrial, "", "")
	r.cfg.Logger.Warn("the agent ends for another release", "order", order.Order, "version", j.version, "slot", slot, "digest", j.binary.SHA256)
	return 0, ErrTrial
}

// end records that an order has ended. Where that fails it is tried again.
func (r *Room) end(order string, stage message.UpgradeStage, code message.UpgradeCode, why string) time.Duration {
	rec := r.record
	rec.Last = &installed.Outcome{Order: order, Stage: stage, Code: code, Message: bounded(why), At: r.cfg.Clock()}
	if err := r.write(rec); err != nil {
		r.cfg.Logger.Error("what became of an order cannot be recorded", "order", order, "err", err)
		r.say(order, stage, code, why)
		return lookEvery
	}
	r.cfg.Logger.Info("an order to run another release has ended", "order", order, "stage", stage, "code", code, "why", why)
	r.met.ended(stage)
	r.tellLast()
	return 0
}

func (r *Room) write(rec installed.Record) error {
	if err := r.cfg.Store.Prepare(); err != nil {
		return err
	}
	if err := r.cfg.Store.Write(rec); err != nil {
		return err
	}
	r.record = rec
	return nil
}

// maxMessage bounds what is said for people, in bytes.
const maxMessage = 500

func bounded(text string) string {
	if len(text) > maxMessage {
		text = text[:maxMessage] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD") // else the hub would refuse the whole report
}

// tellLast reports the last order that has ended.
func (r *Room) tellLast() {
	if o := r.record.Last; o != nil {
		r.put(message.UpgradeReport{Order: o.Order, Stage: o.Stage, Code: o.Code, Message: o.Message, Since: o.At})
		return
	}
	r.put(message.UpgradeReport{})
}

// say reports how far an order is.
func (r *Room) say(order string, stage message.UpgradeStage, code message.UpgradeCode, why string) {
	r.put(message.UpgradeReport{Order: order, Stage: stage, Code: code, Message: bounded(why), Since: r.cfg.Clock()})
}

func (r *Room) put(u message.UpgradeReport) {
	if r.cfg.Launched != nil {
		u.Running = r.cfg.Launched.Digest
	}
	r.mu.Lock()
	was := r.said
	if was.Order == u.Order && was.Stage == u.Stage && was.Code == u.Code && u.Stage != "" && !u.Stage.Ended() {
		u.Since = was.Since
	}
	r.said = u
	r.mu.Unlock()
	if was != u {
		r.cfg.Tell(u)
	}
}
