package top

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// table is which part of the screen keys move in.
type table int

const (
	clusterTable table = iota
	evictionTable
	transcriptTable
	tables
)

// Screen is what a terminal shows, and what keys do. It is a bubbletea model.
type Screen struct {
	sources []Source
	source  int
	// at is the cursor. It follows what a source last knows while following is set.
	at        time.Time
	following bool
	playing   bool
	// live is the source where it goes on; nil: the runs are over.
	live    *History
	explain func(kind, name string) ([]string, error)
	// arrived is when the last picture came, by the clock here.
	arrived time.Time
	// lost is why nothing more arrives at the moment.
	lost error

	width, height int
	focus         table
	// selected and scrolled are rows of each table: the one that is selected, and the first that is shown.
	selected, scrolled [tables]int
	// chosen is set once the user has moved in a table; until then the first row is selected.
	chosen [tables]bool
	// filter is what rows must contain; it is being typed while typing is set.
	filter string
	typing bool
	help   bool
	// detail is all that is known of why a row is so; nil: it is not asked for.
	detail *detail

	picture *Picture
	rows    [tables][]row
	spans   []Span
}

// New is the screen of runs, with the cursor at the start of the first.
func New(runs ...Source) *Screen {
	s := &Screen{sources: runs, width: 80, height: 24, focus: evictionTable}
	s.open(0)
	return s
}

// Live is the screen of a fleet that goes on, and explain answers why something of it is as it is: "binding" or "cluster", and its
// name.
func Live(of *History, explain func(kind, name string) ([]string, error)) *Screen {
	s := &Screen{sources: []Source{of}, live: of, explain: explain, following: true, width: 80, height: 24, focus: evictionTable}
	s.refresh()
	return s
}

// open shows another run.
func (s *Screen) open(i int) {
	s.source = i
	s.at, _ = s.shown().Bounds()
	s.selected, s.scrolled, s.chosen, s.spans, s.playing = [tables]int{}, [tables]int{}, [tables]bool{}, nil, false
	s.look()
}

func (s *Screen) shown() Source { return s.sources[s.source] }

// Arrived is the next picture of a fleet that goes on, and the time here when it came.
type Arrived struct {
	Picture *Picture
	Now     time.Time
}

// second says how late it is here, once a second, for what counts down.
type second time.Time

func nextSecond() tea.Cmd {
	return tea.Every(time.Second, func(now time.Time) tea.Msg { return second(now) })
}

// Lost says why no picture arrives at the moment.
type Lost struct{ Err error }

// refresh takes over what a live source knows.
func (s *Screen) refresh() {
	if s.following {
		_, s.at = s.shown().Bounds()
	}
	s.spans = nil
	s.look()
}

// tick is the next step of a run that is played.
type tick struct{}

// pace is how long each picture of a run that is played is shown, and mostShown how many there are at the most: a run is
// played in a minute.
const (
	pace      = 250 * time.Millisecond
	mostShown = 240
)

func next() tea.Cmd { return tea.Tick(pace, func(time.Time) tea.Msg { return tick{} }) }

// Init is bubbletea's.
func (s *Screen) Init() tea.Cmd {
	if s.live != nil {
		return nextSecond()
	}
	return nil
}

// Update is bubbletea's: what a message changes.
func (s *Screen) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height, s.spans = max(m.Width, 1), max(m.Height, 1), nil
	case Arrived:
		s.lost, s.arrived = nil, m.Now
		s.live.Append(m.Picture)
		s.refresh()
	case second:
		if s.following && !s.arrived.IsZero() {
			_, last := s.live.Bounds()
			s.at = last.Add(max(0, time.Time(m).Sub(s.arrived)))
			s.list()
		}
		return s, nextSecond()
	case Lost:
		s.lost = m.Err
	case explained:
		if s.detail != nil && s.detail.title == m.title {
			s.detail.lines = append(s.detail.lines[:s.detail.own:s.detail.own], m.lines...)
		}
	case tick:
		return s, s.play()
	case tea.KeyPressMsg:
		switch {
		case s.typing:
			s.typed(m)
			return s, nil
		case s.detail != nil && s.read(m.String()):
			return s, nil
		}
		return s, s.pressed(m.String())
	}
	return s, nil
}

// play goes on with a run that is played.
func (s *Screen) play() tea.Cmd {
	if !s.playing {
		return nil
	}
	before := s.at
	s.step(max(1, s.shown().Changes()/mostShown))
	if s.playing = s.at.After(before); !s.playing {
		return nil
	}
	return next()
}

