package boot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/netboot/probe/initramfs"
	"rackboot/protocol"
)

// probeFlags say what goes into the initramfs.
type probeFlags struct {
	program, modules, authority string
	names                       []string
}

func probeCmd(pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "probe", Short: "Build the initramfs that takes inventory of servers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var f probeFlags
	build := &cobra.Command{
		Use: "initramfs --program FILE --modules DIR OUT", Short: "Build an initramfs with rackboot-probe as init", Args: cobra.ExactArgs(1),
		Long: "Build an initramfs with rackboot-probe as init, for the kernel whose modules are below\n" +
			"DIR. No hub is asked. Without --module it has the drivers of usual network cards and\n" +
			"disks that are there. Firmware files that drivers load are not put in.",
		Example: "  rackctl probe initramfs --program bin/rackboot-probe --modules /lib/modules/6.1.0-38-amd64 probe.cpio.gz",
		RunE:    func(_ *cobra.Command, args []string) error { return probeInitramfs(pr, f, args[0]) },
	}
	build.Flags().StringVar(&f.program, "program", "", "rackboot-probe, static and for the kernel's architecture (required)")
	build.Flags().StringVar(&f.modules, "modules", "", "folder lib/modules/RELEASE of the kernel; none if all is built in")
	build.Flags().StringArrayVar(&f.names, "module", nil, "a module to load, with all that it needs; repeat for more")
	build.Flags().StringVar(&f.authority, "ca", "", "file with PEM of the authority, where report URLs are https")
	_ = build.MarkFlagRequired("program") // it is four lines above
	cmd.AddCommand(build)
	return cmd
}

func probeInitramfs(pr *printer.Printer, f probeFlags, to string) (err error) {
	const op = "build initramfs"
	cfg := initramfs.Config{Program: f.program, Files: map[string][]byte{}}
	switch {
	case f.modules == "" && len(f.names) > 0:
		return protocol.Errorf(protocol.CodeInvalid, op, "--module without --modules").WithHint("say with --modules where the kernel's modules are")
	case len(f.names) > 0:
		cfg.Modules, err = initramfs.Modules(f.modules, f.names...)
	case f.modules != "":
		cfg.Modules, err = initramfs.Drivers(f.modules)
	}
	if err != nil {
		return err
	}
	if f.authority != "" {
		if cfg.Files[initramfs.Authority], err = os.ReadFile(f.authority); err != nil {
			return protocol.Errorf(protocol.CodeInvalid, op, "authority: %w", err)
		}
	}
	out, err := os.CreateTemp(filepath.Dir(to), ".initramfs-*")
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(out.Name()) // the first error is told
		}
	}()
	if err := errors.Join(initramfs.Write(out, cfg), out.Chmod(0o644), out.Sync(), out.Close()); err != nil {
		return err
	}
	if err := os.Rename(out.Name(), to); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	_, err = fmt.Fprintf(pr.Err, "%s: %d modules\n", to, len(cfg.Modules))
	return err
}
