package daemon

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/audit"
	"rackboot/hub/broker"
	"rackboot/hub/checkpoint"
	"rackboot/hub/cluster"
	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state/clock"
	"rackboot/state/file"
	"rackboot/state/heads"
	"rackboot/state/jetstream"
)

// FindingCode says what kind of thing was found.
type FindingCode string

// The codes.
const (
	FoundUnfinished FindingCode = "unfinished-file" // a crash left it
	FoundMissing    FindingCode = "missing-file"
	FoundKeys       FindingCode = "keys"       // keys and certificates that cannot be read, or do not fit
	FoundStore      FindingCode = "store"      // the store cannot be opened
	FoundIndex      FindingCode = "index"      // what the store's server makes anew from the blocks
	FoundLost       FindingCode = "lost"       // the store has less than it had
	FoundLostKey    FindingCode = "lost-key"   // one of what it had
	FoundUnread     FindingCode = "unreadable" // something in the store cannot be read
	FoundHidden     FindingCode = "hidden"     // damage that shows when the index is lost
	FoundCheckpoint FindingCode = "checkpoint" // what the store had is not known
	FoundReference  FindingCode = "reference"  // something refers to what is not there
	FoundRule       FindingCode = "rule"       // a rule's key is not as the resources are
	FoundSecret     FindingCode = "secret"     // a Secret cannot be decrypted
	FoundAudit      FindingCode = "audit"      // the audit log was changed, or lost a part
	FoundTorn       FindingCode = "audit-torn" // it ends in half a line, after a crash
	FoundContent    FindingCode = "content"    // a file is not what its name says
	FoundLacking    FindingCode = "lacking"    // what is named is neither in the folder nor on the servers of the store
)

// What is to be done.
const (
	noteRestore  = "put the newest copy of the hub's folder in its place in which rackboot-hub check finds nothing"
	noteRestored = heads.Hint
)

// Finding is something in a hub's folder that is not as it should be.
type Finding struct {
	Code  FindingCode `json:"code"`
	What  string      `json:"what"`
	Where string      `json:"where"`
	Do    string      `json:"do"`
	// Mends says that rackboot-hub repair sees to it.
	Mends bool `json:"mends,omitempty"`
}

// CheckOptions say how to look.
type CheckOptions struct {
	// Work is a folder with room for a copy of the store; empty is that of the system.
	Work string
	// Deep reads the contents of the registry and of uploaded files too.
	Deep bool
}

// Check reads everything in the folder of a hub that does not run, and says what is wrong. It works on a copy of keys
// and store: their servers change files as they open them. Errors: unavailable (a hub runs, or there is no room),
// invalid.
func Check(ctx context.Context, c Config, o CheckOptions) (found []Finding, err error) {
	const op = "check the hub's folder"
	if _, err := os.Stat(c.DataDir); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("dataDir of the hub's file is the folder")
	}
	release, err := broker.Hold(c.path("store"))
	if err != nil {
		return nil, err
	}
	defer release()
	work, err := os.MkdirTemp(o.Work, "rackboot-check-*")
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("give a folder with room for a copy of the store: --work")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	k := &checking{ctx: ctx, c: c, work: work}
	for _, look := range []func() error{k.files, k.keys, k.store, k.audit} {
		if err := look(); err != nil {
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("look at the space and the health of the disks of %s and %s", c.DataDir, work)
		}
	}
	if o.Deep {
		if err := k.contents(); err != nil {
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
		}
	}
	return k.found, nil
}

// checking is one check.
type checking struct {
	ctx   context.Context
	c     Config
	work  string
	found []Finding
	pki   *pki.PKI   // nil if it cannot be opened
	head  audit.Head // that the store knows
}

func (k *checking) say(code FindingCode, where, do, format string, args ...any) {
	k.found = append(k.found, Finding{Code: code, What: k.original(fmt.Sprintf(format, args...)), Where: where, Do: k.original(do)})
}

// mends says that of the last finding.
func (k *checking) mends() { k.found[len(k.found)-1].Mends = true }

// original has a text name the folder instead of its copy.
func (k *checking) original(text string) string { return strings.ReplaceAll(text, k.work, k.c.DataDir) }

// copied is a hub's configuration for the copy.
func (k *checking) copied() Config {
	c := k.c
	c.DataDir, c.MQTT = k.work, ""
	return c
}

