package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

// config is every setting of the program. Each field is set, in rising order, by
// its default, the file, the environment and its flag; the tags are the one place
// that names and documents them. Keys of models come from the environment alone.
type config struct {
	File          string   `name:"config" help:"settings file (YAML)"`
	Data          []string `name:"data" sep:":" help:"folder of datasets: each folder in it is a dataset, files directly in it form the dataset 'default'; may be repeated"`
	SourceFolders []string `name:"source-folders" sep:":" help:"another folder from which sources may be added over HTTP; may be repeated"`
	State         string   `name:"state" help:"folder of the log, artifacts and caches"`
	Machines      []string `name:"machines" sep:":" help:"folder of your own machines; may be repeated"`
	MCP           string   `name:"mcp" help:"MCP servers whose tools may be used: a file {\"mcpServers\": {...}} as other MCP hosts have it, for all users, or a folder with a file NAME.json for each user"`
	Owner         string   `name:"owner" help:"owner of the threads if there are no users" default:"local"`

	Listen  string   `name:"listen" help:"address to serve on" default:"127.0.0.1:8765"`
	Hosts   []string `name:"hosts" help:"further host names under which the server may be called"`
	Origins []string `name:"origins" help:"web origins of other sites that may call the API"`
	Tokens  string   `name:"tokens" help:"file of users, one 'name role token' per line; needed to listen on other than local addresses"`

	Requests        int `name:"requests" help:"requests that may be handled at the same time, not counting streams" default:"1024"`
	RequestsPerUser int `name:"requests-per-user" help:"requests of one user that may be handled at the same time" default:"128"`
	Streams         int `name:"streams" help:"event streams that may be open at the same time" default:"1024"`
	StreamsPerUser  int `name:"streams-per-user" help:"event streams that one user may have open" default:"128"`
	RestingMemory   int `name:"resting-memory-mb" help:"memory for threads in which nothing runs, in MB; the others are read from the log when needed" default:"256"`

	Provider      string `name:"provider" help:"model provider: auto, openai, anthropic, local (see interlock model) or offline" default:"auto"`
	Model         string `name:"model" help:"the provider's name of the model"`
	OpenAIURL     string `name:"openai-url" help:"address of an OpenAI-compatible server"`
	AnthropicURL  string `name:"anthropic-url" help:"address of an Anthropic-compatible server"`
	ModelPorts    string `name:"model-ports" help:"ports of this machine on which model servers are looked for while no key is set; they are used only after interlock model use" default:"11434,1234,8080,8000"`
	FallbackModel string `name:"fallback" help:"model to use if the first one fails before it has answered anything: provider/model"`

	PowerSafe        bool          `name:"power-safe" help:"flush every step to the disk, so that it survives a loss of power"`
	Lease            time.Duration `name:"lease" help:"how long a process may be silent before another one takes over its running turns" default:"10s"`
	MaxRunning       int           `name:"max-running" help:"turns that may run at the same time" default:"256"`
	MaxInterruptions int           `name:"max-interruptions" help:"how often the process of a turn may die before the turn fails" default:"3"`
	SQLWorkers       int           `name:"sql-workers" help:"statements that may run at the same time" default:"2"`
	SQLMemory        int           `name:"sql-memory-mb" help:"memory limit of one statement, in MB" default:"1024"`
	CopyAge          time.Duration `name:"copy-age" help:"how old the copy of a database may be before it is copied again" default:"15m"`
	SQLTimeout       time.Duration `name:"sql-timeout" help:"time limit of one statement" default:"30s"`
	PromptTables     int           `name:"prompt-tables" help:"tables of a dataset that a model reads; of more, those that fit the question; up to 100" default:"60"`

	DatasetDisk  int `name:"dataset-disk-mb" help:"disk that the imported tables of one dataset may take, in MB" default:"20480"`
	DatasetsDisk int `name:"all-datasets-disk-mb" help:"disk that all imported datasets may take, in MB" default:"51200"`

	ImportTime time.Duration `name:"import-time" help:"time limit for importing one dataset; a single table of several may take half of it" default:"20m"`

	KeepThreads     time.Duration `name:"keep-threads" help:"remove threads that were not used for this long, such as 90d; empty = keep them"`
	KeepThreadsMB   int           `name:"keep-threads-mb" help:"remove the oldest threads when all take more than this, in MB; 0 = no limit"`
	KeepArtifacts   time.Duration `name:"keep-artifacts" help:"remove artifacts of threads that were not used for this long; empty = keep them"`
	KeepArtifactsMB int           `name:"keep-artifacts-mb" help:"remove the oldest artifacts when all take more than this, in MB; 0 = no limit"`

	Python         bool          `name:"python" help:"allow Python in the sandbox" default:"true"`
	PythonExecutor string        `name:"python-executor" help:"local, docker or microsandbox" default:"local"`
	PythonLevel    string        `name:"python-min-level" help:"the least isolation with which Python may run; below it Python is off" default:"namespaces"`
	PythonPath     string        `name:"python-path" help:"the Python interpreter; searched for if empty"`
	PythonImage    string        `name:"python-image" help:"image for docker or microsandbox"`
	PythonRuntime  string        `name:"python-runtime" help:"runtime of docker's containers, such as runsc"`
	PythonURL      string        `name:"python-url" help:"address of docker or microsandbox"`
	PythonSpace    string        `name:"python-namespace" help:"namespace on a microsandbox server" default:"default"`
	PythonMemory   int           `name:"python-memory-mb" help:"memory of one run in MB" default:"512"`
	PythonCPUs     int           `name:"python-cpus" help:"processors of one run" default:"1"`
	PythonTimeout  time.Duration `name:"python-timeout" help:"time limit of one run; a machine's own setting, usually 10 s, may be shorter" default:"5m"`
	PythonRows     int           `name:"python-rows" help:"most rows in the result of one run" default:"1000000"`
	PythonOutput   int           `name:"python-output-bytes" help:"how many bytes of stdout and of stderr are kept" default:"65536"`
	PythonWarm     bool          `name:"python-warm" help:"a server starts an interpreter at once, so that the first run need not wait for it" default:"true"`
	PythonPool     int           `name:"python-pool" help:"interpreters that are kept started, ready for a run, once Python is used" default:"2"`
	PythonImports  []string      `name:"python-imports" help:"another installed package that code may import; may be repeated"`

	LogLevel  string `name:"log-level" help:"debug, info, warn or error; serve logs from info on, other commands from warn"`
	LogFormat string `name:"log-format" help:"text or json" default:"text"`

	openAIKey, anthropicKey string
	from                    map[string]string // where each setting came from
}

