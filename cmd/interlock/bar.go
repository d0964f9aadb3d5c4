package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A progress is what a bar shows.
type progress struct {
	step        string // what is being done
	done, total int    // total 0: nobody knows
	item        string // which of the total is worked on; their number is shown with it
}

// A progressBar shows in one line of a terminal how far a command is, and removes the line
// when it ends.
type progressBar struct {
	out   io.Writer // nil: nobody looks
	width int

	mu      sync.Mutex // guards the rest
	now     progress
	began   time.Time // of the step
	stop    chan struct{}
	stopped chan struct{}
}

func newProgressBar(out io.Writer, quiet bool) *progressBar {
	b := &progressBar{width: terminalWidth(out)}
	if b.width > 0 && !quiet {
		b.out = out
	}
	return b
}

// show says what is being done now. The bar is drawn by tick, so that it may be called
// very often.
func (b *progressBar) show(p progress) {
	if b.out == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next := p.step != b.now.step || b.stop == nil
	if next {
		b.began = time.Now()
	}
	b.now = p
	if next || p.item == "" {
		b.draw()
	}
	if b.stop != nil {
		return
	}
	b.stop, b.stopped = make(chan struct{}), make(chan struct{})
	go b.tick(b.stop, b.stopped)
}

// tick draws the bar anew, because a step may take long.
func (b *progressBar) tick(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			b.mu.Lock()
			b.draw()
			b.mu.Unlock()
		}
	}
}

// draw writes the line. The caller holds the lock.
func (b *progressBar) draw() {
	fmt.Fprint(b.out, "\r\x1b[K"+cutText(b.now.line(time.Since(b.began)), b.width-1))
}

// line is the bar as text, of a step that has taken so long.
func (p progress) line(took time.Duration) string {
	const cells = 20
	full := 0
	if p.total > 0 {
		full = max(0, min(cells, cells*p.done/p.total))
	}
	line := fmt.Sprintf("%s%s %s", strings.Repeat("█", full), strings.Repeat("░", cells-full), p.step)
	if p.item == "" {
		if took > time.Second {
			line += fmt.Sprintf(" (%d s)", int(took.Seconds()))
		}
		return line
	}
	line += fmt.Sprintf(" %d of %d", p.done, p.total)
	if p.done > 0 && p.done < p.total && took > 2*time.Second {
		line += ", " + (took * time.Duration(p.total-p.done) / time.Duration(p.done)).Round(time.Second).String() + " left"
	}
	return line + "  " + cutText(oneLine(p.item), 30)
}

// end removes the bar.
func (b *progressBar) end() {
	if b.out == nil {
		return
	}
	b.mu.Lock()
	stop, stopped := b.stop, b.stopped
	b.stop = nil
	b.mu.Unlock()
	if stop == nil {
		return
	}
	close(stop)
	<-stopped
	fmt.Fprint(b.out, "\r\x1b[K")
}
