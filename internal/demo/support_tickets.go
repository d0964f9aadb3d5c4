package demo

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

var priorities = []string{"urgent", "high", "normal", "low"}

// targets are the minutes until the first response, by plan and priority, as
// documents/service-levels.md promises them.
var targets = [4][4]int{
	{480, 960, 1440, 2880},
	{240, 480, 1440, 2880},
	{60, 240, 480, 1440},
	{30, 120, 480, 1440},
}

// releases are the versions of documents/release-notes.md.
var releases = []struct {
	version string
	day     date
}{
	{"4.0", dateOf(2024, 1, 16)},
	{"4.1", dateOf(2024, 4, 9)},
	{"4.2", dateOf(2024, 7, 16)},
	{"4.3", dateOf(2024, 10, 8)},
	{"4.4", dateOf(2025, 1, 21)},
	{"4.5", dateOf(2025, 4, 15)},
	{"5.0", dateOf(2025, 7, 8)},
	{"5.1", dateOf(2025, 9, 30)},
	{"5.2", dateOf(2025, 12, 2)},
}

// A knownIssue is a known issue of documents/known-issues.html: from one release until
// the next, or still open.
type knownIssue struct {
	code     string
	release  int // index of releases
	weight   int // of a thousand tickets while it lasts
	category string
	subject  string
}

var troubles = []knownIssue{
	{"KI-104", 0, 60, "bug", "CSV export is missing the last column"},
	{"KI-118", 1, 50, "account", "Password reset mail does not arrive"},
	{"KI-127", 2, 55, "bug", "Reorder point ignores second supplier"},
	{"KI-139", 3, 60, "billing", "Charged twice after changing our plan"},
	{"KI-152", 4, 45, "bug", "Stock chart shows wrong time"},
	{"KI-168", 5, 70, "bug", "Scanner app logs us out all the time"},
	{"KI-231", 6, 260, "bug", "Import stops at 50,000 rows"},
	{"KI-236", 6, 90, "account", "Single sign-on keeps redirecting"},
	{"KI-244", 8, 110, "bug", "Forecast for January is empty"},
}

var subjects = map[string][]string{
	"billing":         {"Refund for unused months", "Question about our invoice", "Please change the billing address", "VAT number on the invoice", "We want a refund", "Payment by bank transfer"},
	"bug":             {"Page does not load", "Numbers differ between report and export", "Error 500 when saving a supplier", "Filter resets by itself", "Slow dashboard since this morning"},
	"how-to":          {"How do I import stock levels?", "How do I set safety stock?", "Can I share a dashboard?", "Where do I find the audit log?", "How do I connect our web shop?"},
	"account":         {"Add a new user", "User cannot log in", "Transfer ownership of the account", "Delete my data", "Turn on two-factor login"},
	"feature request": {"Export to Excel with formulas", "Dark mode", "More than two suppliers per item", "Webhook when stock is low"},
}

// A ticket while its row, messages and rating are made.
type ticket struct {
	id              string
	client          client
	agent           *agent
	issue           *knownIssue
	category        string
	subject         string
	priority        int
	created         stamp
	answered        stamp // 0 = never
	solved          stamp // 0 = not yet
	late, escalated bool
}

// deskDays weighs the days: growth, fewer tickets on weekends, and more in the weeks
// after a release, most of all after 5.0.
func deskDays() *weightedChoice[date] {
	days := &weightedChoice[date]{}
	for day := firstDay; day <= lastDay; day++ {
		weight := 1000 + int(day-firstDay)
		for _, r := range releases {
			if since := int(day - r.day); since >= 0 && since < 14 {
				weight += 40 * (14 - since)
			}
		}
		if day >= releases[6].day && day < releases[7].day {
			weight = weight * 16 / 10
		}
		if w := day.time().Weekday(); w == time.Saturday || w == time.Sunday {
			weight /= 4
		}
		days.add(weight, day)
	}
	return days
}

