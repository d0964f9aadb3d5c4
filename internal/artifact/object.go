package artifact

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// linkObject gives a content its place, unless an equal one is there; a damaged one is
// replaced.
func (s *Store) linkObject(temp, hash string) error {
	place := s.objectPath(hash)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	for {
		err := os.Link(temp, place)
		if err == nil {
			return syncDir(filepath.Dir(place))
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		equal, err := equalFiles(temp, place)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a sweep has just moved it away
		case err != nil:
			return err
		case equal:
			return nil
		default:
			return replaceObject(temp, place)
		}
	}
}

// replaceObject puts a content in the place of a damaged one.
func replaceObject(temp, place string) error {
	link := temp + ".whole"
	if err := os.Link(temp, link); err != nil {
		return err
	}
	if err := os.Rename(link, place); err != nil {
		return errors.Join(err, os.Remove(link))
	}
	return syncDir(filepath.Dir(place))
}

// equalFiles reports whether two files have the same bytes.
func equalFiles(a, b string) (bool, error) {
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	infoX, err := x.Stat()
	if err != nil {
		return false, err
	}
	infoY, err := y.Stat()
	if err != nil || infoX.Size() != infoY.Size() {
		return false, err
	}
	if os.SameFile(infoX, infoY) {
		return true, nil
	}
	one, other := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(x, one)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return false, err
		}
		if _, e := io.ReadFull(y, other[:n]); e != nil && n > 0 {
			return false, e
		}
		if !bytes.Equal(one[:n], other[:n]) {
			return false, nil
		}
		if err != nil { // the end of both: they have one size
			return true, nil
		}
	}
}
