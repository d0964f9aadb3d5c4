package llm_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A shelf is datasets that the offline model knows of.
type shelf map[string]*nlq.Index

func (s shelf) Datasets(context.Context) ([]string, error) {
	var ids []string
	for id := range s {
		ids = append(ids, id)
	}
	return ids, nil
}

func (s shelf) Index(_ context.Context, dataset string) (*nlq.Index, error) {
	if x := s[dataset]; x != nil {
		return x, nil
	}
	return nil, fault.New(fault.NotFound, "there is no dataset %q", dataset)
}

func shopShelf() shelf {
	shop := schema.Dataset{Tables: []schema.Table{
		{Name: "orders", Key: []string{"id"}, Rows: 5, Columns: []schema.Column{{Name: "id", Type: schema.ParseType("BIGINT")}, {Name: "amount", Type: schema.ParseType("DOUBLE")}, {Name: "status", Type: schema.ParseType("VARCHAR")}, {Name: "order_date", Type: schema.ParseType("DATE")}, {Name: "ship_date", Type: schema.ParseType("DATE")}}},
	}}
	values := []nlq.ColumnValues{{Table: "orders", Column: "status", Values: []string{"open", "paid"}, Complete: true}}
	return shelf{"shop": nlq.NewIndex(shop, values, schema.Dictionary{})}
}

var queryTools = []llm.Tool{{Name: "get_dataset_schema"}, {Name: "execute_query_plan"}}

