package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/audit"
)

// chain makes a log of n entries.
func chain(t *testing.T, n int) []audit.Record {
	t.Helper()
	var out []audit.Record
	var last audit.Record
	for i := range n {
		r, err := audit.Seal(audit.Entry{Time: time.Unix(int64(i), 0), User: "ann", Action: "turn", Run: fmt.Sprintf("r_%d", i+1)}, last.Seq, last.Hash)
		if err != nil {
			t.Fatal(err)
		}
		out, last = append(out, r), r
	}
	return out
}

// reseal seals a log anew, as one who may write the file can.
func reseal(t *testing.T, log []audit.Record) []audit.Record {
	t.Helper()
	var last audit.Record
	for i, r := range log {
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		if last, err = audit.Seal(e, last.Seq, last.Hash); err != nil {
			t.Fatal(err)
		}
		log[i] = last
	}
	return log
}

// Every way to change a log is found, but for one that seals all anew and is not held to a
// head that was kept elsewhere.
func TestVerify(t *testing.T) {
	head := func(n int) audit.Head { r := chain(t, n)[n-1]; return audit.Head{Seq: r.Seq, Hash: r.Hash} }
	change := func(log []audit.Record, i int) []audit.Record {
		log[i].Body = strings.Replace(log[i].Body, "ann", "bob", 1)
		return log
	}
	for name, tt := range map[string]struct {
		log  []audit.Record
		kept []audit.Head
		last int64
		runs []string
		want string // the findings
	}{
		"intact":               {log: chain(t, 6), last: 6, runs: []string{"r_1", "r_6"}},
		"empty":                {},
		"with its heads":       {log: chain(t, 6), last: 6, kept: []audit.Head{head(3), head(6)}},
		"changed":              {log: change(chain(t, 6), 2), last: 6, want: "3 it was changed, or is not the one that followed the entry 2"},
		"changed at the end":   {log: change(chain(t, 6), 5), last: 6, want: "6 it was changed, or is not the one that followed the entry 5"},
		"changed and sealed":   {log: append(reseal(t, change(chain(t, 4), 3)), chain(t, 6)[4:]...), last: 6, want: "5 it was changed, or is not the one that followed the entry 4"},
		"removed":              {log: slices.Delete(chain(t, 6), 2, 3), last: 6, want: "4 the entry 3 before it was removed; 4 it was changed, or is not the one that followed the entry 2"},
		"removed at the start": {log: chain(t, 6)[2:], last: 6, want: "3 the entries 1 to 2 before it were removed; 3 it was changed, or is not the one that followed the entry 0"},
		"inserted":             {log: slices.Insert(chain(t, 6), 2, chain(t, 3)[1]), last: 6, want: "2 it comes after the entry 2; 2 it was changed, or is not the one that followed the entry 2"},
		"reordered": {log: func() []audit.Record {
			log := chain(t, 4)
			log[1].Body, log[2].Body = log[2].Body, log[1].Body
			return log
		}(), last: 4, want: "2 it was the entry 3; 2 it was changed, or is not the one that followed the entry 1; 3 it was the entry 2; 3 it was changed, or is not the one that followed the entry 2"},
		"cut":                        {log: chain(t, 4), last: 6, want: "6 the log ends with the entry 4: what came after it was cut off"},
		"cut with its counter":       {log: chain(t, 4), last: 4, kept: []audit.Head{head(6)}, want: "6 the log ends with the entry 4: what came after it was cut off"},
		"cut, with threads that ran": {log: chain(t, 4), last: 4, runs: []string{"r_4", "r_5"}, want: "4 the run r_5 is in the log of threads, and no entry says who began it"},
		"emptied":                    {last: 6, want: "6 the log ends with the entry 0: what came after it was cut off"},
		"forged whole":               {log: reseal(t, change(chain(t, 6), 2)), last: 6},
		"forged whole, with a head": {
			log: reseal(t, change(chain(t, 6), 2)), last: 6, kept: []audit.Head{head(5)},
			want: "5 it is not the entry that was the head: it or an earlier one was changed, and all after that sealed again",
		},
		"no JSON": {log: []audit.Record{{Seq: 1, Body: "{", Hash: "x"}}, last: 1, want: "1 it cannot be read; 1 it was changed, or is not the one that followed the entry 0"},
	} {
		t.Run(name, func(t *testing.T) {
			v := audit.NewVerifier(tt.kept...)
			for _, r := range tt.log {
				v.Add(r)
			}
			report := v.End(tt.last, tt.runs)
			var found []string
			for _, f := range report.Findings {
				found = append(found, fmt.Sprintf("%d %s", f.Seq, f.Problem))
			}
			if got := strings.Join(found, "; "); got != tt.want || report.Intact != (tt.want == "") || report.Entries != len(tt.log) {
				t.Errorf("%+v\n%s\nwant %s", report, got, tt.want)
			}
		})
	}
}

func TestHeads(t *testing.T) {
	r := chain(t, 3)[2]
	h := audit.Head{Seq: 3, Hash: r.Hash}
	if again, err := audit.ParseHead(" " + strings.ToUpper(h.String()) + "\n"); err != nil || again != h {
		t.Errorf("%v %v", again, err)
	}
	for _, bad := range []string{"", "3", "x:" + r.Hash, "3:abc", "0:" + r.Hash} {
		if h, err := audit.ParseHead(bad); err == nil {
			t.Errorf("%q is %v", bad, h)
		}
	}
}

// Texts of clients are bounded and stay text.
func TestFieldsAreBounded(t *testing.T) {
	r, err := audit.Seal(audit.Entry{User: "a\xff", Object: strings.Repeat("ä", 1000)}, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := r.Entry(); err != nil || e.User != "a�" || len(e.Object) > 304 || !strings.HasSuffix(e.Object, "ä…") {
		t.Errorf("%+v %v", e, err)
	}
}
