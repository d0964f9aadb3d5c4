package server

import (
	"encoding/json"
	"net/http"
)

// An openAIError is a problem as OpenAI's API tells it.
type openAIError struct {
	Error openAITrouble `json:"error"`
}

type openAITrouble struct {
	Message   string  `json:"message" doc:"What happened, and what to do about it"`
	Type      string  `json:"type"`
	Param     *string `json:"param" doc:"The wrong part of the request"`
	Code      string  `json:"code" doc:"A code of /api/codes"`
	RequestID string  `json:"request_id,omitempty" doc:"Under which the server's log tells more"`
}

// plainProblem is a Problem without its methods.
type plainProblem Problem

// MarshalJSON writes the problem in the shape that its route speaks.
func (p *Problem) MarshalJSON() ([]byte, error) {
	if p.asOpenAI {
		return json.Marshal(p.openAI())
	}
	return json.Marshal((*plainProblem)(p))
}

func (p *Problem) openAI() openAIError {
	e := openAITrouble{Message: p.Detail, Type: "invalid_request_error", Code: string(p.Code), RequestID: p.RequestID}
	if p.Suggestion != "" {
		e.Message += ". " + p.Suggestion
	}
	switch {
	case p.Status == http.StatusUnauthorized:
		e.Type = "authentication_error"
	case p.Status == http.StatusForbidden:
		e.Type = "permission_error"
	case p.Status == http.StatusTooManyRequests:
		e.Type = "rate_limit_error"
	case p.Status >= http.StatusInternalServerError:
		e.Type = "server_error"
	}
	if len(p.Errors) > 0 && p.Errors[0].Location != "" {
		e.Param = &p.Errors[0].Location
	}
	return openAIError{e}
}
