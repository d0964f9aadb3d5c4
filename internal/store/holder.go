package store

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// NewHolder names this process for its leases, so that another process on the same
// machine can see that it has died: host and boot, the process ids' namespace, the
// process, when it started, and a random part for each name.
func NewHolder() string {
	return strings.Join([]string{thisMachine(), fmt.Sprint(os.Getpid()), processStart(os.Getpid()), rand.Text()[:8]}, "/")
}

// describeHolder names a holder for people.
func describeHolder(holder string) string {
	if parts := strings.Split(holder, "/"); len(parts) == 6 {
		return parts[3] + " on " + parts[0]
	}
	return holder
}

// holderDied says that the process that a holder names is surely dead. Of a process on
// another machine nothing is known: its lease must end by itself.
func holderDied(holder string) bool {
	parts, own := strings.Split(holder, "/"), strings.Split(thisMachine(), "/")
	if len(parts) != 6 || len(own) != 3 || parts[4] == "" || parts[0] != own[0] {
		return false
	}
	if parts[1] != own[1] {
		return true // this machine was started anew since
	}
	if parts[2] != own[2] {
		return false // its processes cannot be seen from here
	}
	var pid int
	if _, err := fmt.Sscan(parts[3], &pid); err != nil {
		return false
	}
	return processStart(pid) != parts[4]
}

// thisMachine tells machines, their boots and their namespaces of process ids apart.
func thisMachine() string {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	return strings.ReplaceAll(host, "/", "_") + "/" + strings.TrimSpace(string(boot)) + "/" + strings.ReplaceAll(space, "/", "_")
}

// processStart is when a process started, in the kernel's ticks; "" if there is none
// or the system does not tell. An ended process that nobody waited for counts as none.
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
