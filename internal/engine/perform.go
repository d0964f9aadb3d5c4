package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/tool"
)

// Bounds of what models and tools may return, whatever a machine allows.
const (
	maxReplyCalls = 128
	maxReplyText  = 1 << 20
	maxArgs       = 1 << 20
	maxResult     = 64 << 20
)

// perform makes the model call or tool call of a job and returns the events that came of
// it: none if it was cut short because the process is shutting down.
func (t *turn) perform(ctx context.Context, j job) []event.Body {
	ctx, cancel := context.WithTimeout(ctx, t.timeLeft(j))
	defer cancel()
	var out []event.Body
	if j == askModel {
		out = t.askModel(ctx)
	} else {
		out = t.runTool(ctx)
	}
	if len(out) > 0 && t.e.ctx.Err() != nil && !t.halted.Load() {
		switch out[len(out)-1].Kind() {
		case event.KindToolFailed, event.KindModelFailed:
			return nil
		}
	}
	return out
}

// timeLeft returns how long a job may take: what is left of the turn's time, and for a
// tool no more than its own bound.
func (t *turn) timeLeft(j job) time.Duration {
	limits := t.r.limits
	if limits == nil {
		b := t.r.currentLimits()
		limits = &b
	}
	left := time.Duration(limits.seconds)*time.Second - t.f.Turn.elapsed(t.f.Now)
	if j == runTool {
		seconds := t.e.cfg.ToolSeconds
		if entry, err := t.r.findTool(runningCall(t.f.Turn.Phase).Tool); err == nil && entry.Spec().Seconds > 0 {
			seconds = entry.Spec().Seconds
		}
		left = min(left, time.Duration(seconds)*time.Second)
	}
	return max(left, time.Millisecond)
}

// maxThoughts bounds what is shown and stored of the thoughts of one reply.
const maxThoughts = 32 << 10

// askModel streams one reply. A panic of the model's client is a failure of the model.
func (t *turn) askModel(ctx context.Context) (out []event.Body) {
	call := modelCall(t.f.Turn.Phase)
	defer func() {
		if p := recover(); p != nil {
			t.e.cfg.Log.Error("model call panicked", "model", call.Model, "thread", t.f.Thread, "panic", p, "stack", string(debug.Stack()))
			out = t.newModelFailed(ctx, call, fault.New(fault.ModelFailed, "the client of the model broke down").Suggest("The server's log says why. Try again, or use another model."))
		}
	}()
	req, err := t.makeRequest(ctx, call)
	if err != nil {
		return t.newModelFailed(ctx, call, err)
	}
	model, err := t.e.cfg.Models.Model(call.Model)
	if err != nil {
		return t.newModelFailed(ctx, call, err)
	}
	var reply *llm.Reply
	textBytes, thoughtBytes := 0, 0
	for d, err := range model.Reply(ctx, *req) {
		if err != nil {
			return t.newModelFailed(ctx, call, err)
		}
		if d.Thought != "" {
			if thoughtBytes += len(d.Thought); thoughtBytes <= maxThoughts {
				t.e.hub.publishTransient(event.Event{Thread: t.f.Thread, Time: t.f.Now, Body: event.Thought{Call: call.Call, Text: d.Thought}})
			}
		}
		if d.Text != "" && call.Output == "" {
			if textBytes += len(d.Text); textBytes > maxReplyText {
				return t.newModelFailed(ctx, call, fault.New(fault.ModelBadOutput, "the model's answer is longer than %d bytes", maxReplyText))
			}
			t.e.hub.publishTransient(event.Event{Thread: t.f.Thread, Time: t.f.Now, Body: event.Token{Call: call.Call, Text: d.Text}})
		}
		if d.Reply != nil {
			reply = d.Reply
		}
	}
	if reply == nil {
		return t.newModelFailed(ctx, call, fault.New(fault.ModelFailed, "the model's stream ended without an answer"))
	}
	return []event.Body{t.newReply(call, reply)}
}

// newReply returns the event of a reply. Its calls get ids of our own.
func (t *turn) newReply(call *event.ModelCalled, reply *llm.Reply) event.Body {
	b := event.ModelReplied{Call: call.Call, Model: reply.Model, Thoughts: truncateText(reply.Thoughts, maxThoughts), Text: truncateText(reply.Text, maxReplyText), Stop: reply.Stop, Usage: reply.Usage}
	if call.Output != "" {
		return b
	}
	calls := reply.Calls
	if len(calls) == 0 {
		calls = t.fencedCall(reply.Text)
	}
	if len(calls) > maxReplyCalls {
		return event.ModelFailed{Call: call.Call, Code: fault.ModelBadOutput, Usage: reply.Usage, Message: fmt.Sprintf("the model made %d calls at once; %d are allowed", len(calls), maxReplyCalls)}
	}
	for i, c := range calls {
		b.Calls = append(b.Calls, event.ModelCall{ID: callID(t.f.Turn.Run, t.f.Turn.Calls+1+i), Name: truncateText(c.Name, 128), Args: argsValue(c.Args)})
	}
	if len(calls) == 0 {
		b.Unsupported = t.unsupportedFigures(call.Call, b.Text)
	}
	return b
}

