package daemon

import (
	"fmt"
	"path/filepath"
	"slices"

	"rackboot/netboot/chain"
	"rackboot/protocol"
)

// checkLoaders says whether the folders can be those of loaders; what is in them is
// looked at while the agent runs.
func checkLoaders(folders map[string][]string) error {
	for cpu, list := range folders {
		if len(chain.Candidates(cpu, chain.RoleGRUB)) == 0 {
			return fmt.Errorf("loaders.%s: no loader is known for this architecture; use amd64, arm64, 386, arm, riscv64 or loong64", cpu)
		}
		for i, folder := range list {
			if !filepath.IsAbs(folder) {
				return fmt.Errorf("loaders.%s[%d]: %q is not an absolute path", cpu, i, folder)
			}
		}
	}
	return nil
}

// checkChain says whether a segment can prefer the chain.
func checkChain(kind protocol.ChainKind) error {
	switch {
	case kind == protocol.ChainSystemdBoot:
		return fmt.Errorf("chain: systemd-boot reads its entries from a file system, and has none when it came from the network; use uki, which needs no loader")
	case kind != "" && !slices.Contains(protocol.ChainKinds(), kind):
		return fmt.Errorf("chain: %q is no chain; use uki, grub or ipxe", kind)
	}
	return nil
}
