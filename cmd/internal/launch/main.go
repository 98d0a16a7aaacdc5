package launch

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"rackboot/agent/installed"
)

// What the command's help and its manual page say.
const (
	Name  = "rackboot-launcher"
	Short = "Start rackboot-agent, and the release before when a new one does not reach the hub"
	Long  = `All arguments are those of rackboot-agent, which is started with them: the one that lies beside this
program, or a release that it has put into upgrade/a or upgrade/b of its folder.

The folder is $STATE_DIRECTORY, which systemd sets, or /var/lib/rackboot-agent; it must be dataDir of
the agent's file. A release that the hub has not answered within 2 minutes of running, or that ends, is
given up, and the one before runs. Signals go to the agent, and its exit code is that of this program.

Whether and by whose order it upgrades itself says upgrade.keys in the agent's file.`
)

// window is how long a release may run before the hub has answered it.
const window = 2 * time.Minute

// Main is rackboot-launcher; it returns the exit code.
func Main(args []string, version string, getenv func(string) string, stdout, stderr io.Writer) int {
	if len(args) == 1 {
		switch args[0] {
		case "--help", "-h":
			_, _ = fmt.Fprintf(stdout, "%s.\n\nUsage:\n  %s [ARGUMENTS OF rackboot-agent]\n\n%s\n", Short, Name, Long)
			return 0
		case "--version":
			_, _ = fmt.Fprintf(stdout, "%s version %s\n", Name, version)
			return 0
		}
	}
	log := logger(args, stderr)
	cfg, err := configure(args, getenv)
	if err != nil {
		log.Error("the agent cannot be started", "err", err)
		return 1
	}
	cfg.logger = log
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	cfg.signals = signals
	return newLauncher(cfg).run()
}

// config is what a launcher is made of.
type config struct {
	args   []string
	agent  string // the packaged program
	files  installed.Files
	window time.Duration
	// grace is how long a program that is given up may take to end before it is killed.
	grace   time.Duration
	logger  *slog.Logger
	signals <-chan os.Signal
}

// configure reads what the process was started with. RACKBOOT_LAUNCHER_AGENT and RACKBOOT_LAUNCHER_WINDOW are for tests.
func configure(args []string, getenv func(string) string) (config, error) {
	cfg := config{args: args, agent: getenv("RACKBOOT_LAUNCHER_AGENT"), window: window, grace: 20 * time.Second}
	if cfg.agent == "" {
		self, err := os.Executable()
		if err != nil { // without /proc
			self = os.Args[0]
		}
		cfg.agent = filepath.Join(filepath.Dir(self), "rackboot-agent")
	}
	if text := getenv("RACKBOOT_LAUNCHER_WINDOW"); text != "" {
		var err error
		if cfg.window, err = time.ParseDuration(text); err != nil || cfg.window < installed.Steps*time.Millisecond {
			return cfg, fmt.Errorf("RACKBOOT_LAUNCHER_WINDOW is %q, which is no time", text)
		}
	}
	dataDir, _, _ := strings.Cut(getenv("STATE_DIRECTORY"), ":") // systemd separates several by a colon
	if dataDir == "" {
		dataDir = "/var/lib/rackboot-agent"
	}
	cfg.files.Dir = installed.Dir(dataDir)
	return cfg, nil
}

// logger writes as the agent does that is started with the arguments.
func logger(args []string, stderr io.Writer) *slog.Logger {
	at := slices.Index(args, "--log-format")
	if slices.Contains(args, "--log-format=json") || at >= 0 && at+1 < len(args) && args[at+1] == "json" {
		return slog.New(slog.NewJSONHandler(stderr, nil))
	}
	return slog.New(slog.NewTextHandler(stderr, nil))
}
