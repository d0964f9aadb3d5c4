package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A screen is a terminal that a program runs in.
type screen struct {
	t     *testing.T
	cmd   *exec.Cmd
	keys  *os.File
	shown *syncBuffer
	read  int // what was waited for lies before
}

// runInTerminal starts a program in a terminal of so many columns.
func runInTerminal(t *testing.T, cmd *exec.Cmd, columns uint16) *screen {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("needs a pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	s := &screen{t: t, cmd: cmd, keys: keys, shown: &syncBuffer{}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { ended.Stop() })
	go func() {
		page := make([]byte, 4096)
		for {
			n, err := keys.Read(page)
			_, _ = s.shown.Write(page[:n])
			if err != nil {
				return
			}
		}
	}()
	return s
}

// answer waits until a text is shown and types a line, or a key such as Ctrl-C.
func (s *screen) answer(prompt, typed string) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		text := s.shown.String()
		if i := strings.Index(text[s.read:], prompt); i >= 0 {
			s.read += i + len(prompt)
			break
		}
		if time.Now().After(end) {
			s.t.Fatalf("%q is not shown:\n%s", prompt, text)
		}
	}
	time.Sleep(50 * time.Millisecond) // the terminal is raw from here on
	if _, err := s.keys.WriteString(typed); err != nil {
		s.t.Fatal(err)
	}
}

// wait gives what was shown in all and the exit code.
func (s *screen) wait() (string, int) {
	s.t.Helper()
	err := s.cmd.Wait()
	time.Sleep(50 * time.Millisecond)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return s.shown.String(), exit.ExitCode()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return s.shown.String(), 0
}

// TestReconcileAtATerminal: both rows of a pair are shown whole in 80 columns, Ctrl-C leaves
// at once and keeps the answers, and evidence is replaced only if the person agrees.
func TestReconcileAtATerminal(t *testing.T) {
	w := newWorld(t)
	var ledger, bank strings.Builder
	ledger.WriteString("no,document,customer,booked,total\n")
	bank.WriteString("line,valuta,payer,purpose,amount\n")
	for i := range 30 {
		fmt.Fprintf(&ledger, "L%d,INV-25-%04d,Customer %c%c of the harbour,2025-10-%02d,%d.%02d\n", 100+i, i, 'A'+i%26, 'a'+i%7, i%28+1, 37*i+11, i*7%100)
		if i%6 != 0 {
			fmt.Fprintf(&bank, "B%d,2025-10-%02d,CUSTOMER %c%c OF THE HARBOUR,Payment for INV-25-%04d with thanks,%d.%02d\n", 900-i, min(28, i%28+3), 'A'+i%26, 'a'+i%7, i, 37*i+11, i*7%100)
		}
	}
	left, right, out := filepath.Join(t.TempDir(), "ledger.csv"), filepath.Join(t.TempDir(), "bank.csv"), filepath.Join(t.TempDir(), "out")
	for path, text := range map[string]string{left: ledger.String(), right: bank.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := runInTerminal(t, w.command("reconcile", left, right, "--out", out), 80)
	const question = "belong together? [y/n/skip/enough]"
	s.answer(question, "y\r")
	s.answer(question, "\x03")
	text, code := s.wait()
	if code != exitNeedsAnswer || strings.Contains(text, "Apply these rules") || !strings.Contains(text, "confirmed_pairs.csv") {
		t.Errorf("it ends with %d after\n%s", code, text)
	}
	pairs, err := readPairs(filepath.Join(out, "confirmed_pairs.csv"))
	if err != nil || len(pairs) != 1 {
		t.Fatalf("kept %v, %v", pairs, err)
	}
	first, _, _ := strings.Cut(text, question)
	for _, word := range []string{"thanks", "CUSTOMER", "Customer", "INV-25-"} {
		if !strings.Contains(first, word) {
			t.Errorf("the pair does not show %q:\n%s", word, first)
		}
	}
	if strings.Contains(first, "…") {
		t.Errorf("something of the pair is cut off:\n%s", first)
	}
	if text, err := w.command("reconcile", left, right, "--out", out, "--pairs", filepath.Join(out, "confirmed_pairs.csv"), "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, text)
	}
	s = runInTerminal(t, w.command("reconcile", left, right, "--out", out), 80)
	s.answer("Replace it? [y/n]", "n\r")
	if text, code := s.wait(); code != exitDeclined {
		t.Errorf("it ends with %d after\n%s", code, text)
	}
}
