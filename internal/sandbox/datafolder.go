package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// makePrivateFolder makes the folder, or makes sure that it belongs to nobody else.
func makePrivateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Getuid() || st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Mode&0o022 != 0 {
		return fmt.Errorf("%s is not a folder that only this user may write to; choose another state folder", dir)
	}
	return nil
}

// makeDataFolder makes a folder that a container or machine sees read-only. It is
// named by this process, so that it can be swept when the process is killed.
func makeDataFolder(dir string) (string, error) {
	data, err := os.MkdirTemp(dir, scratchPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", fmt.Errorf("making a job's folder: %w", err)
	}
	if err := os.Chmod(data, 0o755); err != nil {
		return "", errors.Join(err, os.RemoveAll(data))
	}
	return data, nil
}

// placeTables copies the job's tables into the folder and tells the request where
// they are seen inside.
func placeTables(job *preparedJob, dir, inside string) error {
	for i, t := range job.tables {
		name := strconv.Itoa(i) + ".bundle"
		to, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return errors.Join(err, to.Close())
		}
		_, err = io.Copy(to, t.file)
		if err := errors.Join(err, to.Close()); err != nil {
			return fmt.Errorf("handing over table %s: %w", t.name, err)
		}
		job.request.Tables[t.name] = tableSource{Path: path.Join(inside, name)}
	}
	return nil
}

// submitByFiles places the tables and sends the job as text.
func submitByFiles(to io.Writer, job *preparedJob, dir, inside string) error {
	if err := placeTables(job, dir, inside); err != nil {
		return err
	}
	raw, err := job.request.encode()
	if err != nil {
		return err
	}
	if _, err := to.Write(raw); err != nil {
		return fmt.Errorf("sending the job: %w", err)
	}
	return nil
}
