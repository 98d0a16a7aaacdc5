package files

import (
	"context"
	"strings"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/chain"
	"rackboot/netboot/fsview"
	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

// proxies are the package repositories that an environment comes from. What the boot begins
// with is brought whole and lies over the first of them (P7); an installer reads the rest
// through the agent.
func (e *envs) proxies(ctx context.Context, pin string, root bootenv.Root, boot chain.Env) (out []fsview.Mount, err error) {
	m := e.cfg.Mirror
	if m == nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "read package repository", "this agent reads from no repository: %s", root.Proxies[0].URL).
			WithHint("name it under repositories.bases in the agent's file, or run rackctl iso upload")
	}
	for _, p := range root.Proxies {
		files, err := m.FS(p.URL)
		if err != nil {
			return out, err
		}
		out = append(out, fsview.Mount{At: p.At, FS: files, Origin: "repository " + p.URL, Remote: true})
	}
	var wants []mirror.Want
	for _, name := range boot.Files() {
		if below, ok := strings.CutPrefix(name, root.At+"/"); ok {
			wants = append(wants, mirror.Want{Name: below})
		}
	}
	if len(wants) == 0 {
		return out, nil
	}
	set, err := m.Fetch(ctx, pin, root.Proxies[0].URL, wants)
	if err != nil {
		return out, err
	}
	return append(out, fsview.Mount{At: root.At, FS: set, Origin: "repository " + root.Proxies[0].URL, Close: closer(set)}), nil
}

// pinName is what the files of one environment are pinned as, while it is in force or made.
func pinName(server, bundle string) string { return server + " " + bundle }

// sweep gives the files of repositories free that no environment has which is wanted, in
// force, or on disk as in force. An environment that was refused has pinned them before, and
// a server can have gone while the agent was down.
func (e *envs) sweep() {
	m := e.cfg.Mirror
	if m == nil {
		return
	}
	stored, err := e.cfg.Store.Envs.All()
	if err != nil {
		e.note(err)
		return
	}
	needed := map[string]bool{}
	for _, s := range stored {
		needed[pinName(s.Server, s.Intent.Bundle)] = true
	}
	e.mu.Lock()
	for server, in := range e.wanted {
		needed[pinName(server, in.Boot.Env.Bundle)] = true
	}
	for server, b := range e.built {
		needed[pinName(server, b.intent.Bundle)] = true
	}
	e.mu.Unlock()
	for _, name := range m.Pins() {
		if !needed[name] {
			m.Unpin(name)
		}
	}
}
