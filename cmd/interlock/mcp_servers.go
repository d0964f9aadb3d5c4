package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"interlock/internal/fault"
	"interlock/internal/mcpbridge"
)

// maxMCPFile bounds a configuration of MCP servers.
const maxMCPFile = 1 << 20

// userFile is what the name of a user must look like to have a file of servers.
var userFile = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@-]{0,100}$`)

// openMCP returns the bridge to the MCP servers of users. A file that cannot be read is
// told at once; one of a folder is read when its user's servers are asked for.
func (s *system) openMCP(cfg config) (*mcpbridge.Bridge, error) {
	read, err := mcpServers(cfg.MCP)
	if err != nil {
		return nil, err
	}
	b, err := mcpbridge.New(mcpbridge.Config{Servers: read, Log: s.log})
	if err == nil {
		s.onClose(b.Close)
	}
	return b, err
}

// mcpServers returns what finds the servers of a user in a file or a folder.
func mcpServers(path string) (func(owner string) (map[string]mcpbridge.Server, error), error) {
	if path == "" {
		return func(string) (map[string]mcpbridge.Server, error) { return nil, nil }, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadSetting, "the MCP servers %s cannot be read: %v", path, err)
	}
	if !info.IsDir() {
		servers, err := readMCPServers(path)
		return func(string) (map[string]mcpbridge.Server, error) { return servers, nil }, err
	}
	return func(owner string) (map[string]mcpbridge.Server, error) {
		if !userFile.MatchString(owner) {
			return nil, nil
		}
		servers, err := readMCPServers(filepath.Join(path, owner+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return servers, err
	}, nil
}

func readMCPServers(path string) (map[string]mcpbridge.Server, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadSetting, "the MCP servers %s cannot be read: %v", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxMCPFile {
		return nil, fault.New(fault.BadSetting, "%s is not a file of up to %d bytes", path, maxMCPFile)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadSetting, "the MCP servers %s cannot be read: %v", path, err)
	}
	servers, err := mcpbridge.ParseServers(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return servers, nil
}