// files looks for what is missing, and for what crashes have left.
func (k *checking) files() error {
	for _, dir := range []string{".", "pki", "audit"} {
		entries, err := os.ReadDir(k.c.path(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if file.Unfinished(e.Name()) && e.Type().IsRegular() {
				k.say(FoundUnfinished, filepath.Join(dir, e.Name()), "nothing, or rackboot-hub repair: the hub removes it when it starts", "a crash left it half written")
				k.mends()
			}
		}
	}
	// It has served, if it has told anybody who it is.
	if !k.c.served() && !exists(k.c.path("audit")) && !exists(k.c.path(headsFile)) {
		return nil
	}
	for name, do := range map[string]string{
		"pki/admin.token": "start the hub: it makes another token, which administrators need",
		headsFile:         "rackboot-hub repair, or start the hub: it is written from what the store has; a loss before is not noticed",
		hubKeyFile:        "rackboot-hub repair, or start the hub: it is written from pki/",
		caCopy:            "rackboot-hub repair, or start the hub: it is written from pki/",
		"pki/hub.pem":     "start the hub: it makes itself another certificate",
	} {
		if !exists(k.c.path(name)) {
			k.say(FoundMissing, name, do, "it is not there")
			if name == headsFile || name == hubKeyFile || name == caCopy {
				k.mends()
			}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// keys looks whether keys and certificates can be read, and belong to each other.
func (k *checking) keys() error {
	for _, name := range []string{"pki", caCopy, hubKeyFile} {
		if err := copyTree(k.c.path(name), filepath.Join(k.work, name)); err != nil {
			return err
		}
	}
	c := k.copied()
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err == nil {
		k.pki = keys
		err = c.fits(keys)
	}
	if err != nil {
		k.say(FoundKeys, "pki", protocol.HintOf(err), "%s", err)
	}
	return nil
}

// audit holds the audit log to itself and to what the store knows of it.
func (k *checking) audit() error {
	if k.pki == nil || !exists(k.c.path("audit")) && k.head.Seq == 0 {
		return nil // whom it was signed by is not known
	}
	if !exists(k.c.path("audit")) {
		k.say(FoundAudit, "audit", noteRestore, "it is not there; the store knows entry %d", k.head.Seq)
		return nil
	}
	faults, err := audit.Inspect(k.c.path("audit"), append([]ed25519.PublicKey{k.pki.Signer().Public()}, k.pki.PastKeys()...), k.head)
	if err != nil {
		return err
	}
	for _, f := range faults {
		where := filepath.Join("audit", f.Segment)
		if f.Torn > 0 {
			k.say(FoundTorn, where, "nothing, or rackboot-hub repair: it is put into a file of its own", "%s", f.Why)
			k.mends()
			continue
		}
		k.say(FoundAudit, where, "keep the files, and compare them with the last export: rackctl audit verify FILE --against OLD; or "+noteRestore, "%s", f.Why)
	}
	return nil
}

// contents compares what is kept by digest with its names.
func (k *checking) contents() error {
	dirs := map[string]string{"isos": cmp.Or(k.c.ISOs.Dir, k.c.path("isos")), "registry": cmp.Or(k.c.Registry.Dir, k.c.path("registry"))}
	for what, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case k.ctx.Err() != nil:
				return k.ctx.Err()
			case !d.Type().IsRegular() || len(d.Name()) != 2*sha256.Size:
				return nil
			}
			want, err := hex.DecodeString(d.Name())
			if err != nil {
				return nil //nolint:nilerr // it is named otherwise
			}
			got, err := digestOf(path)
			if err == nil && string(got) != string(want) {
				k.say(FoundContent, path, "send the "+map[string]string{"isos": "file", "registry": "image"}[what]+" again", "its content is not what its name says")
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func digestOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// store opens a copy of the store, and reads all of it.
func (k *checking) store() error {
	was, there, err := checkpoint.ReadRecord(k.c.path(headsFile))
	if err != nil {
		return err
	}
	if there && !was.Whole {
		k.say(FoundCheckpoint, headsFile, "rackboot-hub repair, or start the hub: it is written anew; what was lost before may not be noticed, or not named", "what the store had cannot be read, or not all of it")
		k.mends()
	}
	for _, stream := range []string{checkpoint.KVStream, checkpoint.LogStream} {
		dir := filepath.Join("store/jetstream/$G/streams", stream)
		if !exists(k.c.path(dir)) {
			continue
		}
		for _, name := range []string{"meta.inf", "meta.sum", "msgs/index.db"} {
			if !exists(k.c.path(filepath.Join(dir, name))) {
				k.say(FoundIndex, filepath.Join(dir, name), "rackboot-hub repair, or start the hub: its store makes it anew from the blocks", "it is not there")
				k.mends()
			}
		}
	}
	if k.c.Store.NATS != nil {
		return k.servers()
	}
	as, err := k.open(nil)
	if err != nil || as == nil {
		return err
	}
	again, err := k.open(func(dir string) error {
		files, err := filepath.Glob(filepath.Join(dir, "jetstream/*/streams/*/msgs/index.db"))
		for _, f := range files {
			err = errors.Join(err, os.Remove(f))
		}
		return err
	})
	if err != nil || again == nil {
		return err
	}
	for name, has := range as {
		if !again[name].Covers(has) {
			k.say(FoundHidden, "store/"+name, "back the folder up now. What is there is whole, but a start that does not find the index would lose it: "+noteRestore,
				"a block is damaged behind its index: without that there are %d entries up to %d, and with it %d up to %d", again[name].Messages, again[name].Sequence, has.Messages, has.Sequence)
		}
	}
	return nil
}

// servers reads the store that NATS servers have. What their disks have is theirs to look at.
func (k *checking) servers() error {
	log := slog.New(slog.DiscardHandler)
	at, err := servers(k.ctx, *k.c.Store.NATS, log, cluster.NewLost())
	if err != nil {
		return err
	}
	defer at.close()
	kv, facts, err := checkpoint.OpenStreams(k.ctx, at.streams)
	if err != nil {
		k.say(FoundStore, "store", cmp.Or(protocol.HintOf(err), noteRestore), "%s", err)
		return nil
	}
	return k.read(kv, facts, checkpoint.Streams{checkpoint.KVStream: kv, checkpoint.LogStream: facts}, log, func(st *store.Store) { k.uploaded(st, at) })
}

// uploaded looks for what was uploaded and is lacking.
func (k *checking) uploaded(st *store.Store, at place) {
	lacking, err := k.c.files().lacking(k.ctx, st, at.bulk)
	if err != nil {
		k.say(FoundStore, "store/"+filesStream, cmp.Or(protocol.HintOf(err), noteRestore), "%s", err)
	}
	for _, l := range lacking {
		k.say(FoundLacking, l.name, "upload it again, or start the hub that has it in its folder", "%s", l.why)
	}
}

// open opens a copy of the store, which was changed by change, and says how much is there; with nil for
// change it reads all. No extents are a store that cannot be opened, which is said.
func (k *checking) open(change func(dir string) error) (map[string]heads.Extent, error) {
	dir := filepath.Join(k.work, "store")
	if err := errors.Join(os.RemoveAll(dir), copyTree(k.c.path("store"), dir)); err != nil {
		return nil, err
	}
	if change != nil {
		if err := change(dir); err != nil {
			return nil, err
		}
	}
	log := slog.New(slog.DiscardHandler)
	b, err := broker.Open(broker.Config{Dir: dir, HubIdentity: pki.HubIdentity, Logger: log, Registerer: prometheus.NewRegistry()})
	if err != nil {
		k.say(FoundStore, "store", noteRestore, "%s", err)
		return nil, nil
	}
	defer b.Close()
	conn, err := b.Conn(k.ctx)
	if err != nil {
		return nil, err
	}
	kv, facts, err := checkpoint.OpenStreams(k.ctx, jetstream.Config{Conn: conn, Logger: log})
	if err != nil {
		k.say(FoundStore, "store", cmp.Or(protocol.HintOf(err), noteRestore), "%s", err)
		return nil, nil
	}
	all := checkpoint.Streams{checkpoint.KVStream: kv, checkpoint.LogStream: facts}
	if change == nil {
		if err := k.read(kv, facts, all, log, func(*store.Store) {}); err != nil {
			return nil, err
		}
	}
	return all.Measure(k.ctx)
}

// read reads everything of an open store. more looks at what belongs to it besides.
func (k *checking) read(kv *jetstream.KV, facts *jetstream.Log, all checkpoint.Streams, log *slog.Logger, more func(*store.Store)) error {
	found, err := checkpoint.Look(k.ctx, k.c.path(headsFile), kv, all, k.c.served(), log)
	if err != nil {
		return err
	}
	if l := found.Loss; l != nil {
		k.say(FoundLost, "store", noteRestored, "%s", l.Error())
		for _, i := range l.Items {
			k.say(FoundLostKey, "store/"+i.Kind+"."+i.Name, noteRestored, "%s%s", i.How, note(i.Note))
		}
	}
	for name, verify := range map[string]func(context.Context) (jetstream.Verified, error){checkpoint.KVStream: kv.Verify, checkpoint.LogStream: facts.Verify} {
		v, err := verify(k.ctx)
		if err != nil {
			return err
		}
		if v.Read < v.Messages {
			k.say(FoundUnread, "store/"+name, noteRestore, "%d of %d entries cannot be read%s", v.Messages-v.Read, v.Messages, gaps(v.Gaps))
		}
	}
	unread, entries := store.Unread(found.Survey.Live)
	for _, f := range unread {
		k.say(FoundUnread, "store/"+f.Key, "start the version that wrote it; or "+noteRestore, "%s", f.Why)
	}
	k.head = audit.Head(found.Was.Audit)
	for _, e := range entries {
		if h, ok := store.AuditHeadOf(e, k.c.sharedName()); ok && h.Seq > k.head.Seq {
			k.head = audit.Head(h)
		}
	}
	st, err := store.Open(k.ctx, store.Config{
		KV: kv, Log: facts, Clock: clock.Now, NewID: newID, Listed: &store.Listed{Entries: entries, Revision: found.Survey.Revision},
		Lost: &heads.Loss{}, // so that nothing is mended
	})
	if err != nil {
		k.say(FoundStore, "store", cmp.Or(protocol.HintOf(err), noteRestore), "%s", err)
		return nil
	}
	for _, f := range st.Flaws(found.Survey.Live) {
		switch f.Kind {
		case store.FlawRule:
			k.say(FoundRule, "store/"+f.Key, "rackboot-hub repair, or start the hub: it is written from the resources", "%s", f.Why)
			k.mends()
		case store.FlawTwice:
			k.say(FoundRule, "store/"+f.Key, "change or delete one of the two with rackctl", "%s", f.Why)
		case store.FlawReference:
			k.say(FoundReference, "store/"+f.Key, "apply what is missing again with rackctl; or "+noteRestored, "%s", f.Why)
		case store.FlawUnread:
		}
	}
	k.secrets(st)
	more(st)
	return nil
}

// secrets opens each Secret.
func (k *checking) secrets(st *store.Store) {
	list := st.Secrets.List()
	if len(list) == 0 {
		return
	}
	if k.c.Secrets.none() {
		k.say(FoundSecret, "store", "name the key in secrets of the hub's file", "there are %d Secrets, and no key", len(list))
		return
	}
	v := k.c.Secrets.vault(slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	v.Start(k.ctx, st.Secrets, st.Meta)
	if err := v.Problem(); err != nil {
		k.say(FoundSecret, "store", cmp.Or(protocol.HintOf(err), "give the hub the key that they were encrypted with"), "%s", err)
		return
	}
	for _, s := range list {
		if _, err := v.Open(s); err != nil {
			k.say(FoundSecret, "store/secret "+s.Name, cmp.Or(protocol.HintOf(err), "give the hub the key that it was encrypted with, as secrets.previous; or apply it again"), "%s", err)
		}
	}
}

func note(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func gaps(list []jetstream.Gap) string {
	if len(list) == 0 {
		return ""
	}
	var out []string
	for _, g := range list[:min(len(list), 5)] {
		out = append(out, fmt.Sprintf("%d to %d", g.From, g.To))
	}
	return ", among " + strings.Join(out, ", ")
}

// copyTree copies a file, or a folder with what is in it; nothing where there is none. Links and the lock are left out.
func copyTree(from, to string) error {
	if !exists(from) {
		return nil
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case d.Name() == broker.LockFile || !d.Type().IsRegular():
			return nil
		}
		return copyFile(path, target, info.Mode().Perm())
	})
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// PrintFindings writes a line for each, or JSON.
func PrintFindings(w io.Writer, found []Finding, asJSON bool) error {
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Where, b.Where) })
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"findings": append([]Finding{}, found...)})
	}
	for _, f := range found {
		if _, err := fmt.Fprintf(w, "%s %s: %s. %s\n", f.Code, f.Where, f.What, f.Do); err != nil {
			return err
		}
	}
	return nil
}
