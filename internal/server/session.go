package server

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"interlock/internal/store"
)

// A SessionSaying is a Saying in the words of /api/chat, where a thread is a session.
type SessionSaying struct {
	Session string        `json:"session_id,omitempty" maxLength:"200" doc:"Absent: a new session is opened"`
	Message string        `json:"message,omitempty"`
	Card    *CardResponse `json:"card_response,omitempty"`
	Command *CommandGiven `json:"command,omitempty"`
	Machine string        `json:"machine,omitempty" maxLength:"200"`
}

// A SessionReply is the answer of /api/chat.
type SessionReply struct {
	Session string          `json:"session_id"`
	Phase   string          `json:"phase"`
	Status  string          `json:"status" enum:"active,waiting,complete,failed"`
	Message SessionMessage  `json:"message"`
	Recipe  json.RawMessage `json:"recipe_draft"`
}

// A SessionMessage is what the assistant said, in parts.
type SessionMessage struct {
	Role     string    `json:"role"`
	Segments []Segment `json:"segments"`
	Time     time.Time `json:"timestamp"`
}

// A Segment is one part of a message.
type Segment struct {
	Type    string `json:"type" enum:"text,card,result"`
	Content any    `json:"content"`
}

func (s *Server) sessionChat(ctx context.Context, in *struct{ Body SessionSaying }) (SessionReply, error) {
	b := in.Body
	at, err := s.startTurn(ctx, Saying{Message: b.Message, Card: b.Card, Command: b.Command, Thread: b.Session, Machine: b.Machine}, s.cfg.SessionMachine)
	if err != nil {
		return SessionReply{}, err
	}
	r, err := s.waitForReply(ctx, at.thread, at.run)
	if err != nil {
		return SessionReply{}, err
	}
	thread, err := s.cfg.Index.Thread(ctx, at.thread)
	if err != nil {
		return SessionReply{}, err
	}
	out := SessionReply{
		Session: at.thread, Phase: r.State, Status: sessionStatus(thread.Status), Recipe: r.Fields["recipe_draft"],
		Message: SessionMessage{Role: "assistant", Segments: []Segment{}, Time: thread.Updated},
	}
	if isNull(out.Recipe) {
		out.Recipe = json.RawMessage("null")
	}
	add := func(kind string, content any) {
		out.Message.Segments = append(out.Message.Segments, Segment{kind, content})
	}
	if r.Card != nil && len(r.Said) > 0 { // before it came to the card
		add("text", strings.Join(r.Said, "\n\n"))
	}
	if r.Text != "" {
		add("text", r.Text)
	}
	if cutShort(r) && r.Text == "" {
		add("text", errorOf(r.Code).Message)
	}
	if r.Card != nil {
		add("card", cardOf(r.Card))
	}
	if result := r.Fields["result"]; !isNull(result) {
		add("result", result)
	}
	return out, nil
}

// sessionStatus says a thread's status in the words of /api/chat.
func sessionStatus(status string) string {
	switch status {
	case store.Waiting, store.Complete, store.Failed:
		return status
	}
	return "active"
}