// typed takes a key while the filter is typed.
func (s *Screen) typed(k tea.KeyPressMsg) {
	switch k.String() {
	case "enter":
		s.typing = false
	case "esc", "ctrl+c":
		s.typing, s.filter = false, ""
	case "backspace":
		runes := []rune(s.filter)
		s.filter = string(runes[:max(0, len(runes)-1)])
	default:
		if len(s.filter)+len(k.Text) <= mostTyped {
			s.filter += k.Text
		}
	}
	s.selected, s.scrolled, s.chosen = [tables]int{}, [tables]int{}, [tables]bool{}
	s.list()
}

// mostTyped is how long a filter is, in bytes.
const mostTyped = 200

// pressed does what a key asks for.
func (s *Screen) pressed(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "?":
		s.help = !s.help
	case "/":
		s.typing, s.help = true, false
	case "enter":
		return s.ask()
	case "esc":
		s.help, s.filter = false, ""
		s.list()
	case "tab":
		s.focus = (s.focus + 1) % tables
	case "shift+tab":
		s.focus = (s.focus + tables - 1) % tables
	case "space":
		s.playing = !s.playing && s.live == nil
		if s.playing {
			return next()
		}
	case "n", "N":
		if len(s.sources) > 1 {
			step := 1
			if key == "N" {
				step = len(s.sources) - 1
			}
			s.open((s.source + step) % len(s.sources))
		}
	default:
		if !s.moved(key) {
			s.wound(key)
		}
	}
	return nil
}

// moved moves in the table of the focus.
func (s *Screen) moved(key string) bool {
	by, moves := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -10, "pgdown": 10}[key]
	if moves {
		s.chosen[s.focus] = true
		s.selected[s.focus] = min(max(s.selected[s.focus]+by, 0), max(len(s.rows[s.focus])-1, 0))
	}
	return moves
}

// wound moves the cursor over time.
func (s *Screen) wound(key string) {
	first, last := s.shown().Bounds()
	span := last.Sub(first)
	switch key {
	case ".", "right", "l":
		s.step(1)
	case ",", "left", "h":
		s.step(-1)
	case "]":
		s.goTo(s.at.Add(span / 20))
	case "[":
		s.goTo(s.at.Add(-span / 20))
	case "home", "g":
		s.goTo(first)
	case "end", "G":
		s.goTo(last)
	}
}

func (s *Screen) step(n int) { s.goTo(s.shown().Step(s.at, n)) }

// goTo puts the cursor somewhere between the bounds.
func (s *Screen) goTo(at time.Time) {
	first, last := s.shown().Bounds()
	switch {
	case at.Before(first):
		at = first
	case at.After(last):
		at = last
	}
	s.at, s.following = at, s.live != nil && !at.Before(last)
	s.look()
}

// look takes the picture at the cursor.
func (s *Screen) look() {
	s.picture = s.shown().At(s.at)
	s.list()
}

// row is one row of a table: its cells, and why. What it is about has a kind and a name where it can be explained.
type row struct {
	cells      []string
	severity   Severity
	title      string
	reason     []Line
	kind, name string
}

// list makes the rows that contain the filter. What the user has selected stays selected, by its title, where it is still there.
func (s *Screen) list() {
	var titles [tables]string
	for t := range tables {
		titles[t] = s.title(t)
		s.rows[t] = s.rows[t][:0]
	}
	for i := range s.picture.Clusters {
		s.add(clusterTable, clusterRow(&s.picture.Clusters[i]))
	}
	for i := range s.picture.Evictions {
		s.add(evictionTable, evictionRow(&s.picture.Evictions[i], s.at))
	}
	for i := range s.picture.Told {
		s.add(transcriptTable, s.toldRow(&s.picture.Told[i]))
	}
	for t := range tables {
		same := slices.IndexFunc(s.rows[t], func(r row) bool { return r.title == titles[t] })
		switch {
		case !s.chosen[t]:
			s.selected[t] = 0
		case same >= 0:
			s.selected[t] = same
		}
		s.selected[t] = min(s.selected[t], max(len(s.rows[t])-1, 0))
	}
	if s.focus != transcriptTable { // which follows the cursor
		s.selected[transcriptTable] = max(len(s.rows[transcriptTable])-1, 0)
	}
}

// title names what is selected in a table; empty: it has no rows.
func (s *Screen) title(t table) string {
	if i := s.selected[t]; i < len(s.rows[t]) {
		return s.rows[t][i].title
	}
	return ""
}

func (s *Screen) add(t table, r row) {
	if s.filter == "" || strings.Contains(strings.ToLower(strings.Join(r.cells, " ")), strings.ToLower(s.filter)) {
		s.rows[t] = append(s.rows[t], r)
	}
}
