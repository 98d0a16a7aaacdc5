package top

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"rackboot/protocol"
)

// frames bounds how often a screen is drawn, per second.
const frames = 5

// tick says that a second is over: ages grow.
type tick struct{}

// program is the screen of a terminal: keys and what was read go into its model, frames come out.
type program struct {
	model model
	paint painter
	clock func() time.Time
	open  func(server string) // follows the power-on of another server
}

// Init implements tea.Model.
func (p program) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (p program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	now := p.clock()
	switch msg := msg.(type) {
	case snapshot:
		p.model = p.model.take(msg, now)
	case heard:
		p.model = p.model.hear(msg)
	case trouble:
		p.model = p.model.lose(msg)
	case looked:
		p.model = p.model.look(msg)
	case tea.WindowSizeMsg:
		p.model = p.model.size(msg.Width, msg.Height)
	case tea.PasteMsg:
		return p.press(press{text: msg.Content}, now)
	case tea.KeyPressMsg:
		return p.press(press{name: msg.String(), text: msg.Text}, now)
	}
	return p, nil
}

func (p program) press(k press, now time.Time) (tea.Model, tea.Cmd) {
	was := p.model.open
	next, quit := p.model.key(k, now)
	p.model = next
	if next.open != was {
		p.open(next.open)
	}
	if quit {
		return p, tea.Quit
	}
	return p, nil
}

// View implements tea.Model.
func (p program) View() tea.View {
	v := tea.NewView(strings.Join(p.model.frame(p.clock(), p.paint), "\n"))
	v.AltScreen = true
	return v
}

// terminalOf is where a program runs.
type terminalOf struct {
	in  io.Reader
	out io.Writer
	env []string
	// wrap is what tests put around the program; nil is nothing.
	wrap func(tea.Model) tea.Model
}

// run draws until somebody quits or ctx ends. The feed has been asked once.
func run(ctx context.Context, f *feed, m model, paint painter, at terminalOf) error {
	ctx, cancel := context.WithCancel(ctx)
	look := &looker{ctx: ctx, link: f.link}
	var screen tea.Model = program{model: m, paint: paint, clock: f.clock, open: look.open}
	if at.wrap != nil {
		screen = at.wrap(screen)
	}
	p := tea.NewProgram(screen, tea.WithContext(ctx), tea.WithInput(at.in), tea.WithOutput(at.out), tea.WithEnvironment(at.env),
		tea.WithFPS(frames), tea.WithoutSignalHandler(), tea.WithWindowSize(m.columns, m.lines))
	show := func(msg any) { p.Send(msg) }
	look.show = show
	var group sync.WaitGroup
	group.Go(func() { f.run(ctx, show) })
	group.Go(func() { ticks(ctx, show) })
	_, err := p.Run()
	ended := ctx.Err() != nil // somebody stops rackctl
	cancel()
	look.close()
	group.Wait()
	if err != nil && !ended {
		return protocol.Errorf(protocol.CodeInternal, "draw the screen", "%w", err).WithHint("rackctl top --once prints one screen; rackctl get servers -w lists what changes")
	}
	return nil
}

// ticks says each second that it is over.
func ticks(ctx context.Context, show func(any)) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			show(tick{})
		}
	}
}
