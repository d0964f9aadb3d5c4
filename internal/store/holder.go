package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// procFolder is where the kernel tells of processes.
const procFolder = "/proc"

// NewHolder returns a name of this process for its leases. It holds host, boot, namespace
// of process ids, process id and start time, so that another process on the same machine
// can see whether this one has died, and a random part.
func NewHolder() string {
	started, _ := processStart(procFolder, os.Getpid()) // "" where the system does not tell
	return strings.Join([]string{machineID(procFolder), fmt.Sprint(os.Getpid()), started, rand.Text()[:8]}, "/")
}

// describeHolder names a holder for people.
func describeHolder(holder string) string {
	if parts := strings.Split(holder, "/"); len(parts) == 6 {
		return parts[3] + " on " + parts[0]
	}
	return holder
}

// holderDied reports whether the process of a holder is certainly dead. Nothing is known
// of processes on other machines: their leases must expire.
func holderDied(holder string) bool { return holderDiedBy(procFolder, holder) }

// holderDiedBy is holderDied by what a folder like /proc tells. What cannot be read says
// nothing.
func holderDiedBy(proc, holder string) bool {
	parts, own := strings.Split(holder, "/"), strings.Split(machineID(proc), "/")
	if len(parts) != 6 || len(own) != 3 || parts[0] != own[0] {
		return false
	}
	for _, part := range []string{parts[1], parts[2], parts[4], own[1], own[2]} {
		if part == "" {
			return false // the holder or this process could not be told apart from others
		}
	}
	if parts[1] != own[1] {
		return true // the machine has been restarted since
	}
	if parts[2] != own[2] {
		return false // another namespace, whose processes cannot be seen from here
	}
	var pid int
	if _, err := fmt.Sscan(parts[3], &pid); err != nil || pid <= 0 {
		return false
	}
	started, err := processStart(proc, pid)
	if errors.Is(err, fs.ErrNotExist) { // dead, or hidden from this user
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	return err == nil && started != parts[4]
}

// machineID returns the host, its boot and the namespace of process ids.
func machineID(proc string) string {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile(filepath.Join(proc, "sys/kernel/random/boot_id"))
	space, _ := os.Readlink(filepath.Join(proc, "self/ns/pid"))
	return strings.ReplaceAll(host, "/", "_") + "/" + strings.TrimSpace(string(boot)) + "/" + strings.ReplaceAll(space, "/", "_")
}

// processStart returns when a process started, in the kernel's ticks, "" for a process that
// has ended and was not collected by its parent yet.
func processStart(proc string, pid int) (string, error) {
	raw, err := os.ReadFile(filepath.Join(proc, fmt.Sprint(pid), "stat"))
	if err != nil {
		return "", err
	}
	name := strings.LastIndexByte(string(raw), ')') // the program's name, which may hold anything, ends there
	fields := strings.Fields(string(raw[name+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("the state of process %d has %d fields", pid, len(fields))
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return "", nil
	}
	return fields[19], nil
}
