package probe

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime"
	"time"

	"rackboot/netboot/probe/host"
	"rackboot/netboot/probe/lldp"
	"rackboot/protocol"
)

// lastWords is how long the machine stays on after a failure, for whoever reads its
// console.
const lastWords = 20 * time.Second

// Run reports, and as init switches the machine off: it returns then only if that
// fails.
func Run(ctx context.Context, cfg Config) error {
	if os.Getpid() != 1 {
		return run(ctx, cfg, false)
	}
	err := begin(cfg.Logger)
	if err == nil {
		err = run(ctx, cfg, true)
	}
	if errors.Is(err, errStay) {
		cfg.Logger.Info("the disks were discarded as reported; the machine stays on")
		<-ctx.Done()
		return nil
	}
	if err != nil {
		cfg.Logger.Error("failed; the machine goes off", "err", err)
		time.Sleep(lastWords)
	}
	cfg.Logger.Info("power off")
	return powerOff()
}

// run does the work; first says that there is no system around it.
func run(ctx context.Context, cfg Config, first bool) error {
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "read the kernel's command line", "%w", err)
	}
	given := arguments(string(line))
	cfg = cfg.fill(given, first)
	if cfg.State == "" {
		return protocol.Errorf(protocol.CodeInvalid, "read arguments", "no mode").WithHint("see rackboot-probe --help")
	}
	whole := ctx // for what takes as long as the disks do
	ctx, cancel := context.WithTimeout(ctx, cfg.Deadline)
	defer cancel()
	post, err := newPoster(cfg.CA, cfg.Logger)
	if err != nil {
		return err
	}
	all := cards(runtime.GOARCH)
	if first {
		if all, err = raise(ctx, runtime.GOARCH, cfg.Logger); err != nil {
			return err
		}
	}
	heard := listen(ctx, all, cfg)
	cfg.URL = baseOf(cfg.URL, driveURL("/dev"), given)
	switch {
	case first:
		cfg.URL, err = connect(ctx, all, given[argumentMAC], cfg.URL, cfg.Logger)
	case cfg.URL == "":
		cfg.URL, err = inform(ctx, all, given[argumentMAC], cfg.Logger)
	}
	if err != nil {
		return err
	}
	if cfg.discard {
		return discardAndReport(whole, all, cfg, given, post)
	}
	to, err := reportURL(cfg.URL, cfg.State)
	if err != nil {
		return err
	}
	r := protocol.ProbeReport{State: cfg.State, Message: cfg.Message}
	neighbours := <-heard
	if cfg.Inventory {
		r.Inventory = inventory(neighbours)
	}
	if cfg.State == protocol.ProbeDiscovered { // the report ends the boot
		proveTPM(ctx, post, cfg)
	}
	if err := post.post(ctx, to, r); err != nil {
		return err
	}
	cfg.Logger.Info("reported", "state", cfg.State, "inventory", r.Inventory != nil)
	return nil
}

// proveTPM has the machine's TPM enrolled, and the boot attested by it. A server that has none, or whose agent does not
// take it, is discovered as well.
func proveTPM(ctx context.Context, post *poster, cfg Config) {
	err := post.enrolTPM(ctx, cfg.URL, cfg.TPM)
	if err != nil {
		cfg.Logger.WarnContext(ctx, "the TPM is not enrolled", "code", protocol.CodeOf(err), "err", err)
	} else {
		cfg.Logger.InfoContext(ctx, "the TPM is enrolled")
	}
	if protocol.CodeOf(err) == protocol.CodeNotFound && err != nil { // there is no TPM, or nobody to ask
		return
	}
	if err := post.attestBoot(ctx, cfg.URL, cfg.TPM, cfg.eventLog()); err != nil {
		cfg.Logger.WarnContext(ctx, "the boot is not attested", "code", protocol.CodeOf(err), "err", err)
		return
	}
	cfg.Logger.InfoContext(ctx, "the boot is attested")
}

// inventory is that of this machine, with the neighbours that its interfaces heard.
func inventory(heard map[string][]protocol.Neighbour) *protocol.HostInventory {
	all := host.Collect(os.DirFS("/"), runtime.GOARCH)
	for i, n := range all.Interfaces {
		all.Interfaces[i].Neighbours = heard[n.Name]
	}
	return &all
}

// listen hears LLDP while the rest goes on. One value comes, by interface, at the end.
func listen(ctx context.Context, all []card, cfg Config) <-chan map[string][]protocol.Neighbour {
	out := make(chan map[string][]protocol.Neighbour, 1)
	if cfg.LLDP <= 0 || !cfg.Inventory {
		out <- nil
		return out
	}
	names := map[int]string{}
	var indexes []int
	for _, c := range all {
		if i, err := net.InterfaceByName(c.name); err == nil && c.link {
			names[i.Index] = c.name
			indexes = append(indexes, i.Index)
		}
	}
	go func() {
		ctx, cancel := context.WithTimeout(ctx, cfg.LLDP)
		defer cancel()
		heard, err := lldp.Listen(ctx, indexes)
		if err != nil {
			cfg.Logger.Log(ctx, slog.LevelWarn, "LLDP is not heard", "err", err)
		}
		byName := map[string][]protocol.Neighbour{}
		for index, n := range heard {
			byName[names[index]] = n
		}
		out <- byName
	}()
	return out
}
