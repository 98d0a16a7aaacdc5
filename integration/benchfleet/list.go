package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"rackboot/integration/benchreport"
)

// list is what rackctl get servers took.
type list struct {
	First float64 `json:"first_s"` // until the first row
	All   float64 `json:"all_s"`
	RSS   float64 `json:"rss_mib"` // at most
	Rows  int     `json:"rows"`
}

// listWithin bounds one list.
const listWithin = 2 * time.Minute

// list runs rackctl get servers.
func (h *hub) list(ctx context.Context, program string) (l list, err error) {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "get", "servers")
	cmd.Env = append(os.Environ(), "RACKCTL_CONFIG="+h.rackctlConfig())
	var said strings.Builder
	cmd.Stderr = &said
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return l, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return l, err
	}
	lines := 0
	for r := bufio.NewReaderSize(pipe, 64<<10); err == nil; {
		_, err = r.ReadSlice('\n')
		if err != nil {
			break
		}
		if lines++; lines == 2 { // the first has the names of the columns
			l.First = time.Since(begun).Seconds()
		}
		if lines%1000 == 2 {
			var u benchreport.Usage
			if err := u.Add(cmd.Process.Pid); err == nil {
				l.RSS = max(l.RSS, u.RSS)
			}
		}
	}
	if waited := cmd.Wait(); waited != nil || !errors.Is(err, io.EOF) {
		return l, fmt.Errorf("rackctl get servers: %w: %s", errors.Join(err, waited), said.String())
	}
	l.All, l.Rows = time.Since(begun).Seconds(), lines-1
	return l, nil
}
