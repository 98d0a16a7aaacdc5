package depot

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"
)

// Place keeps backups by name. It is safe for concurrent use.
type Place interface {
	// Put keeps what write writes, under a name that nothing has. It is read back, by check, before Put
	// returns; where write or check fail, nothing is left of it. Errors: conflict if the name is taken,
	// unavailable, denied, and those of write and check as they are.
	Put(ctx context.Context, name string, write func(io.Writer) error, check func(io.Reader) error) error
	// Open reads one. Errors: not_found, unavailable, denied.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the backups that are there, the oldest first.
	List(ctx context.Context) ([]Kept, error)
	// Remove removes one; one that is not there is no error.
	Remove(ctx context.Context, name string) error
	// Sweep removes what was begun and never finished. Nobody may put anything meanwhile.
	Sweep(ctx context.Context) error
	// String names the place for people, without credentials.
	String() string
}

// Kept is a backup that is kept.
type Kept struct {
	Name string
	Size int64 // in bytes
	Made time.Time
}

const (
	prefix = "rackboot-hub-"
	suffix = ".backup"
	layout = "20060102T150405Z"
)

// Name is that of a backup that was begun at a time; it has seconds.
func Name(made time.Time) string { return prefix + made.UTC().Format(layout) + suffix }

// MadeAt says of a name when its backup was begun, and whether it is one of a backup.
func MadeAt(name string) (time.Time, bool) {
	middle := strings.TrimSuffix(strings.TrimPrefix(name, prefix), suffix)
	at, err := time.Parse(layout, middle)
	return at, err == nil && Name(at) == name
}

// Sort puts the oldest first.
func Sort(list []Kept) {
	slices.SortFunc(list, func(a, b Kept) int { return strings.Compare(a.Name, b.Name) })
}

// Prune removes all but the newest keep backups, and returns the names of those that went.
func Prune(ctx context.Context, p Place, keep int) (gone []string, err error) {
	list, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range list[:max(0, len(list)-max(keep, 1))] {
		if err := p.Remove(ctx, k.Name); err != nil {
			return gone, err
		}
		gone = append(gone, k.Name)
	}
	return gone, nil
}