func (s *desk) makeTickets() {
	s.tickets = &table{
		name: "tickets", file: "tickets.csv", format: "csv", about: "One row a ticket. Times are UTC.",
		columns: []column{
			{"ticket_id", "VARCHAR", "Key, T- and a number that rises with created_at."},
			{"customer_id", "BIGINT", "Who asked. A few are not in customers."},
			{"agent_id", "BIGINT", "Who has the ticket; NULL = nobody yet."},
			{"subject", "VARCHAR", "Subject line of the first message."},
			{"category", "VARCHAR", "billing, bug, how-to, account or feature request; spelling of case varies."},
			{"priority", "VARCHAR", "urgent, high, normal or low; spelling of case varies."},
			{"channel", "VARCHAR", "mail, chat, phone or portal."},
			{"status", "VARCHAR", "open (our turn), pending (the customer's turn), solved, or closed (solved for 14 days)."},
			{"created_at", "TIMESTAMP", "When the customer wrote. Tickets count by this day."},
			{"first_response_at", "TIMESTAMP", "When an agent first answered; NULL = not (yet)."},
			{"solved_at", "TIMESTAMP", "When it was solved; NULL = not yet. A few lie before created_at."},
			{"handle_minutes", "BIGINT", "Minutes that agents worked on it, by their timer: not the time the customer waited. 9999 = timer left running."},
			{"product_version", "VARCHAR", "Release that the customer used, such as 4.3; NULL = unknown."},
			{"known_issue", "VARCHAR", "Code of a known issue (KI-231); NULL = none."},
			{"escalated", "BOOLEAN", "Whether it went to the team Escalations."},
			{"reopened", "BIGINT", "How often the customer came back after it was solved."},
		},
	}
	s.openMessages()
	s.openSatisfaction()
	d := s.draw("tickets")
	days := deskDays()
	when := make([]stamp, s.options.scaledRows(6000))
	for i := range when {
		when[i] = days.pick(d).atSecond(6*3600 + d.IntN(14*3600))
	}
	slices.Sort(when)
	for i, created := range when {
		t := s.newTicket(d, fmt.Sprintf("T-%05d", 20001+i), created)
		s.addTicket(d, t)
	}
}

func (s *desk) newTicket(d random, id string, created stamp) *ticket {
	t := &ticket{id: id, created: created, client: s.clientOn(d, created.day())}
	t.issue = issueOn(d, created.day())
	if t.issue != nil {
		t.category, t.subject = t.issue.category, t.issue.subject
	} else {
		t.category = pick(d, []string{"billing", "bug", "bug", "how-to", "how-to", "how-to", "account", "account", "feature request"})
		t.subject = pick(d, subjects[t.category])
	}
	t.priority = weightedNumbers(6, 18, 56, 20).pick(d)
	if t.category == "feature request" {
		t.priority = 3
	}
	t.escalated = t.priority <= 1 && d.perMille(140)
	team := "Tier 1"
	switch {
	case t.escalated:
		team = "Escalations"
	case t.category == "billing":
		team = "Billing"
	case t.category == "bug":
		team = "Tier 2"
	}
	t.agent = s.agentOn(d, team, created.day())
	s.setAnswerTimes(d, t)
	return t
}

// setAnswerTimes sets when the ticket was answered and solved, as far as that was before the
// export.
func (s *desk) setAnswerTimes(d random, t *ticket) {
	export := (lastDay + 1).atSecond(0)
	target := targets[t.client.plan][t.priority] * 60
	breach := 85
	if t.created.day() >= releases[6].day && t.created.day() < releases[7].day {
		breach = 260
	}
	t.late = d.perMille(breach)
	wait := target * d.intBetween(4, 96) / 100
	if t.late {
		wait = target * d.intBetween(104, 320) / 100
	}
	t.answered = t.created + stamp(wait)
	work := d.intBetween(1, 60) * 3600
	if t.issue != nil || t.escalated {
		work *= 4
	}
	t.solved = t.answered + stamp(work)
	if d.perMille(12) || t.answered >= export {
		t.answered = 0
	}
	if t.solved >= export || d.perMille(14) {
		t.solved = 0
		if t.answered == 0 && d.perMille(500) {
			t.agent = nil
		}
	}
}

