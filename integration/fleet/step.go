package fleet

import (
	"cmp"
	"context"
	"errors"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Done is a step of a script that is done.
type Done struct {
	Line    int     `json:"line"`
	Step    string  `json:"step"`
	N       int     `json:"n,omitempty"` // racks, or holds
	Seconds float64 `json:"seconds"`     // that it took
}

// Do does steps, one after the other, and ends with the first that fails.
func (f *Fleet) Do(ctx context.Context, steps []Step) error {
	f.news = f.cfg.Load.News
	var err error
	if f.mark, err = f.sample(); err != nil {
		return err
	}
	for _, s := range steps {
		begun := time.Now()
		n, err := f.step(ctx, s)
		if err != nil {
			return protocol.Errorf(protocol.CodeOf(err), "do the script", "line %d: %w", s.Line, err).WithHint("%s", protocol.HintOf(err))
		}
		if err := f.table.write(Done{Line: s.Line, Step: s.Text, N: n, Seconds: time.Since(begun).Seconds()}); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fleet) step(ctx context.Context, s Step) (n int, err error) {
	switch s.Do {
	case doClaim:
		return f.Claim(ctx, s.Share)
	case doFail:
		f.fated(func(k *fate) { k.fails, k.code = s.Share.Percent, s.Code })
	case doSilence:
		f.fated(func(k *fate) { k.silent = s.Share.Percent })
	case doLose:
		return f.Lose(s.Share, s.Off)
	case doReturn:
		return f.Return(s.For), nil
	case doWait:
		_, err = f.Await(ctx, s.State, time.Time{}, cmp.Or(s.For, f.cfg.Within))
	case doHolds:
		return s.N, f.Measure(ctx, Load{For: s.For, Holds: s.N, News: f.news})
	case doPlace:
		return s.N, f.place(ctx, s.N)
	case doRelease:
		return f.releaseAll(ctx)
	case doNews:
		f.news = s.Rate
	case doRun:
		err = f.Measure(ctx, Load{For: s.For, News: f.news})
	case doFigure:
		err = f.figure(s.Label)
	}
	return 0, err
}

// Claim claims each server of more racks, a share of all, and returns how many racks. Errors: conflict where all
// have claims, or the hub's.
func (f *Fleet) Claim(ctx context.Context, s Share) (int, error) {
	if f.cfg.Image == "" {
		return 0, protocol.Errorf(protocol.CodeInvalid, "claim servers", "there is no image").WithHint("give --image, or --registry")
	}
	var free []string
	numbers := map[string]int{}
	for i, a := range f.agents {
		if numbers[a.rack] = f.cfg.Skip + i; !f.claimed[a.rack] {
			free = append(free, a.rack)
		}
	}
	chosen := drawn(f.cfg.Seed, "claim", s.of(len(f.agents)), free)
	if len(chosen) == 0 {
		return 0, protocol.Errorf(protocol.CodeConflict, "claim servers", "all racks have claims")
	}
	var racks []int
	for _, name := range chosen {
		f.claimed[name] = true
		racks = append(racks, numbers[name])
	}
	_, err := f.cfg.apply(ctx, racks, f.cfg.claims)
	return len(chosen), err
}

// Lose has a share of the racks lose power, all at once: their agents are gone without a goodbye, and so many of the
// servers of each are off when it returns, or all below 0. It returns how many racks. Errors: conflict where no rack
// has power.
func (f *Fleet) Lose(s Share, off int) (int, error) {
	powered := f.powered()
	if len(powered) == 0 {
		return 0, protocol.Errorf(protocol.CodeConflict, "lose power", "no rack has power")
	}
	lost := map[string]bool{}
	for _, name := range drawn(f.cfg.Seed, "lose", s.of(len(f.agents)), powered) {
		lost[name] = true
	}
	for _, a := range f.agents {
		if lost[a.rack] {
			f.lost[a.rack] = off
			a.fall()
		}
	}
	return len(lost), nil
}

// Return has all racks that lost power have it again, each at a moment of the time, or at once, and returns how many
// there are.
func (f *Fleet) Return(over time.Duration) (n int) {
	for _, a := range f.agents {
		if !a.progress.dark.Load() {
			continue
		}
		n++
		var names []string
		for j := range f.cfg.Servers {
			names = append(names, serverName(a.rack, j))
		}
		off, count := map[string]bool{}, f.lost[a.rack]
		if count < 0 {
			count = len(names)
		}
		for _, name := range drawn(f.cfg.Seed, "off", count, names) {
			off[name] = true
		}
		a.rise(off, time.Duration(lot(f.cfg.Seed, "return", a.rack)*float64(over)))
	}
	return n
}

// place places holds that lie until they are released, each at another rack than the one before, and waits until
// all are Enforced.
func (f *Fleet) place(ctx context.Context, n int) error {
	racks, run := f.powered(), random()
	if len(racks) == 0 {
		return errDark
	}
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Within)
	defer cancel()
	from := len(f.placed)
	for i := range n {
		server := serverName(racks[i%len(racks)], i/len(racks)%f.cfg.Servers)
		h, err := f.cfg.Hub.Client.Holds.Create(ctx, server, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "rackboot-sim-" + run, Mode: resource.StopHard, Reason: "a script"}})
		if err != nil {
			return err
		}
		f.placed = append(f.placed, h.Metadata.Name)
	}
	for _, id := range f.placed[from:] {
		if err := f.await(ctx, id, lookPause, lookPauseMax, enforced); err != nil {
			return err
		}
	}
	return nil
}

// releaseAll releases the holds that lie, waits until all are gone, and returns how many there were.
func (f *Fleet) releaseAll(ctx context.Context) (n int, err error) {
	n = len(f.placed)
	for _, id := range f.placed {
		err = errors.Join(err, f.release(ctx, id))
	}
	f.placed = nil
	return n, err
}

// figure writes what was seen since the last one, with a label.
func (f *Fleet) figure(label string) error {
	now, err := f.sample()
	if err != nil {
		return err
	}
	out := f.between(f.mark, f.mark, now)
	out.Label, f.mark = label, now
	return f.table.write(out)
}

// fated changes what goes wrong from now on.
func (f *Fleet) fated(change func(*fate)) {
	next := fate{seed: f.cfg.Seed}
	if was := f.shared.fate.Load(); was != nil {
		next = *was
	}
	change(&next)
	f.shared.fate.Store(&next)
	for _, a := range f.agents {
		a.do(a.look)
	}
}
