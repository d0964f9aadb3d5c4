package data

import (
	"context"
	"encoding/json"

	"interlock/internal/fault"
	"interlock/internal/meaning"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A VerifiedQuestion is a question of a semantic model with the name to remove it by.
type VerifiedQuestion struct {
	ID       string          `json:"id"`
	Question string          `json:"question"`
	Plan     json.RawMessage `json:"plan"`
	SQL      string          `json:"sql"` // that the plan compiles to
}

// DatasetVerified are the verified questions of a dataset.
type DatasetVerified struct {
	DatasetID string             `json:"dataset_id"`
	Verified  []VerifiedQuestion `json:"verified"`
}

// VerifiedQuestions lists the questions whose plans people approved.
func (m Meanings) VerifiedQuestions(ctx context.Context, id string) (DatasetVerified, error) {
	out := DatasetVerified{DatasetID: id, Verified: []VerifiedQuestion{}}
	s, err := Datasets{Catalog: m.Catalog}.Schema(ctx, id)
	if err != nil || s.Meaning == nil {
		return out, err
	}
	for _, v := range s.Meaning.Verified {
		sql, err := planSQL(v.Plan, s)
		if err != nil {
			return out, err
		}
		out.Verified = append(out.Verified, VerifiedQuestion{meaning.VerifiedID(v.Question), v.Question, v.Plan, sql})
	}
	return out, nil
}

func planSQL(raw json.RawMessage, s schema.Dataset) (string, error) {
	plan, err := queryplan.Parse(raw)
	if err != nil {
		return "", err
	}
	return plan.SQL(s)
}

// Verify writes a question with the plan that a person approved into the semantic model of a
// dataset, for a user who may change it. A plan that does not fit the tables is refused.
func (m Meanings) Verify(ctx context.Context, id, user, question string, plan json.RawMessage) (DatasetVerified, error) {
	whole, err := Datasets{Catalog: m.Catalog}.Schema(ctx, id)
	if err != nil {
		return DatasetVerified{}, err
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(plan, &parts); err != nil {
		return DatasetVerified{}, fault.New(fault.BadRequest, "a verified question needs its query plan, a JSON object").Suggest("Send the plan_json of the answer.")
	}
	delete(parts, "dataset_id") // the file says whose it is
	if plan, err = json.Marshal(parts); err != nil {
		return DatasetVerified{}, err
	}
	if _, err := planSQL(plan, whole); err != nil {
		return DatasetVerified{}, err
	}
	err = m.edit(ctx, id, user, func(file string, text []byte, s schema.Dataset) ([]byte, error) {
		return meaning.AddVerified(file, text, s, schema.VerifiedQuestion{Question: question, Plan: plan})
	})
	if err != nil {
		return DatasetVerified{}, err
	}
	return m.VerifiedQuestions(ctx, id)
}

// Unverify takes a verified question out of the semantic model of a dataset.
func (m Meanings) Unverify(ctx context.Context, id, user, verified string) (DatasetVerified, error) {
	err := m.edit(ctx, id, user, func(file string, text []byte, s schema.Dataset) ([]byte, error) {
		if text == nil {
			return nil, fault.New(fault.NotFound, "no question of %q is verified", id)
		}
		return meaning.RemoveVerified(file, text, s, verified)
	})
	if err != nil {
		return DatasetVerified{}, err
	}
	return m.VerifiedQuestions(ctx, id)
}

// ListVerified implements server.Verified.
func (m Meanings) ListVerified(ctx context.Context, id string) (any, error) {
	return m.VerifiedQuestions(ctx, id)
}

// AddVerified implements server.Verified.
func (m Meanings) AddVerified(ctx context.Context, id, user, question string, plan json.RawMessage) (any, error) {
	return m.Verify(ctx, id, user, question, plan)
}

// RemoveVerified implements server.Verified.
func (m Meanings) RemoveVerified(ctx context.Context, id, user, verified string) (any, error) {
	return m.Unverify(ctx, id, user, verified)
}
