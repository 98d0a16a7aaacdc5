package daemon

import (
	"fmt"
	"log/slog"
)

// Logging is how the hub's log is written. What is empty is as the command line says.
type Logging struct {
	Level  string `yaml:"level"`  // debug, info, warn or error
	Format string `yaml:"format"` // text or json
}

func (l Logging) check() error {
	var level slog.Level
	if l.Level != "" && level.UnmarshalText([]byte(l.Level)) != nil {
		return fmt.Errorf("log.level: %q is not debug, info, warn or error", l.Level)
	}
	if l.Format != "" && l.Format != "text" && l.Format != "json" {
		return fmt.Errorf("log.format: %q is not text or json", l.Format)
	}
	return nil
}
