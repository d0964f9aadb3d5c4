package jail

// A Layer is one means of confinement and whether this machine has it.
type Layer struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`        // what was found
	Fix    string `json:"fix,omitempty"` // how to get it where it is missing
}

// A Report says which layers are to be had here, strongest first.
type Report struct {
	Layers []Layer `json:"layers"`
}

// The names of layers in a Report.
const (
	LayerUser    = "user namespaces"
	LayerMount   = "mount namespaces"
	LayerPID     = "pid namespaces"
	LayerNetwork = "network namespaces"
	LayerBox     = "own root"
	LayerBwrap   = "bubblewrap"
	LayerFiles   = "landlock"
	LayerCalls   = "seccomp"
	LayerGroups  = "cgroups"
	LayerLimits  = "rlimits"
)
