package jail

import "os"

// A Box is a process with a root, process table, network, user and host name of
// its own. It sees only what is bound, linked, written or mounted here: no /proc,
// no /sys, no shell, no network.
type Box struct {
	Args    []string // Args[0] is a path inside
	Env     []string
	Dir     string // inside
	Binds   []Bind
	Links   []Link
	Scratch []Scratch
	Files   []File

	// UID and GID stand behind the box on the host when the server is root;
	// 0 is 65534. An ordinary user's box has that user's.
	UID, GID int
}

// A Bind shows a file or folder of the host, read-only.
type Bind struct {
	From    string
	To      string // "" is From
	Execute bool   // programs and libraries
	Device  bool   // a device node, which may be written to
}

// A Link is a symbolic link inside.
type Link struct{ Name, Target string }

// A Scratch is an empty folder in memory that the process may write to. Its size
// and number of files are bounded and nothing in it can be executed.
type Scratch struct {
	Path  string
	Bytes int64
	Files int
}

// A File is copied into a scratch folder before the process starts.
type File struct {
	Path string
	From *os.File
}
