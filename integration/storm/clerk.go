package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rackboot/integration/powerlog"
	"rackboot/integration/storm/judge"
	"rackboot/integration/storm/rig"
	"rackboot/protocol"
)

// clerk uploads archives and exports the audit logs of several hubs, whatever strikes meanwhile. No server is his.
type clerk struct {
	site *rig.Site
	dir  string // of what he writes
	book *book
	// uploads and exports are how many there were, and kept is the last export.
	uploads, exports int
	kept             string
}

const (
	// transferFor bounds an upload or an export: rackctl goes on with what was interrupted.
	transferFor = 60 * time.Second
	// uploadNames is how many names the archives have by turns: what was replaced goes, so that the disks do not fill.
	uploadNames = 4
	// clerkRests is between two of a kind.
	clerkRests = 4 * time.Second
)

// upload uploads an archive that nobody has seen, under a name that another one may have.
func (c *clerk) upload(ctx context.Context) {
	n := c.uploads
	c.uploads++
	path, digest, err := rig.Archive(c.dir, n)
	if err != nil {
		c.book.failed(err)
		return
	}
	name := fmt.Sprintf("storm-%d.tar", n%uploadNames)
	c.book.add(ask(ctx, c.site, transferFor,
		judge.Op{Kind: judge.OpUpload, Target: name, Digest: digest, AuditOp: "apply", AuditTarget: "ISO/" + name},
		"iso", "upload", path, "--name", name, "--replace", "-o", "name"))
	if err := os.Remove(path); err != nil {
		c.book.failed(err)
	}
}

// export exports the audit logs, and checks them as an auditor does: each export by itself, and whether it goes on from
// the one before.
func (c *clerk) export(ctx context.Context) {
	path := filepath.Join(c.dir, fmt.Sprintf("audit-%d.jsonl", c.exports))
	c.exports++
	op := ask(ctx, c.site, transferFor, judge.Op{Kind: judge.OpExport}, "audit", "export", path)
	c.book.add(op)
	if op.Result != judge.Accepted {
		return
	}
	args := []string{"audit", "verify", path, "--key", filepath.Join(c.site.HubData(), "hub.pub")}
	if c.kept != "" {
		args = append(args, "--against", c.kept)
	}
	verified := judge.Op{Kind: judge.OpVerify, Begun: powerlog.Now()}
	_, errs, code := c.site.Rackctl(context.WithoutCancel(ctx), args...)
	verified.Ended, verified.Result = powerlog.Now(), judge.Accepted
	switch code {
	case 0:
	case protocol.CodeConflict.ExitCode(), protocol.CodeDenied.ExitCode():
		verified.Result, verified.Why = judge.Refused, fmt.Sprintf("%s: %s", filepath.Base(path), errs)
	default:
		c.book.failed(fmt.Errorf("rackctl audit verify: exit code %d: %s", code, errs))
	}
	c.book.add(verified)
	if verified.Result != judge.Accepted {
		return // both files are to be looked at
	}
	if c.kept != "" {
		if err := os.Remove(c.kept); err != nil {
			c.book.failed(err)
		}
	}
	c.kept = path
}

// work does one of a kind after the other until ctx ends.
func (c *clerk) work(ctx context.Context, do func(context.Context)) {
	for ctx.Err() == nil {
		do(ctx)
		pause(ctx, clerkRests)
	}
}

// files are what each hub has of what was uploaded. It waits until all have all: a hub fetches what was uploaded to
// another one.
func (c *clerk) files(ctx context.Context) map[string]map[string]judge.File {
	out := map[string]map[string]judge.File{}
	until(ctx, settleFor, func() bool {
		all := true
		for _, h := range c.site.Several.Hubs {
			has, err := h.Files(ctx)
			if err != nil {
				return false
			}
			out[h.Name] = map[string]judge.File{}
			for name, f := range has {
				out[h.Name][name] = judge.File(f)
				all = all && f.Content == f.Digest
			}
			all = all && len(has) == min(c.uploads, uploadNames)
		}
		return all
	})
	return out
}