// models says which models to open. offline is the one that needs no key.
func (c *config) models(offline llm.Model) llm.Config {
	m := llm.Config{
		Provider: c.Provider, Model: c.Model, OpenAIKey: c.openAIKey, OpenAIBaseURL: c.OpenAIURL,
		AnthropicKey: c.anthropicKey, AnthropicBaseURL: c.AnthropicURL, Offline: offline,
	}
	if c.FallbackModel != "" {
		provider, name := splitModel(c.FallbackModel)
		m.Fallback = []llm.Config{{Provider: provider, Model: name}}
	}
	return m
}

// chosenModelsFile is where the models that people chose are kept, with the key of one.
func (c *config) chosenModelsFile() string { return filepath.Join(c.State, "models.json") }

// A setting is one field of config with its tags.
type setting struct {
	name, help, def, env string
	sep                  string // between several values in the environment
	value                reflect.Value
}

func (c *config) settings() []setting {
	v := reflect.ValueOf(c).Elem()
	var out []setting
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if name := tag.Get("name"); name != "" {
			env := "INTERLOCK_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
			out = append(out, setting{name, tag.Get("help"), tag.Get("default"), env, cmp.Or(tag.Get("sep"), ","), v.Field(i)})
		}
	}
	return out
}

// flags declares a flag for every setting.
func (c *config) flags(fs *pflag.FlagSet) {
	for _, s := range c.settings() {
		help := s.help
		switch s.value.Interface().(type) {
		case []string:
			fs.StringArray(s.name, nil, help)
		case bool:
			fs.Bool(s.name, s.def == "true", help)
		case int:
			fs.Var(&typedText{s.def, "int"}, s.name, help)
		case time.Duration:
			fs.Var(&typedText{s.def, "duration"}, s.name, help)
		default:
			fs.String(s.name, s.def, help)
		}
	}
}