// argsValue encodes the arguments that a model sent: as compact JSON, or as a text if they
// are not JSON.
func argsValue(args string) event.Value {
	args = truncateText(args, maxArgs)
	if args == "" {
		args = "{}"
	}
	if json.Valid([]byte(args)) {
		return event.NewValue(json.RawMessage(args))
	}
	return event.EncodeValue(args)
}

// truncateText cuts a text to n bytes and replaces invalid UTF-8, which JSON would change
// when the text is stored.
func truncateText(text string, n int) string {
	return strings.ToValidUTF8(text[:min(n, len(text))], "\uFFFD")
}

// fencedCall returns the call that a fenced block in the text stands for in the present
// state, as the machine's `text` declares it.
func (t *turn) fencedCall(text string) []llm.Call {
	for _, tc := range t.r.m.Text {
		if len(tc.States) > 0 && !slices.Contains(tc.States, t.f.State) {
			continue
		}
		block := regexp.MustCompile("(?s)```" + regexp.QuoteMeta(tc.Fence) + "[ \t]*\r?\n(.*?)```").FindStringSubmatch(text)
		if block != nil {
			return []llm.Call{{Name: tc.Tool, Args: string(mustJSON(map[string]string{tc.Argument: block[1]}))}}
		}
	}
	return nil
}

// newModelFailed returns the event of a model call without a reply. If the turn's time
// has run out, the next decision ends the turn.
func (t *turn) newModelFailed(ctx context.Context, call *event.ModelCalled, err error) []event.Body {
	if t.halted.Load() {
		return nil
	}
	f := fault.From(err)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f = fault.New(fault.ModelTimeout, "the turn's time ran out before the model had answered")
	} else if f.Code == fault.Internal {
		t.e.cfg.Log.Error("model call failed", "thread", t.f.Thread, "run", t.f.Turn.Run, "model", call.Model, "err", err)
		f = fault.Wrap(err, fault.ModelFailed, "the model could not be reached")
	}
	return []event.Body{event.ModelFailed{Call: call.Call, Code: f.Code, Message: f.Message, Suggestion: f.Suggestion, Usage: llm.UsageOf(err)}}
}

// makeRequest rebuilds the request that ModelCalled describes, from its blobs and the
// turn's log.
func (t *turn) makeRequest(ctx context.Context, call *event.ModelCalled) (*llm.Request, error) {
	req := &llm.Request{Tag: llm.Tag{Thread: t.f.Thread, Run: t.f.Turn.Run, Call: call.Call, State: call.State, Number: call.Number}}
	if call.Reasoning != nil {
		req.Reasoning = *call.Reasoning
	}
	system, err := t.loadBlob(ctx, call.System)
	if err != nil {
		return nil, err
	}
	req.System = string(system)
	if g := &t.r.lastRequest; call.Output == "" && call.Tools == g.toolsHash && call.History == g.historyHash {
		req.Tools, req.History, req.Messages = g.tools, g.history, t.r.messagesWith(call.Note)
		return req, nil
	}
	for _, part := range []struct {
		hash string
		into any
	}{{call.Tools, &req.Tools}, {call.History, &req.History}} {
		if part.hash == "" {
			continue
		}
		raw, err := t.loadBlob(ctx, part.hash)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, part.into); err != nil {
			return nil, fmt.Errorf("decoding what the model was given: %w", err)
		}
	}
	if call.Output != "" {
		if req.Output, err = t.loadBlob(ctx, call.Output); err != nil {
			return nil, err
		}
		req.Messages = append(req.History, t.r.toMessages(stepLines(t.f.Turn.Phase))...)
		req.History = nil
		return req, nil
	}
	req.Messages = t.r.messagesWith(call.Note)
	return req, nil
}

// stepLines returns the answers of a model step that did not have the declared form.
func stepLines(p phase) []line {
	if a, ok := p.(asking); ok {
		if s, ok := a.In.(stepping); ok {
			return s.Lines
		}
	}
	return nil
}

