package store

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// NewHolder returns a name of this process for its leases. It holds host, boot, namespace
// of process ids, process id and start time, so that another process on the same machine
// can see whether this one has died, and a random part.
func NewHolder() string {
	return strings.Join([]string{machineID(), fmt.Sprint(os.Getpid()), processStart(os.Getpid()), rand.Text()[:8]}, "/")
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
func holderDied(holder string) bool {
	parts, own := strings.Split(holder, "/"), strings.Split(machineID(), "/")
	if len(parts) != 6 || len(own) != 3 || parts[4] == "" || parts[0] != own[0] {
		return false
	}
	if parts[1] != own[1] {
		return true // the machine has been restarted since
	}
	if parts[2] != own[2] {
		return false // another namespace, whose processes cannot be seen from here
	}
	var pid int
	if _, err := fmt.Sscan(parts[3], &pid); err != nil {
		return false
	}
	return processStart(pid) != parts[4]
}

// machineID returns the host, its boot and the namespace of process ids.
func machineID() string {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	return strings.ReplaceAll(host, "/", "_") + "/" + strings.TrimSpace(string(boot)) + "/" + strings.ReplaceAll(space, "/", "_")
}

// processStart returns when a process started, in the kernel's ticks, or "" if there is no
// such process or the system does not tell. A zombie counts as no process.
func processStart(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	name := strings.LastIndexByte(string(raw), ')') // the program's name, which may hold anything, ends there
	fields := strings.Fields(string(raw[name+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19]
}
