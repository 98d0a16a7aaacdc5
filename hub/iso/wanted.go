package iso

import (
	"slices"
	"strings"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// sumsOf are the SHA-256 that an environment gives for a file, by its architectures, and
// whether it names it at all.
func sumsOf(spec resource.BootEnvSpec, file string) (names bool, sums []string) {
	add := func(iso, sum string) {
		if iso != file {
			return
		}
		names = true
		if sum != "" {
			sums = append(sums, strings.ToLower(sum))
		}
	}
	add(spec.OS.IsoFile, spec.OS.IsoSha256)
	for _, arch := range spec.OS.SupportedArchitectures {
		add(arch.IsoFile, arch.Sha256)
	}
	return names, sums
}

// checkWanted compares a digest with what environments say of the file.
func (s *Shelf) checkWanted(op, file, digest string) error {
	for _, env := range store.List[*resource.BootEnv](s.cfg.Store.Objects) {
		_, sums := sumsOf(env.Spec, file)
		for _, sum := range sums {
			if "sha256:"+strings.TrimPrefix(sum, "sha256:") != digest {
				return protocol.Errorf(protocol.CodeInvalid, op, "BootEnv %s says that %s has the SHA-256 %s, and the upload has %s", env.Metadata.Name, file, sum, strings.TrimPrefix(digest, "sha256:")).
					WithHint("it is another release, or was changed on its way: upload the file that the environment means, or correct the environment")
			}
		}
	}
	return nil
}

// users are the environments that name a file, and the servers that are to boot one of
// them.
func (s *Shelf) users(file string) (envs, servers []string) {
	for _, env := range store.List[*resource.BootEnv](s.cfg.Store.Objects) {
		if names, _ := sumsOf(env.Spec, file); names {
			envs = append(envs, env.Metadata.Name)
		}
	}
	for _, env := range envs {
		for _, b := range store.Find(s.cfg.Store.Objects, store.ConfigsByBootEnv, env) {
			servers = append(servers, b.Spec.Server)
		}
	}
	slices.Sort(servers)
	return envs, slices.Compact(servers)
}
