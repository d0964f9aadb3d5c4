package main

import (
	"fmt"
	"net/http"
	"testing"
)

// What the person says runs, on the data that it names, each time it is said.
func TestShortcutRunsWhatIsSaid(t *testing.T) {
	w := newWorld(t, map[string]string{"data/books/orders.csv": "id,amount\n7,70\n"})
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	said := func(thread, dataset, message string) chatResponse {
		t.Helper()
		var chat chatResponse
		p.call("POST", "/chat", fmt.Sprintf(`{"message":%q,"dataset_id":%q,"thread_id":%q}`, message, dataset, thread), http.StatusOK, &chat)
		if chat.Status != "succeeded" {
			t.Fatalf("%s on %s: %+v", message, dataset, chat)
		}
		return chat
	}
	const count = "SQL: SELECT count(*) FROM orders"
	shop := said("", "shop", count)
	books := said(shop.Thread, "books", count)
	if one, other := fmt.Sprint(shop.Result.Rows), fmt.Sprint(books.Result.Rows); one == other || other != "[[1]]" {
		t.Errorf("shop has %s orders, books %s", one, other)
	}
	const roll = "SQL: SELECT random(), count(*) FROM orders"
	first, second := said(shop.Thread, "books", roll), said(shop.Thread, "books", roll)
	if one, two := fmt.Sprint(first.Result.Rows), fmt.Sprint(second.Result.Rows); one == two {
		t.Errorf("the statement was not run again: %s", one)
	}
	for _, run := range []string{books.Run, second.Run} {
		if out, errs, code := w.run("replay", run); code != 0 {
			t.Errorf("replay gave %d: %s%s", code, out, errs)
		}
	}
}
