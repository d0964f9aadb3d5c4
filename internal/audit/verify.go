package audit

import (
	"fmt"
	"strconv"
	"strings"

	"interlock/internal/fault"
)

// A Head is the last entry of a log at some time. Kept elsewhere, it shows later that nothing
// up to it was changed or cut.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Seq, h.Hash) }

// ParseHead reads "seq:hash".
func ParseHead(text string) (Head, error) {
	seq, hash, _ := strings.Cut(strings.TrimSpace(text), ":")
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil || n < 1 || len(hash) != 64 {
		return Head{}, fault.New(fault.BadRequest, "%q is no head of an audit log", text).
			Suggest("Give it as `interlock audit verify` printed it: the number, a colon and 64 letters.")
	}
	return Head{n, strings.ToLower(hash)}, nil
}

// A Breach is something that is wrong with a log.
type Breach struct {
	Seq     int64  `json:"seq" doc:"The entry where it shows"`
	Problem string `json:"problem"`
}

// maxFindings bounds a report: after one forgery all is lost anyway.
const maxFindings = 100

// A Verification is what was found.
type Verification struct {
	Entries  int      `json:"entries"`
	Head     Head     `json:"head" doc:"Keep it elsewhere: it shows later that nothing up to it was changed or cut"`
	Intact   bool     `json:"intact"`
	Findings []Breach `json:"findings"`
}

// A Verifier checks records in the order in which they are stored.
type Verifier struct {
	report Verification
	kept   []Head // that must be in the log
	runs   map[string]bool
}

// NewVerifier checks a log that must hold these heads.
func NewVerifier(kept ...Head) *Verifier {
	return &Verifier{report: Verification{Findings: []Breach{}}, kept: kept, runs: map[string]bool{}}
}

func (v *Verifier) find(seq int64, format string, args ...any) {
	if len(v.report.Findings) < maxFindings {
		v.report.Findings = append(v.report.Findings, Breach{seq, fmt.Sprintf(format, args...)})
	}
}

// Add checks the next record. It is sealed with the hash that the record before it has now, so
// that one change is one finding.
func (v *Verifier) Add(r Record) {
	last := v.report.Head
	v.report.Entries++
	v.report.Head = Head{r.Seq, r.Hash}
	switch {
	case r.Seq == last.Seq+2:
		v.find(r.Seq, "the entry %d before it was removed", last.Seq+1)
	case r.Seq > last.Seq+1:
		v.find(r.Seq, "the entries %d to %d before it were removed", last.Seq+1, r.Seq-1)
	case r.Seq <= last.Seq:
		v.find(r.Seq, "it comes after the entry %d", last.Seq)
	}
	e, err := r.Entry()
	switch {
	case err != nil:
		v.find(r.Seq, "it cannot be read")
	case e.Seq != r.Seq:
		v.find(r.Seq, "it was the entry %d", e.Seq)
	}
	if sealOf(last.Hash, r.Body) != r.Hash {
		v.find(r.Seq, "it was changed, or is not the one that followed the entry %d", last.Seq)
	}
	if e.Run != "" {
		v.runs[e.Run] = true
	}
	for _, h := range v.kept {
		if h.Seq == r.Seq && h.Hash != r.Hash {
			v.find(r.Seq, "it is not the entry that was the head: it or an earlier one was changed, and all after that sealed again")
		}
	}
}

// End reports. last is the highest number that was ever given to an entry, and runs are those
// that the log of threads holds since the first entry; each began with an entry.
func (v *Verifier) End(last int64, runs []string) Verification {
	r := &v.report
	for _, h := range v.kept {
		last = max(last, h.Seq)
	}
	if last > r.Head.Seq {
		v.find(last, "the log ends with the entry %d: what came after it was cut off", r.Head.Seq)
	}
	for _, run := range runs {
		if !v.runs[run] {
			v.find(r.Head.Seq, "the run %s is in the log of threads, and no entry says who began it", run)
		}
	}
	r.Intact = len(r.Findings) == 0
	return *r
}

// Text says in a line what was found.
func (r Verification) Text() string {
	if r.Intact {
		return fmt.Sprintf("%d entries, each sealed by the next; head %s", r.Entries, r.Head)
	}
	return fmt.Sprintf("%d entries; the log was changed: %d findings", r.Entries, len(r.Findings))
}