// loadBlob returns a blob that was made in this turn, or loads it from the store.
func (t *turn) loadBlob(ctx context.Context, hash string) ([]byte, error) {
	if raw, ok := t.r.madeBlobs[hash]; ok {
		return raw, nil
	}
	return t.e.cfg.Store.Blob(ctx, hash)
}

// fetch returns a value with its bytes, which may be those of an event that is not stored
// yet.
func (t *turn) fetch(v event.Value) (event.Value, error) { return t.fetchWith(t.ctx, v) }

func (t *turn) fetchWith(ctx context.Context, v event.Value) (event.Value, error) {
	if v.Resolved() {
		return v, nil
	}
	for _, e := range t.pending {
		for _, p := range event.Blobs(e.Body) {
			if p.Hash == v.Hash {
				return p, nil
			}
		}
	}
	raw, err := t.loadBlob(ctx, v.Hash)
	return event.Value{Hash: v.Hash, JSON: raw}, err
}

// runTool runs the call that has started and returns its artifacts and its result.
func (t *turn) runTool(ctx context.Context) []event.Body {
	s := runningCall(t.f.Turn.Phase)
	res, err := t.callTool(ctx, s)
	if err != nil {
		if t.halted.Load() {
			return nil
		}
		return []event.Body{t.r.newToolFailed(s.Call, s.Tool, event.Value{}, t.toolFault(ctx, s, err))}
	}
	var out []event.Body
	for _, a := range res.Artifacts {
		a.Call = s.Call
		out = append(out, a)
	}
	b := event.ToolReturned{Call: s.Call, Tool: s.Tool, Result: event.NewValue(res.JSON), Volatile: res.Volatile, Ran: res.Ran}
	if entry, err := t.r.findTool(s.Tool); err == nil {
		b.Taints, b.Volatile = entry.Spec().Taints, b.Volatile || entry.Spec().Volatile
	}
	b.Person, b.Model = t.r.audiences(s.Tool, t.r.readScope)
	return append(out, b)
}

// callTool calls a tool. A panic of the tool is an error.
func (t *turn) callTool(ctx context.Context, s *event.ToolStarted) (res tool.Result, err error) {
	entry, err := t.r.findTool(s.Tool)
	if err != nil {
		return res, fault.New(fault.UnknownTool, "there is no tool %q", s.Tool)
	}
	if entry.Digest() != s.Declared {
		return res, fault.New(fault.ToolChanged, "%s is no longer declared as it was when the call was made", s.Tool)
	}
	if s.By == byStep || s.By == byDiscover {
		args, _ := s.Args.Decode().(map[string]any)
		if bad := entry.Validate(args); bad != nil {
			return res, bad
		}
	}
	if entry.Spec().Effect == tool.Writes {
		if err := t.checkOwner(ctx); err != nil {
			return res, err
		}
	}
	info := t.callInfo(s.Call)
	info.CheckOwner = t.checkOwner
	info.TraceFigures = func(text string) (event.FiguresTraced, map[string]string) {
		return t.r.traceFigures(text, t.fetchAnyway)
	}
	info.Output = func(stream, text string) {
		t.e.hub.publishTransient(event.Event{Thread: t.f.Thread, Time: t.f.Now, Body: event.ToolProgress{Call: s.Call, Tool: s.Tool, Note: truncateText(text, 4096), Stream: stream}})
	}
	info.Progress = func(note string) { info.Output("", note) }
	defer func() {
		if p := recover(); p != nil {
			t.e.cfg.Log.Error("tool panicked", "tool", s.Tool, "thread", t.f.Thread, "panic", p, "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "%s broke down", s.Tool)
		}
	}()
	res, err = entry.Call(tool.With(ctx, info), s.Args.JSON)
	switch {
	case err != nil:
		return res, err
	case len(res.JSON) > maxResult:
		return res, fault.New(fault.TooLarge, "%s gave %d bytes; %d are allowed", s.Tool, len(res.JSON), maxResult)
	case !json.Valid(res.JSON):
		return res, fault.New(fault.ToolFailed, "%s gave no JSON", s.Tool)
	}
	return res, nil
}

// toolFault converts an error of a tool into what the model is told. An error that is not
// a fault is logged for the operator; the model is told only that the tool failed, or that
// its time was up: a plain error after the time limit comes of the limit.
func (t *turn) toolFault(ctx context.Context, s *event.ToolStarted, err error) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(err, fault.ToolTimeout, "%s took longer than allowed", s.Tool)
	}
	t.e.cfg.Log.Error("tool failed", "tool", s.Tool, "thread", t.f.Thread, "run", t.f.Turn.Run, "err", err)
	return fault.Wrap(err, fault.ToolFailed, "%s failed", s.Tool)
}
