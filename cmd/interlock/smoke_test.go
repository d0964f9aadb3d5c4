package main
import ("testing";"time")
func TestSmoke(t *testing.T) {
	w := newWorld(t)
	s := time.Now()
	p := w.serve()
	t.Log(time.Since(s))
	t.Log(p.say(`{"message":"SQL: SELECT count(*) FROM orders","dataset_id":"shop"}`))
	t.Log(time.Since(s))
	p.kill()
	t.Log(time.Since(s))
	p = w.serve()
	t.Log(time.Since(s))
	t.Log(p.stop())
	t.Log(p.log)
	t.Log(w.run("machine","list"))
	t.Log(time.Since(s))
}
