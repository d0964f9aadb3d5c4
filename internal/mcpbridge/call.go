package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// CallFound calls a tool of the servers of the user whose call it is. It implements
// tool.Caller.
func (b *Bridge) CallFound(ctx context.Context, f tool.Found, args json.RawMessage) (tool.Result, error) {
	owner := tool.In(ctx).Owner
	servers, err := b.cfg.Servers(owner)
	if err != nil {
		return tool.Result{}, err
	}
	server, ok := servers[f.Server]
	if !ok || server.Disabled {
		return tool.Result{}, fault.New(fault.Unavailable, "the MCP server %s is not configured any more", f.Server)
	}
	s, err := b.session(ctx, owner, f.Server, server)
	if err != nil {
		return tool.Result{}, err
	}
	defer b.begin(s)()
	now, ok, err := s.current(ctx, f.Name)
	switch {
	case err != nil:
		b.drop(s)
		return tool.Result{}, err
	case !ok:
		return tool.Result{}, fault.New(fault.UnknownTool, "the server %s does not have %s any more", f.Server, f.Name)
	case now.decl.Digest() != f.Digest():
		return tool.Result{}, fault.New(fault.ToolChanged, "the server %s declares %s in another way than it did", f.Server, f.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, server.callTime())
	defer cancel()
	res, err := s.call(ctx, now.name, args)
	if err != nil {
		b.drop(s) // it may be in the middle of something; the next call begins anew
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return tool.Result{}, fault.New(fault.ToolTimeout, "%s gave no answer within %s", f.Name, server.callTime())
		}
		return tool.Result{}, fault.Wrap(err, fault.ToolFailed, "%s failed: %s", f.Name, truncate(err.Error(), maxErrorText))
	}
	return resultOf(f.Name, res)
}

// A Result is what a model and a person see of a call.
type Result struct {
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured,omitempty"`
	// Other lists the parts that are no text, with their kind.
	Other []string `json:"other,omitempty"`
	// Truncated says that the server sent more than is here.
	Truncated bool `json:"truncated,omitempty"`
}

// resultOf converts what a server returned, bounded in size.
func resultOf(name string, res *mcp.CallToolResult) (tool.Result, error) {
	if res.NeedsInput() {
		return tool.Result{}, fault.New(fault.ToolFailed, "%s asks for more input, which a server cannot have here", name)
	}
	var out Result
	var texts []string
	left := maxResult
	for i, c := range res.Content {
		if i >= maxParts {
			out.Truncated = true
			break
		}
		switch c := c.(type) {
		case *mcp.TextContent:
			text := truncate(c.Text, left)
			out.Truncated = out.Truncated || len(c.Text) > left
			left -= len(text)
			texts = append(texts, text)
		default:
			out.Other = append(out.Other, strings.TrimPrefix(fmt.Sprintf("%T", c), "*mcp."))
		}
	}
	out.Text = strings.Join(texts, "\n")
	if res.IsError {
		return tool.Result{}, fault.New(fault.ToolFailed, "%s says: %s", name, truncate(out.Text, maxErrorText))
	}
	if res.StructuredContent != nil {
		raw, err := json.Marshal(res.StructuredContent)
		switch {
		case err != nil || len(raw) > maxResult:
			out.Truncated = true
		default:
			out.Structured = json.RawMessage(visible(string(raw)))
		}
	}
	raw, err := json.Marshal(out)
	return tool.Result{JSON: raw, Volatile: true}, err
}

// truncate cuts a text to n bytes at most, at the border of a character, and to what is visible.
func truncate(text string, n int) string {
	return visible(strings.ToValidUTF8(text[:min(len(text), max(n, 0))], ""))
}

// visible takes out control characters and what nobody sees but a model reads: marks that
// turn the direction of writing, tags, blanks without width.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) && !isJoiner(r) {
			return -1
		}
		return r
	}, text)
}

// isJoiner reports whether a mark without width belongs to words of some scripts, and to emoji.
func isJoiner(r rune) bool { return r == '\u200C' || r == '\u200D' }

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// maxName is what providers allow for the name of a tool.
const maxName = 64

// declare returns the declaration of a server's tool as models see it. The name begins
// with the server's, so that no server can take the name of another's tool or of a
// built-in one.
func declare(server string, cfg Server, t *mcp.Tool) (tool.Found, error) {
	name := notInNames.ReplaceAllString(server, "_") + "__" + notInNames.ReplaceAllString(t.Name, "_")
	if first, rest, _ := strings.Cut(name, "__"); len(name) > maxName || first != server || rest != t.Name { // it would not tell which server's it is
		name = name[:min(len(name), maxName-9)] + "_" + event.Hash([]byte(server + "\x00" + t.Name))[:8]
	}
	f := tool.Found{
		Name: name, Server: server, Description: strings.TrimSpace(truncate(t.Description, maxTold)), Schema: json.RawMessage(`{"type":"object"}`),
		ReadOnly: cfg.Trusted && isHarmless(t.Annotations),
	}
	if t.InputSchema != nil {
		raw, err := json.Marshal(t.InputSchema)
		if err != nil || len(raw) > maxSchema {
			return f, fmt.Errorf("the schema of %s cannot be used", name)
		}
		f.Schema = json.RawMessage(visible(string(raw)))
	}
	_, err := tool.NewSet(nil).Found(f) // its schema must compile
	return f, err
}

// isHarmless reports whether a tool says that it changes nothing and reaches nothing
// outside of its server.
func isHarmless(a *mcp.ToolAnnotations) bool {
	return a != nil && a.ReadOnlyHint && a.OpenWorldHint != nil && !*a.OpenWorldHint
}
