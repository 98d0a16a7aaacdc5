package daemon

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"rackboot/hub/fence"
	"rackboot/hub/pki"
	"rackboot/state/file"
	"rackboot/state/heads"
)

// Repair does what is safe about what Check finds in the folder of a hub that does not run: what is made anew from what is
// there, and what is moved aside. Nothing is invented. It says each step before it does it, and with dry does none; left is
// what there is afterwards.
func Repair(ctx context.Context, c Config, o CheckOptions, dry bool, say func(string)) (left []Finding, err error) {
	found, err := Check(ctx, c, o)
	if err != nil {
		return nil, err
	}
	for _, s := range c.steps(found) {
		say(s.what)
		if dry {
			continue
		}
		if err := s.do(ctx); err != nil {
			return nil, err
		}
	}
	if dry {
		return found, nil
	}
	return Check(ctx, c, o)
}

// step is one thing that is done.
type step struct {
	what string
	do   func(ctx context.Context) error
}

// steps are what is done about findings, in order.
func (c Config) steps(found []Finding) (out []step) {
	has := func(codes ...FindingCode) bool {
		return slices.ContainsFunc(found, func(f Finding) bool { return slices.Contains(codes, f.Code) })
	}
	for _, f := range found {
		path := c.path(f.Where)
		switch f.Code {
		case FoundUnfinished:
			out = append(out, step{"remove " + f.Where + ", which a crash left half written", func(context.Context) error { return os.Remove(path) }})
		case FoundTorn:
			out = append(out, step{"put the half line at the end of " + f.Where + " into " + f.Where + ".torn", func(context.Context) error { return cutTorn(path) }})
		default:
		}
	}
	keys := !has(FoundKeys)
	if missing := func(name string) bool {
		return slices.ContainsFunc(found, func(f Finding) bool { return f.Code == FoundMissing && f.Where == name })
	}; keys {
		if missing(caCopy) {
			out = append(out, step{"write " + caCopy + " from pki/", func(context.Context) error {
				return c.withKeys(func(keys *pki.PKI) error { return file.Replace(c.path(caCopy), keys.BundlePEM(), 0o644) })
			}})
		}
		if missing(hubKeyFile) {
			out = append(out, step{"write " + hubKeyFile + " from pki/", func(context.Context) error {
				return c.withKeys(func(keys *pki.PKI) error { return writePublic(c, keys) })
			}})
		}
	}
	// The server of the store changes what it opens: where something is lost, the files stay as they are for whoever knows more.
	mends := slices.ContainsFunc(found, func(f Finding) bool {
		return f.Mends && (f.Code == FoundIndex || f.Code == FoundRule || f.Code == FoundCheckpoint || f.Code == FoundMissing && f.Where == headsFile)
	})
	if mends && keys && !has(FoundStore, FoundLost, FoundLostKey, FoundUnread, FoundHidden) {
		for _, f := range found {
			// The server writes both where it finds no description, and nothing where it finds no sum.
			if described := filepath.Join(filepath.Dir(f.Where), "meta.inf"); f.Code == FoundIndex && filepath.Base(f.Where) == "meta.sum" && exists(c.path(described)) {
				out = append(out, step{"remove " + described + ", whose sum is missing: the store is opened with the hub's own description of its streams", func(context.Context) error { return os.Remove(c.path(described)) }})
			}
		}
		out = append(out, step{"open the store: its index is made anew from the blocks, the keys of rules from the resources, and " + headsFile + " from what it has", c.reopen})
	}
	return out
}

func (c Config) withKeys(do func(keys *pki.PKI) error) error {
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		return err
	}
	return do(keys)
}

// reopen opens the store as a start does, and closes it.
func (c Config) reopen(ctx context.Context) error {
	return c.withKeys(func(keys *pki.PKI) error {
		st, err := c.openOffline(ctx, keys, nil, false)
		if err != nil {
			return err
		}
		defer st.close()
		if l := st.Lost(); l != nil {
			return l.Err("repair the store")
		}
		epoch, err := fence.Epoch(st.Meta)
		if err != nil {
			return err
		}
		head, err := st.Meta.AuditHead(ctx, c.sharedName())
		if err != nil {
			return err
		}
		st.up.heads.Serve(epoch, func() heads.Entry { return heads.Entry(head) })
		return st.up.heads.Accept(ctx)
	})
}

// cutTorn puts what follows the last whole line of a segment into a file of its own, and syncs that first.
func cutTorn(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	if err := file.Replace(path+".torn", raw[whole:], 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = f.Truncate(int64(whole))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), syncDir(filepath.Dir(path)))
}
