// Package printer writes what rackctl says: results as tables, JSON, YAML or names, progress and
// bars beside them, and errors with their hints and exit codes. It knows no command.
package printer
