package mcpbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock/internal/fault"
)

// A Server says how an MCP server is reached, in the form that other MCP hosts use: a
// command that speaks over its standard input and output, or the address of one that
// speaks streamable HTTP.
type Server struct {
	Type    string            `json:"type,omitempty"` // stdio or http; follows from what is given
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`

	Disabled bool `json:"disabled,omitempty"`
	// Timeout bounds a call, in seconds. Default 60.
	Timeout int `json:"timeout,omitempty"`
	// Trusted says that the server's word about its tools is believed: those that it
	// declares to read only, and in a closed world, need no approval. Nobody but the
	// person who configures the server can say so.
	Trusted bool `json:"trusted,omitempty"`
}

// maxServers bounds the servers of one configuration.
const maxServers = 64

var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// ParseServers reads a configuration: {"mcpServers": {"name": {...}}}. It tells every
// mistake at once.
func ParseServers(raw []byte) (map[string]Server, error) {
	var doc struct {
		Servers map[string]Server `json:"mcpServers"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, fault.New(fault.BadSetting, "the MCP servers cannot be read: %v", err).
			Suggest(`Write {"mcpServers": {"name": {"command": "...", "args": []}}} or {"name": {"url": "https://..."}}.`)
	}
	var wrong []string
	if len(doc.Servers) > maxServers {
		wrong = append(wrong, fmt.Sprintf("%d servers are more than %d", len(doc.Servers), maxServers))
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Servers)) {
		s := doc.Servers[name]
		if why := s.complete(); why != "" {
			wrong = append(wrong, name+": "+why)
		}
		if !serverName.MatchString(name) {
			wrong = append(wrong, fmt.Sprintf("%q cannot be the name of a server: use letters, digits, _ and -", name))
		}
		doc.Servers[name] = s
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.BadSetting, "the MCP servers cannot be used: %s", strings.Join(wrong, "; "))
	}
	return doc.Servers, nil
}

// complete fills in what follows from the rest and replaces ${NAME} by the environment.
// It returns what is wrong, "" if nothing is.
func (s *Server) complete() string {
	if s.Type == "" {
		s.Type = "stdio"
		if s.URL != "" {
			s.Type = "http"
		}
	}
	switch s.Type {
	case "stdio":
		if s.Command == "" || s.URL != "" {
			return "a server over standard input and output needs `command` and no `url`"
		}
	case "http", "streamable-http":
		s.Type = "http"
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || s.Command != "" {
			return "a server over HTTP needs a `url` that begins with http:// or https:// and no `command`"
		}
	default:
		return fmt.Sprintf("the type %q is not stdio or http", s.Type)
	}
	if s.Timeout < 0 || s.Timeout > 3600 {
		return "`timeout` lies between 1 and 3600 seconds"
	}
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for name, v := range values {
			values[name] = expandEnv(v)
		}
	}
	return ""
}

var envReference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

func expandEnv(text string) string {
	return envReference.ReplaceAllStringFunc(text, func(ref string) string { return os.Getenv(ref[2 : len(ref)-1]) })
}

func (s Server) callTime() time.Duration {
	if s.Timeout == 0 {
		return time.Minute
	}
	return time.Duration(s.Timeout) * time.Second
}
