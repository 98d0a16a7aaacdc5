package agent

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/bootenv"
	"rackboot/netboot/chain"
	"rackboot/netboot/fsview"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// maxLinks bounds how many links one name may lead through.
const maxLinks = 8

// lookupEnv says what a boot of an environment has under a clean name: a loader of the site,
// else what is rendered for the server, else the configuration that a loader asks for,
// where the environment has a kernel, else a file of its view. So the menu of an
// installation medium is never given: what it boots nobody has ordered.
func (b *boots) lookupEnv(server string, e indexed, remote netip.Addr, name string) (served, bool) {
	c := e.attempt.Chain
	if digest, ok := c.Digest(name); ok {
		return served{name: name, digest: digest}, true
	}
	seg, ok := b.agent.index.Segment(e.segment)
	if !ok {
		return served{}, false
	}
	base, err := netboot.BaseURLFor(seg, remote)
	if err != nil {
		return served{}, false
	}
	env, ok := b.agent.envs.acquire(server, c.View)
	if !ok {
		return served{}, false
	}
	defer env.view.Release()
	if key := len(b.agent.cfg.Destructive.Keys) > 0; !decide.MayDiscard(key, env.destructive || name == protocol.FileDiscard, e.attempt) {
		b.agent.log.Warn("what discards disks is not sent: no approval permits this boot", "server", server, "bootenv", env.intent.Name, "file", name)
		return served{}, false
	}
	made, err := env.rendered(bootenv.Site{Base: base, Token: e.attempt.Token, Address: remote.Unmap()})
	if err != nil { // it was made once without a fault
		b.agent.log.Error("a boot environment cannot be rendered", "server", server, "err", err)
		return served{}, false
	}
	for range maxLinks {
		next, linked := made.tree.Links[name]
		if !linked {
			break
		}
		name = next
	}
	if f, ok := made.tree.Files[name]; ok {
		return served{name: name, text: string(f.Content)}, true
	}
	if text, ok := env.configuration(name, base, e.attempt.Token, made.line); ok {
		return served{name: name, text: text}, true
	}
	info, err := fs.Stat(env.view, name)
	if err != nil || !info.Mode().IsRegular() {
		return served{}, false
	}
	return served{name: env.canonical(name), open: func(at time.Time) (*netboot.File, error) {
		return b.openEnvFile(server, c.View, name, at)
	}}, true
}

// canonical is the name in the chain of a file that is asked for below the uploaded file
// that it lies in.
func (env *environment) canonical(name string) string {
	if below, ok := strings.CutPrefix(name, env.upload+"/"); ok && env.upload != "" {
		return env.root + "/" + below
	}
	return name
}

// configuration is what a loader is told that asks for it.
func (env *environment) configuration(name, base, token, line string) (string, bool) {
	config, script := chain.AsksConfig(name)
	switch {
	case env.boot.Kernel == "":
	case config:
		return chain.EnvConfig(env.boot, token, line), true
	case script:
		return chain.EnvScript(env.boot, base, token, line), true
	}
	return "", false
}

// openEnvFile opens a file of a view, which stays open as long as the file is.
func (b *boots) openEnvFile(server, generation, name string, at time.Time) (*netboot.File, error) {
	const op = "open boot file"
	env, ok := b.agent.envs.acquire(server, generation)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "the boot environment of %s is another one by now", server)
	}
	defer env.view.Release()
	f, err := env.view.Open(name)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeOf(err), op, "%w", err)
	}
	info, err := f.Stat()
	content, ok := f.(fsview.Content)
	if err != nil || !ok {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%s of %s is no file: %w", name, server, errors.Join(err, f.Close()))
	}
	return &netboot.File{
		ReadSeekCloser: content, Size: info.Size(), ModTime: at,
		ContentType: netboot.ContentType(name), ETag: fmt.Sprintf("\"%x\"", sha256.Sum256(fmt.Appendf(nil, "%s %q %d %s", generation, name, info.Size(), info.ModTime()))),
	}, nil
}
