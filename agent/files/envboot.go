package files

import (
	"context"
	"reflect"
	"slices"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// startOf is what a server's firmware starts of an environment, and what iPXE does, with a
// command line for no boot.
func startOf(ctx context.Context, recipe *bootenv.Effective, in message.ServerIntent) (chain.Env, error) {
	keys := loaderKeys(in)
	boot, err := recipe.Boot(ctx, keys[0], bootenv.Sample())
	if err != nil {
		return chain.Env{}, err
	}
	for _, key := range keys[1:] {
		other, err := recipe.Boot(ctx, key, bootenv.Sample())
		if err != nil {
			return chain.Env{}, err
		}
		if !reflect.DeepEqual(boot, other) { // who asks is known only when the files are fixed
			return chain.Env{}, protocol.Errorf(protocol.CodeUnsupported, "make boot files", "the boot environment has another start for %s than for %s", keys[0], key).
				WithHint("give both the same, or leave network any out of the boot policy")
		}
	}
	start := chain.Env{Loader: boot.Loader, UKI: boot.UKI, Kernel: boot.Kernel, Initrds: boot.Initrds, CommandLine: boot.CommandLine}
	start.IPXE, err = ipxeFile(ctx, recipe, in.Architecture)
	return start, err
}

// loaderKey is the kind of machine that a server's firmware is, by the way it is told to boot.
func loaderKey(in message.ServerIntent) resource.LoaderKey { return loaderKeys(in)[0] }

// loaderKeys are the kinds of machine that a server's firmware may be, that by the way it is told to boot
// first.
func loaderKeys(in message.ServerIntent) []resource.LoaderKey {
	tftp := resource.LoaderKey(in.Architecture + "-uefi")
	keys, policy := []resource.LoaderKey{tftp, tftp + "-http"}, in.Boot.BootPolicy
	if policy.FirstBoot == resource.FirstBootUefiHTTP {
		slices.Reverse(keys)
	}
	if !policy.Network.Any() {
		keys = keys[:1]
	}
	return keys
}

// ipxeFile is what a server whose interface has iPXE in its ROM, or whose loader is iPXE, is
// told of when it asks: a loader of the environment's, the script that loads its kernel, or
// nothing where it is what firmware is told of. Who asks is known only then.
func ipxeFile(ctx context.Context, recipe *bootenv.Effective, arch string) (string, error) {
	key, ok := bootenv.IPXEKey(arch)
	if !ok {
		return "", nil
	}
	boot, err := recipe.Boot(ctx, key, bootenv.Sample())
	switch {
	case err != nil:
		return "", err
	case boot.Loader != "":
		return boot.Loader, nil
	case boot.Kernel != "":
		return protocol.IPXEScript, nil
	}
	return "", nil
}