func (s *desk) addTicket(d random, t *ticket) {
	customer := t.client.id
	if d.perMille(2) {
		customer = 8000 + d.IntN(900)
		s.count.orphans++
	}
	category, priority := t.category, priorities[t.priority]
	if d.perMille(30) {
		priority = changeCase(d, priority)
		s.count.spelling++
	} else if d.perMille(15) {
		category = changeCase(d, category)
		s.count.spelling++
	}
	status := "open"
	switch {
	case t.solved != 0 && t.solved.day() < lastDay-14:
		status = "closed"
	case t.solved != 0:
		status = "solved"
	case t.answered != 0 && d.perMille(600):
		status = "pending"
	}
	if t.solved != 0 && t.answered == 0 {
		s.count.unanswered++
	}
	solved := t.solved
	if solved != 0 && d.perMille(2) {
		solved = t.created - stamp(d.intBetween(600, 7200))
		s.count.backwards++
	}
	minutes := d.intBetween(3, 45) + 10*d.IntN(8)*boolInt(t.issue != nil || t.escalated)
	if d.perMille(3) {
		minutes = 9999
		s.count.far++
	}
	version := any(versionOn(d, t.created.day()))
	if t.issue != nil {
		version = releases[t.issue.release].version
	} else if d.perMille(80) {
		version = nil
		s.count.noVersion++
	}
	var agentID, issue any
	if t.agent != nil {
		agentID = t.agent.id
	}
	if t.issue != nil {
		issue = t.issue.code
	}
	reopened := 0
	if t.solved != 0 {
		reopened = weightedNumbers(90, 8, 2).pick(d)
	}
	s.tickets.add(t.id, customer, agentID, t.subject, category, priority, pick(d, []string{"mail", "mail", "mail", "chat", "chat", "phone", "portal"}), status,
		t.created, nullUnless(t.answered != 0, t.answered), nullUnless(solved != 0, solved), minutes, version, issue, t.escalated, reopened)
	s.addMessages(t)
	s.addRating(t)
}

// clientOn picks a customer of that day; large plans write more.
func (s *desk) clientOn(d random, day date) client {
	n := max(1, sort.Search(len(s.clients), func(i int) bool { return s.clients[i].since > day }))
	best := s.clients[d.IntN(n)]
	for range 3 {
		if other := s.clients[d.IntN(n)]; d.IntN(plans[best.plan].ticketShare+plans[other.plan].ticketShare) >= plans[best.plan].ticketShare {
			best = other
		}
	}
	return best
}

func (s *desk) agentOn(d random, team string, day date) *agent {
	members := s.teams[team]
	for range 20 {
		if a := &members[d.IntN(len(members))]; a.hired <= day && day < a.end-10 {
			return a
		}
	}
	return &s.teams["Tier 1"][0]
}

// issueOn is the known issue behind a ticket of that day, mostly none.
func issueOn(d random, day date) *knownIssue {
	at := d.IntN(1000)
	for i := range troubles {
		k := &troubles[i]
		over := day < releases[k.release].day || k.release+1 < len(releases) && day >= releases[k.release+1].day
		if over {
			continue
		}
		if at < k.weight {
			return k
		}
		at -= k.weight
	}
	return nil
}

// versionOn is a release that was out, mostly the newest.
func versionOn(d random, day date) string {
	n := 0
	for n < len(releases)-1 && releases[n+1].day <= day {
		n++
	}
	if n > 0 && d.perMille(200) {
		n--
	}
	return releases[n].version
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