// load fills the settings. Every fault is told at once.
func (c *config) load(fs *pflag.FlagSet, getenv func(string) string) error {
	c.from = map[string]string{}
	c.openAIKey, c.anthropicKey = getenv("OPENAI_API_KEY"), getenv("ANTHROPIC_API_KEY")
	var faults []error
	set := func(s setting, from string, values ...string) {
		if err := s.parseInto(values); err != nil {
			faults = append(faults, fmt.Errorf("%s (%s): %w", s.name, from, err))
			return
		}
		c.from[s.name] = from
	}
	path, explicit := c.configPath(fs, getenv)
	file, err := readSettings(path, explicit)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, s := range c.settings() {
		known[s.name] = true
		if s.def != "" {
			set(s, "default", s.def)
		}
		if v, ok := file[s.name]; ok {
			set(s, path, v...)
		}
		if v := getenv(s.env); v != "" {
			set(s, s.env, s.splitEnv(v)...)
		}
		if f := fs.Lookup(s.name); f != nil && f.Changed {
			values := []string{f.Value.String()}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				values = slices.DeleteFunc(list.GetSlice(), func(v string) bool { return v == onToday })
			}
			if len(values) > 0 {
				set(s, "--"+s.name, values...)
			}
		}
	}
	for name := range file {
		if !known[name] {
			near := fault.Nearest(name, slices.Sorted(maps.Keys(known)))
			faults = append(faults, fmt.Errorf("%s: there is no setting %q; the nearest is %q", path, name, near[0]))
		}
	}
	if c.LogLevel != "" && new(slog.Level).UnmarshalText([]byte(c.LogLevel)) != nil {
		faults = append(faults, fmt.Errorf("log-level: want debug, info, warn or error, not %q", c.LogLevel))
	}
	if len(faults) > 0 {
		return fault.New(fault.BadSetting, "%v", errors.Join(faults...)).Suggest("Run `interlock config` to see every setting and where it comes from.")
	}
	if c.State == "" {
		c.State = defaultState()
	}
	if len(c.Data) == 0 {
		if dir := filepath.Join(xdg.DataHome, "interlock"); isDir(dir) {
			c.Data = []string{dir}
		}
	}
	return c.makePathsAbsolute()
}

// defaultState is the state folder if none is named.
func defaultState() string { return filepath.Join(xdg.StateHome, "interlock") }

// makePathsAbsolute makes the folders independent of the working folder: workers have their own.
func (c *config) makePathsAbsolute() error {
	paths := []*string{&c.State}
	for i := range c.Data {
		paths = append(paths, &c.Data[i])
	}
	for i := range c.SourceFolders {
		paths = append(paths, &c.SourceFolders[i])
	}
	for i := range c.Machines {
		paths = append(paths, &c.Machines[i])
	}
	for _, p := range paths {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fmt.Errorf("finding the folder %s: %w", *p, err)
		}
		*p = abs
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (c *config) configPath(fs *pflag.FlagSet, getenv func(string) string) (path string, explicit bool) {
	if f := fs.Lookup("config"); f != nil && f.Changed {
		return f.Value.String(), true
	}
	if v := getenv("INTERLOCK_CONFIG"); v != "" {
		return v, true
	}
	return filepath.Join(xdg.ConfigHome, "interlock", "config.yaml"), false
}

// maxSettings bounds the settings file.
const maxSettings = 1 << 20

// readSettings reads the settings file; one that nobody asked for may be missing.
func readSettings(path string, explicit bool) (map[string][]string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) && !explicit {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxSettings) {
		return nil, fault.New(fault.BadSetting, "the settings file %s is not a file of up to %d bytes", path, maxSettings)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadSetting, "the settings file %s cannot be read: %v", path, err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fault.Wrap(err, fault.BadSetting, "the settings file %s: %v", path, err)
	}
	out := map[string][]string{}
	for name, v := range doc {
		switch x := v.(type) {
		case []any:
			for _, item := range x {
				out[name] = append(out[name], fmt.Sprint(item))
			}
		default:
			out[name] = []string{fmt.Sprint(x)}
		}
	}
	return out, nil
}

// splitEnv splits the value of an environment variable if the setting is a list.
func (s setting) splitEnv(v string) []string {
	if s.value.Kind() == reflect.Slice {
		return strings.Split(v, s.sep)
	}
	return []string{v}
}

// parseInto parses a text into the field.
func (s setting) parseInto(values []string) error {
	switch p := s.value.Addr().Interface().(type) {
	case *[]string:
		*p = values
	case *string:
		*p = values[0]
	case *bool:
		v, err := strconv.ParseBool(values[0])
		if err != nil {
			return fmt.Errorf("want true or false, not %q", values[0])
		}
		*p = v
	case *int:
		v, err := strconv.Atoi(values[0])
		if err != nil || v < 0 {
			return fmt.Errorf("want a whole number, not %q", values[0])
		}
		*p = v
	case *time.Duration:
		v, err := parseDuration(values[0])
		if err != nil || v <= 0 {
			return fmt.Errorf("want a duration such as 30s or 90d, not %q", values[0])
		}
		*p = v
	}
	return nil
}

// parseDuration parses a duration of Go, or a number of days such as 90d.
func parseDuration(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	return time.Duration(n) * 24 * time.Hour, err
}
