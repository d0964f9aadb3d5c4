package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/jail"
)

// python is an interpreter of this machine and what it reads to run.
type python struct {
	Executable string   `json:"executable"`
	Prefixes   []string `json:"prefixes"`
	Path       []string `json:"path"`
	Triplet    string   `json:"triplet"`
	Version    string   `json:"version"`
	Pandas     string   `json:"pandas"`
	Matplotlib string   `json:"matplotlib"`
}

// askPython tells where an interpreter lives, without importing what it asks for.
const askPython = `
import importlib.metadata as m, json, platform, sys, sysconfig
def version(name):
    try: return m.version(name)
    except Exception: return ""
print(json.dumps({"executable": sys.executable, "prefixes": sorted({sys.prefix, sys.base_prefix}), "path": [p for p in sys.path if p],
  "triplet": sysconfig.get_config_var("MULTIARCH") or "", "version": platform.python_version(), "pandas": version("pandas"), "matplotlib": version("matplotlib")}))`

// findPython returns the configured interpreter, or the first with pandas of Debian's and PATH's.
func findPython(ctx context.Context, configured string) (*python, error) {
	candidates := []string{configured}
	if configured == "" {
		candidates = []string{"/usr/bin/python3"}
		for _, name := range []string{"python3", "python"} {
			if path, err := exec.LookPath(name); err == nil {
				candidates = append(candidates, path)
			}
		}
	}
	var problems []error
	for _, path := range slices.Compact(candidates) {
		p, err := probePython(ctx, path)
		if err == nil {
			return p, nil
		}
		problems = append(problems, err)
	}
	return nil, fmt.Errorf("no Python with pandas and matplotlib (install the packages python3-pandas and python3-matplotlib): %w", errors.Join(problems...))
}

func probePython(ctx context.Context, path string) (*python, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-I", "-c", askPython)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var p python
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p.Pandas == "" || p.Matplotlib == "" {
		return nil, fmt.Errorf("%s (Python %s) has no pandas or no matplotlib", path, p.Version)
	}
	return &p, nil
}

func (p *python) String() string { return fmt.Sprintf("%s (%s)", p.Executable, p.Version) }

// runnerArgs returns the command line that starts the runner.
func (p *python) runnerArgs() []string { return []string{p.Executable, "-I", "-B", "-c", runnerCode} }

// codePaths lists the folders and files that hold programs and libraries.
func (p *python) codePaths() []string {
	paths := []string{"/usr/lib64", "/usr/lib/locale"}
	if real, err := filepath.EvalSymlinks(p.Executable); err == nil {
		paths = append(paths, real)
	}
	if p.Triplet != "" && exists("/usr/lib/"+p.Triplet) {
		paths = append(paths, "/usr/lib/"+p.Triplet)
	} else {
		paths = append(paths, "/usr/lib")
	}
	for _, dir := range p.Path {
		if exists(dir) {
			paths = append(paths, dir)
		}
	}
	for _, prefix := range p.Prefixes {
		if prefix != "/usr" && prefix != "/" {
			paths = append(paths, prefix)
		}
	}
	return outermost(paths)
}

// dataPaths lists what the libraries read beside their code.
func (p *python) dataPaths() []string {
	return slices.DeleteFunc([]string{
		"/usr/share/zoneinfo", "/usr/share/fonts", "/usr/share/matplotlib", "/usr/local/share/fonts",
		"/etc/alternatives", "/etc/ld.so.cache", "/etc/matplotlibrc",
	}, func(p string) bool { return !exists(p) })
}

var devices = []string{"/dev/null", "/dev/zero", "/dev/urandom"}

// symlinks lists the symbolic links on the way to the interpreter and its
// libraries.
func (p *python) symlinks(bound []string) []jail.Link {
	var out []jail.Link
	for _, dir := range []string{"/lib", "/lib64", "/bin"} {
		if target, err := os.Readlink(dir); err == nil {
			out = append(out, jail.Link{Name: dir, Target: target})
		}
	}
	for at := p.Executable; !slices.ContainsFunc(bound, func(b string) bool { return within(at, b) }); {
		target, err := os.Readlink(at)
		if err != nil {
			break
		}
		out = append(out, jail.Link{Name: at, Target: target})
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		at = target
	}
	return out
}

// outermost drops every path that lies within another.
func outermost(paths []string) []string {
	slices.Sort(paths)
	var out []string
	for _, p := range slices.Compact(paths) {
		if !slices.ContainsFunc(out, func(o string) bool { return within(p, o) }) {
			out = append(out, p)
		}
	}
	return out
}

func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
