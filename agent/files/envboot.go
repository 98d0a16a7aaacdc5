package files

import (
	"context"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// startOf is what a server's firmware starts of an environment, and what iPXE does, with a
// command line for no boot.
func startOf(ctx context.Context, recipe *bootenv.Effective, in message.ServerIntent) (chain.Env, error) {
	boot, err := recipe.Boot(ctx, loaderKey(in), bootenv.Sample())
	if err != nil {
		return chain.Env{}, err
	}
	start := chain.Env{Loader: boot.Loader, UKI: boot.UKI, Kernel: boot.Kernel, Initrds: boot.Initrds, CommandLine: boot.CommandLine}
	start.IPXE, err = ipxeFile(ctx, recipe, in.Architecture)
	return start, err
}

// loaderKey is the kind of machine that a server's firmware is, by the way it is told to boot.
func loaderKey(in message.ServerIntent) resource.LoaderKey {
	key := in.Architecture + "-uefi"
	if in.Boot.BootPolicy.FirstBoot == resource.FirstBootUefiHTTP {
		key += "-http"
	}
	return resource.LoaderKey(key)
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