// turn asks one thing of the offline model after what was said before.
func turn(t *testing.T, s shelf, history []llm.Message, messages ...llm.Message) *llm.Reply {
	t.Helper()
	_, reply, err := hear(t.Context(), llm.NewOffline(s), llm.Request{History: history, Messages: messages, Tools: queryTools})
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func user(text string) llm.Message {
	return llm.Message{Role: llm.User, Text: text + "\n\n[dataset_id: shop]"}
}

func result(name, text string, failed bool) llm.Message {
	return llm.Message{Role: llm.ToolRole, Name: name, Text: text, Failed: failed}
}

var schemaSeen = result("get_dataset_schema", `{"tables":[]}`, false)

// TestOfflineAnswers goes through a turn: schema, query, words.
func TestOfflineAnswers(t *testing.T) {
	s, question := shopShelf(), user("How many orders are open?")
	first := turn(t, s, nil, question)
	if len(first.Calls) != 1 || first.Calls[0].Name != "get_dataset_schema" || first.Stop != "calls" || first.Model != "offline" {
		t.Fatalf("the schema comes first: %+v", first)
	}
	second := turn(t, s, nil, question, schemaSeen)
	if len(second.Calls) != 1 || second.Calls[0].Name != "execute_query_plan" {
		t.Fatalf("then the query: %+v", second)
	}
	var args struct {
		Dataset string `json:"dataset_id"`
		Plan    queryplan.Plan
	}
	if err := json.Unmarshal([]byte(second.Calls[0].Args), &args); err != nil || args.Dataset != "shop" || args.Plan.Table != "orders" || len(args.Plan.Filters) != 1 {
		t.Fatalf("the plan is %s: %v", second.Calls[0].Args, err)
	}
	last := turn(t, s, nil, question, schemaSeen, result("execute_query_plan", `{"columns":["count"],"rows":[[1200]],"row_count":1}`, false))
	if len(last.Calls) != 0 || last.Stop != "end" || !strings.HasPrefix(last.Text, `There are 1,200 orders where status is "open".`) || !strings.Contains(last.Text, "How I read the question: ") {
		t.Fatalf("then words: %+v", last)
	}
}

func TestOfflineAsksBack(t *testing.T) {
	s, question := shopShelf(), user("How many orders in March 2024?")
	back := turn(t, s, nil, question, schemaSeen)
	if len(back.Calls) != 0 || !strings.Contains(back.Text, "1. the order date of orders") || !strings.Contains(back.Text, "2. the ship date of orders") {
		t.Fatalf("it does not ask: %+v", back)
	}
	history := []llm.Message{question, {Role: llm.Assistant, Text: back.Text}}
	for answer, column := range map[string]string{"1": "order_date", "2": "ship_date", "the ship date": "ship_date", "I mean the ship date": "ship_date", "the first, please": "order_date"} {
		r := turn(t, s, history, user(answer), schemaSeen)
		if len(r.Calls) != 1 || !strings.Contains(r.Calls[0].Args, column) {
			t.Errorf("the answer %q gave %+v", answer, r)
		}
	}
	// A new question is no answer.
	if r := turn(t, s, history, user("How many orders are paid?"), schemaSeen); len(r.Calls) != 1 || strings.Contains(r.Calls[0].Args, "_date") {
		t.Errorf("got %+v", r)
	}
}

// TestOfflineKeepsTheQuestion chooses a reading by number and by words that are a question of their
// own: the rest of what was asked stays.
func TestOfflineKeepsTheQuestion(t *testing.T) {
	shop := schema.Dataset{
		Tables:  []schema.Table{{Name: "orders", Key: []string{"id"}, Rows: 5, Columns: []schema.Column{{Name: "id", Type: schema.ParseType("BIGINT")}, {Name: "amount", Type: schema.ParseType("DOUBLE")}, {Name: "pieces", Type: schema.ParseType("BIGINT")}, {Name: "order_date", Type: schema.ParseType("DATE")}}}},
		Meaning: &schema.Meaning{Ambiguous: []schema.AmbiguousTerm{{Term: "sales", Readings: []string{"total amount of orders", "total pieces of orders"}}}},
	}
	s, question := shelf{"shop": nlq.NewIndex(shop, nil, schema.Dictionary{})}, user("sales per month")
	back := turn(t, s, nil, question, schemaSeen)
	if !strings.Contains(back.Text, "2. total pieces of orders") {
		t.Fatalf("it does not ask: %+v", back)
	}
	history := []llm.Message{question, {Role: llm.Assistant, Text: back.Text}}
	for answer, column := range map[string]string{"1": "amount", "2": "pieces", "total amount of orders": "amount", "Total pieces of orders": "pieces", "I mean the total pieces": "pieces", "no, the total amount please": "amount", "the second one": "pieces", "neither, the average amount": "avg"} {
		r := turn(t, s, history, user(answer), schemaSeen)
		if len(r.Calls) != 1 || !strings.Contains(r.Calls[0].Args, column) || !strings.Contains(r.Calls[0].Args, "month") {
			t.Errorf("the answer %q gave %+v", answer, r)
		}
	}
}

func TestOfflineFollowsUp(t *testing.T) {
	history := []llm.Message{user("How many orders are open?"), {Role: llm.Assistant, Text: "There are 3."}}
	r := turn(t, shopShelf(), history, user("what about paid?"), schemaSeen)
	if len(r.Calls) != 1 || !strings.Contains(r.Calls[0].Args, `"paid"`) {
		t.Errorf("got %+v", r)
	}
}

// TestOfflineSaysNo holds that what it cannot do is said, with how to get further.
func TestOfflineSaysNo(t *testing.T) {
	s := shopShelf()
	two := shelf{"a": s["shop"], "b": s["shop"]}
	tests := []struct {
		name     string
		shelf    shelf
		messages []llm.Message
		want     string
	}{
		{"unknown", s, []llm.Message{user("What is the weather?"), schemaSeen}, "OPENAI_API_KEY"},
		{"change", s, []llm.Message{user("Delete all orders"), schemaSeen}, "never changed"},
		{"nothing said", s, []llm.Message{user("")}, "Ask me about the data"},
		{"no dataset", shelf{}, []llm.Message{{Role: llm.User, Text: "How many orders are open?"}}, "There is no dataset yet"},
		{"which dataset", two, []llm.Message{{Role: llm.User, Text: "How many orders are open?"}}, "Which dataset do you mean? Choose one and ask again. There are: "},
		{"failed query", s, []llm.Message{user("How many orders are open?"), schemaSeen, result("execute_query_plan", `{"message":"the disk is gone"}`, true)}, "The query did not run: the disk is gone"},
		{"cut result", s, []llm.Message{user("How many orders are open?"), schemaSeen, result("execute_query_plan", `{"columns":["a"],"rows":[[1`, false)}, "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if r := turn(t, tt.shelf, nil, tt.messages...); len(r.Calls) != 0 || !strings.Contains(r.Text, tt.want) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestOfflineChooses finds the only dataset where none is named.
func TestOfflineChooses(t *testing.T) {
	r := turn(t, shopShelf(), nil, llm.Message{Role: llm.User, Text: "How many orders are open?"})
	if len(r.Calls) != 1 || r.Calls[0].Args != `{"dataset_id":"shop"}` {
		t.Errorf("got %+v", r)
	}
}

func TestOfflineLimits(t *testing.T) {
	m := llm.NewOffline(shopShelf())
	_, _, err := hear(t.Context(), m, llm.Request{Messages: []llm.Message{user("x")}, Output: json.RawMessage(`{}`)})
	wantCode(t, err, fault.ModelCannot)
	_, reply, err := hear(t.Context(), m, llm.Request{Messages: []llm.Message{user("How many orders?")}})
	if err != nil || len(reply.Calls) != 0 || !strings.Contains(reply.Text, "this state offers me none") {
		t.Errorf("got %+v, %v", reply, err)
	}
	_, _, err = hear(t.Context(), m, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "How many orders?\n\n[dataset_id: gone]"}, schemaSeen}, Tools: queryTools})
	wantCode(t, err, fault.NotFound)
}
