package bootenv

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Tree is what is rendered for a server, by path in its file system.
type Tree struct {
	Files map[string]File
	// Links are paths that are other paths of the same file system.
	Links map[string]string
}

// File is one rendered file.
type File struct {
	Content []byte
	// Template is its name in the environment.
	Template string
	// Meta is the template's.
	Meta map[string]string
	// Origins are the params that it used.
	Origins []Origin
}

// Render renders every template for one attempt. The same environment and site give the
// same tree. The whole is rendered or none of it: an error is invalid where a template or
// a value is wrong or the bounds are passed, timeout or unavailable where ctx ended, and
// names the place and no secret.
func (e *Effective) Render(ctx context.Context, site Site) (Tree, error) {
	r, err := e.newRun(ctx, site)
	if err != nil {
		return Tree{}, err
	}
	tree := Tree{Files: map[string]File{}, Links: map[string]string{}}
	from := map[string]string{} // template by path
	for _, f := range e.sources.files {
		r.reset()
		p, err := r.path(f.path, "path")
		if err != nil {
			return Tree{}, err
		}
		if other, twice := from[p]; twice {
			return Tree{}, protocol.Errorf(protocol.CodeInvalid, opRender, "templates %q and %q have the same path %s", other, f.Name, p)
		}
		from[p] = f.Name
		if f.link != nil {
			to, err := r.path(f.link, "link")
			if err != nil {
				return Tree{}, err
			}
			if to == p {
				return Tree{}, protocol.Errorf(protocol.CodeInvalid, opRender, "template %q is a link to itself", f.Name)
			}
			tree.Links[p] = to
			continue
		}
		text, err := r.text(f.content, &scope{r})
		if err != nil {
			return Tree{}, err
		}
		if r.written += len(text); r.written > r.max.TotalBytes {
			return Tree{}, tooMuch("all files together have more than %d MiB", r.max.TotalBytes>>20)
		}
		tree.Files[p] = File{Content: []byte(text), Template: f.Name, Meta: f.Meta, Origins: r.used()}
	}
	if err := inside(from); err != nil {
		return Tree{}, err
	}
	return tree, tree.circle(from)
}

// circle refuses links that lead to each other; from has their templates.
func (t Tree) circle(from map[string]string) error {
	for _, first := range sortedKeys(t.Links) {
		seen := map[string]bool{first: true}
		for at := t.Links[first]; ; at = t.Links[at] {
			if seen[at] {
				return protocol.Errorf(protocol.CodeInvalid, opRender, "the link %s of template %q leads in a circle, through %s of template %q", first, from[first], at, from[at])
			}
			if _, link := t.Links[at]; !link {
				break
			}
			seen[at] = true
		}
	}
	return nil
}

// path renders a path of a template.
func (r *run) path(u *unit, what string) (string, error) {
	p, err := r.text(u, &scope{r})
	if err != nil {
		return "", err
	}
	if why := pathProblem(p); why != "" {
		if r.secret {
			p = "with a secret in it"
		}
		return "", protocol.Errorf(protocol.CodeInvalid, opRender, "%s: the %s %q %s", u.name, what, p, why).
			WithHint("write it relative to the root of the server's file system, such as {{.Machine.Path}}/seed")
	}
	return p, nil
}

// inside refuses a file where another one needs a folder.
func inside(from map[string]string) error {
	for _, p := range sortedKeys(from) {
		for i, c := range p {
			if c != '/' {
				continue
			}
			if other, ok := from[p[:i]]; ok {
				return protocol.Errorf(protocol.CodeInvalid, opRender, "template %q lies at %s, which is a file of template %q", from[p], p, other)
			}
		}
	}
	return nil
}

// Generation is the digest of all that decides what a server is served, but for the content
// of uploaded files and repositories: the merged environment, where its root is, and what
// was rendered for a sample site. Two renderings of the same bundle have the same.
func (e *Effective) Generation(root Root, sample Tree) (string, error) {
	h := sha256.New()
	files := map[string]string{}
	for p, f := range sample.Files {
		files[p] = fmt.Sprintf("%x", sha256.Sum256(f.Content))
	}
	err := json.NewEncoder(h).Encode(struct { // maps are written in the order of their keys
		BootEnv, Arch, KernelArgs string
		Spec                      resource.BootEnvSpec
		Root                      Root
		Files, Links              map[string]string
	}{e.Bundle.BootEnv, e.Arch, e.Bundle.KernelArgs, e.Spec, root, files, sample.Links})
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInternal, opRender, "digest: %w", err)
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)), nil
}

// Paths are the paths of files and links, in order.
func (t Tree) Paths() []string {
	all := map[string]bool{}
	for p := range t.Files {
		all[p] = true
	}
	for p := range t.Links {
		all[p] = true
	}
	return sortedKeys(all)
}

// Has says whether the tree has a file or link at a path, with the case as it is.
func (t Tree) Has(path string) bool {
	path = strings.TrimPrefix(path, "/")
	_, file := t.Files[path]
	_, link := t.Links[path]
	return file || link
}
