package files

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/chain"
	"rackboot/netboot/fsview"
	"rackboot/netboot/mirror"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// maxLinks bounds how many links one name may lead through.
const maxLinks = 8

// Environment is all that one server is served of its boot environment. It is not changed
// once it is in force.
type Environment struct {
	server, claim string
	intent        message.EnvIntent
	os            string
	generation    string
	source        resource.EnvSource
	message       string
	at            time.Time
	view          *fsview.View
	root, upload  string    // paths of the environment's root, and of the uploaded file that it is; no upload is empty
	boot          chain.Env // with a command line for no boot
	key           resource.LoaderKey
	recipe        *bootenv.Effective
	renderings    renderings
	destructive   bool // it discards what is on the disks
}

// Release gives the environment back that Room.Environment returned.
func (env *Environment) Release() { env.view.Release() }

// Name is that of the boot environment's object.
func (env *Environment) Name() string { return env.intent.Name }

// Destructive reports whether it discards what is on the disks.
func (env *Environment) Destructive() bool { return env.destructive }

// Found is a file of an environment: rendered for one boot, or one of its view.
type Found struct {
	// Name is the one that the file has in the chain: it may be asked for by others.
	Name string
	// Text is the content of a file that was rendered.
	Text string
	// View reports that Room.OpenEnv opens the file; Text is empty then.
	View bool
}

// Find says what a boot has under a clean name: what is rendered for the server, else the
// configuration that a loader asks for, where the environment has a kernel, else a file of
// its view. So the menu of an installation medium is never given to a loader: what it boots
// nobody has ordered. Below the uploaded file itself it is given as it is. The error is of rendering, which was done once without a fault.
func (env *Environment) Find(site bootenv.Site, name string) (f Found, ok bool, err error) {
	made, err := env.rendered(site)
	if err != nil {
		return Found{}, false, err
	}
	for range maxLinks {
		next, linked := made.tree.Links[name]
		if !linked {
			break
		}
		name = next
	}
	if f, ok := made.tree.Files[name]; ok {
		return Found{Name: name, Text: string(f.Content)}, true, nil
	}
	if text, ok := env.configuration(name, site.Base, site.Token, made.line); ok {
		return Found{Name: name, Text: text}, true, nil
	}
	info, err := fs.Stat(env.view, name)
	switch {
	case awayNow(err): // to open it says so: not that there is no such file
	case err != nil || !info.Mode().IsRegular():
		return Found{}, false, nil
	}
	return Found{Name: env.canonical(name), View: true}, true, nil
}

// awayNow says whether an error is that a package repository does not answer, or refuses: a
// file that it may have is not absent. Only the repository's own word makes it that.
func awayNow(err error) bool {
	switch protocol.CodeOf(err) {
	case protocol.CodeUnavailable, protocol.CodeTimeout:
		return true
	default:
		return errors.Is(err, mirror.ErrRefused)
	}
}

// canonical is the name in the chain of a file that is asked for below the uploaded file
// that it lies in.
func (env *Environment) canonical(name string) string {
	if below, ok := strings.CutPrefix(name, env.upload+"/"); ok && env.upload != "" {
		return env.root + "/" + below
	}
	return name
}

// asUploaded says whether a name is one of an uploaded file whose files are given unchanged
// (seed 004, Providing Local Content). Where the boot starts from such a path, its loader
// asks for its configuration there, and gets ours.
func asUploaded(name string, starts []string) bool {
	below := func(p string) bool { return strings.HasPrefix(p, isosPath+"/") }
	return below(name) && !slices.ContainsFunc(starts, below)
}

// configuration is what a loader is told that asks for it.
func (env *Environment) configuration(name, base, token, line string) (string, bool) {
	config, script := chain.AsksConfig(name)
	switch {
	case env.boot.Kernel == "", asUploaded(name, env.boot.Files()):
	case config:
		return chain.EnvConfig(env.boot, token, line), true
	case script:
		return chain.EnvScript(env.boot, base, token, line), true
	}
	return "", false
}
