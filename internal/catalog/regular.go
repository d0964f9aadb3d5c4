package catalog

import (
	"io"
	"os"
	"syscall"
)

// openRegular opens a file whose path has no links, if it is one: a pipe or a device
// under its name neither blocks nor is read.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, problem("it is not a file")
	}
	return f, nil
}

// readRegular reads such a file whole, if it is no longer than most.
func readRegular(path string, most int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, problem("it is too large")
	}
	return text, err
}
