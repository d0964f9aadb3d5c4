package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/tool"
)

// callers records who called which declaration.
type callers struct{ owners, digests []string }

func (c *callers) CallFound(ctx context.Context, f tool.Found, _ json.RawMessage) (tool.Result, error) {
	c.owners, c.digests = append(c.owners, tool.In(ctx).Owner), append(c.digests, f.Digest())
	return tool.Result{JSON: json.RawMessage(`{}`)}, nil
}

func declared(name, description string) tool.Found {
	return tool.Found{Name: name, Server: "files", Description: description, Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}
}

func TestFoundToolsAreCompiledOnceAndCalledForTheirOwner(t *testing.T) {
	c := &callers{}
	set := tool.NewSet(c, tool.New(tool.Spec{Name: "sum", Effect: tool.Computes}, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }))
	first, err := set.Found(declared("read", "Reads a file"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := set.Found(declared("read", "Reads a file"))
	if err != nil || again != first {
		t.Errorf("an equal declaration was made ready twice: %v", err)
	}
	changed, err := set.Found(declared("read", "Reads a file and sends it"))
	if err != nil || changed == first || changed.Digest() == first.Digest() {
		t.Errorf("a changed declaration is the same tool: %v", err)
	}
	for _, owner := range []string{"ann", "bob"} {
		if _, err := first.Call(tool.With(t.Context(), tool.Call{Owner: owner}), json.RawMessage(`{"path":"x"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(c.owners, " "); got != "ann bob" {
		t.Errorf("called for %q", got)
	}
	if s := first.Spec(); s.Effect != tool.Writes || !s.Reaches || !s.Taints || !s.Volatile {
		t.Errorf("a found tool counts as harmless: %+v", s)
	}
	if bad := first.Validate(map[string]any{}); bad == nil || bad.Code != fault.InvalidArguments {
		t.Errorf("its schema is not held: %v", bad)
	}
}

func TestFoundToolsThatAreRefused(t *testing.T) {
	set := tool.NewSet(nil, tool.New(tool.Spec{Name: "sum", Effect: tool.Computes}, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }))
	for what, f := range map[string]tool.Found{
		"built-in":        {Name: "sum", Schema: json.RawMessage(`{}`)},
		"/etc/passwd":     {Name: "a", Schema: json.RawMessage(`{"$ref":"file:///etc/passwd"}`)},
		"does not compil": {Name: "b", Schema: json.RawMessage(`{"type":"nonsense"}`)},
		"no JSON":         {Name: "c", Schema: json.RawMessage(`{`)},
	} {
		if _, err := set.Found(f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v, want %q", f.Name, err, what)
		}
	}
	e, err := set.Found(tool.Found{Name: "d", Server: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Call(t.Context(), nil); fault.From(err).Code != fault.Unavailable {
		t.Errorf("without a caller: %v", err)
	}
}

func TestMapReachesFoundTools(t *testing.T) {
	calls := 0
	set := tool.NewSet(&callers{}).Map(func(t tool.Tool) tool.Tool { return counting{t, &calls} })
	e, err := set.Found(declared("read", ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Call(t.Context(), json.RawMessage(`{}`)); err != nil || calls != 1 {
		t.Errorf("%d calls went through the wrapper: %v", calls, err)
	}
}

type counting struct {
	tool.Tool
	calls *int
}

func (c counting) Call(ctx context.Context, args json.RawMessage) (tool.Result, error) {
	*c.calls++
	return c.Tool.Call(ctx, args)
}
