package llm_test

import (
	"context"
	"fmt"

	"interlock/internal/llm"
)

func ExampleOpen() {
	m, err := llm.Open(llm.Config{Offline: llm.Script(llm.Say("There are 3 orders."))})
	if err != nil {
		fmt.Println(err)
		return
	}
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "How many orders?"}}}
	for d, err := range m.Reply(context.Background(), req) {
		switch {
		case err != nil:
			fmt.Println(err)
		case d.Reply != nil:
			fmt.Println("stop:", d.Reply.Stop)
		default:
			fmt.Println(d.Text)
		}
	}
	// Output:
	// There are 3 orders.
	// stop: end
}
