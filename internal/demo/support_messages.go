package demo

import (
	"encoding/json"
	"fmt"
	"strings"
)

func (s *desk) openMessages() {
	s.messages = &table{
		name: "messages", file: "messages.ndjson", format: "ndjson", about: "What was written in the tickets, one object a line.",
		columns: []column{
			{"message_id", "BIGINT", "Key."},
			{"ticket_id", "VARCHAR", "The ticket."},
			{"author_type", "VARCHAR", "customer, agent or system."},
			{"author_id", "BIGINT", "customer_id or agent_id, by author_type; missing for the system."},
			{"sent_at", "TIMESTAMP", "When it was sent, UTC."},
			{"internal", "BOOLEAN", "A note that the customer does not see."},
			{"body", "VARCHAR", "The text."},
			{"attachments", "STRUCT(name VARCHAR, bytes BIGINT)[]", "List of files, each with name and bytes; missing = none."},
		},
	}
}

func (s *desk) openSatisfaction() {
	s.satisfaction = &table{
		name: "satisfaction", file: "satisfaction.json", format: "json", about: "What customers said when asked how it went, from the survey tool.",
		columns: []column{
			{"ticket_id", "VARCHAR", "The ticket. A few were rated twice."},
			{"score", "BIGINT", "1 bad to 5 good; 0 = question skipped, not a rating."},
			{"comment", "VARCHAR", "What they wrote; mostly missing."},
			{"answered_at", "TIMESTAMP", "When they answered."},
		},
	}
}

// opening and closing lines by category; %s is the subject.
var (
	greetings = []string{"Hello,", "Hi team,", "Good morning,", "Dear support,"}
	openings  = map[string][]string{
		"billing": {"we have a question about our subscription. %s.", "%s. Our finance team needs this by the end of the week."},
		"bug":     {"we see a problem since today: %s. It happens for every user at our site.", "%s. We tried another browser and cleared the cache, without change."},
		"how-to":  {"%s We looked into the handbook and did not find it.", "a colleague asked me: %s"},
		"account": {"%s, please. It is for our warehouse.", "%s. Can you help?"},

		"feature request": {"it would help us a lot to have this: %s.", "our planners ask for it every month: %s."},
	}
	replies = map[string][]string{
		"billing": {"a full refund is possible within 30 days of the charge; after that we credit unused months of an annual plan.", "I have checked your invoices. The correction will be on the next one."},
		"bug":     {"I can reproduce this and have passed it on to Tier 2 with your example.", "could you send us the time of the error and a screenshot? Then we find it in the log."},
		"how-to":  {"you find it under Settings, Data. The onboarding guide has a section with pictures.", "this takes three steps; I have written them down for you below."},
		"account": {"done. The new user got a mail with a link that is valid for 72 hours.", "an owner of the account has to confirm this; I have sent the request."},

		"feature request": {"thank you for the idea. I have added your vote to the list for the product team.", "this is on the list; the release notes will say when it comes."},
	}
	followUps  = []string{"Thank you, that worked.", "It still happens. What else can we try?", "Any news?", "Perfect, you can close this.", "We have attached the file."}
	workaround = map[string]string{
		"KI-104": "Until then, give every column a header before you export.",
		"KI-118": "Until then, we can set a temporary password by phone.",
		"KI-127": "Until then, enter the longer lead time at the first supplier.",
		"KI-139": "The second charge is refunded in full; you do not have to do anything.",
		"KI-152": "Only the chart is wrong, the export has the right times.",
		"KI-168": "Until then, turn off battery saving for the scanner app.",
		"KI-231": "Until then, split the file into parts of at most 50,000 rows.",
		"KI-236": "Until then, log in with the main domain of your company.",
		"KI-244": "Until then, set the season of the item to 'whole year'.",
	}
)

// addMessages writes the talk of a ticket: question, answer, and some turns more.
func (s *desk) addMessages(t *ticket) {
	d := s.draw("messages/" + t.id)
	say := func(kind string, author any, at stamp, internal bool, body string) {
		files := any(nil)
		if kind == "customer" && d.perMille(90) {
			files = json.RawMessage(fmt.Sprintf(`[{"name":%q,"bytes":%d}]`, pick(d, []string{"screenshot.png", "export.csv", "error.txt", "invoice.pdf"}), d.intBetween(2000, 900000)))
		}
		if author == nil {
			s.count.noAuthor++
		}
		s.messages.add(900001+len(s.messages.rows), t.id, kind, author, at, internal, body, files)
	}
	customer := any(t.client.id)
	opening := fmt.Sprintf(pick(d, openings[t.category]), t.subject)
	say("customer", customer, t.created, false, strings.ReplaceAll(pick(d, greetings)+" "+opening, "?.", "?"))
	if t.answered == 0 || t.agent == nil {
		if t.solved != 0 {
			say("system", nil, t.solved, true, "Closed without answer: duplicate or spam.")
		}
		return
	}
	agent := any(t.agent.id)
	body := pick(d, replies[t.category])
	if t.issue != nil {
		body = fmt.Sprintf("this is known issue %s. %s", t.issue.code, workaround[t.issue.code])
	}
	say("agent", agent, t.answered, false, "Hello, "+body)
	if t.escalated {
		say("system", nil, t.answered+60, true, "Escalated to the team Escalations.")
	}
	end := t.solved
	if end == 0 {
		end = (lastDay + 1).atSecond(0)
	}
	turns := d.IntN(3)
	for i := range turns {
		at := t.answered + (end-t.answered)*stamp(i+1)/stamp(turns+1)
		if i%2 == 0 {
			say("customer", customer, at, false, pick(d, followUps))
		} else {
			say("agent", agent, at, d.perMille(150), pick(d, []string{"We are still on it and will write by tomorrow.", "Customer is waiting for the next release.", "I have asked a colleague of Tier 2 to look at it."}))
		}
	}
	if t.solved != 0 && d.perMille(400) {
		say("system", nil, t.solved, true, "Marked as solved.")
	}
}

// surveyOff is when nobody was asked for three days, as the notes of the meeting say.
var surveyOff = dateOf(2025, 8, 4)

// addRating adds the ratings of some customers, which are worse after a long wait.
func (s *desk) addRating(t *ticket) {
	d := s.draw("satisfaction/" + t.id)
	if t.solved == 0 || !d.perMille(450) || surveyOff <= t.solved.day() && t.solved.day() < surveyOff+3 {
		return
	}
	kind := weightedNumbers(2, 4, 12, 34, 48)
	switch {
	case t.late:
		kind = weightedNumbers(22, 28, 26, 16, 8)
	case t.issue != nil:
		kind = weightedNumbers(6, 12, 26, 34, 22)
	}
	comments := [][]string{{"Waited far too long.", "Nobody understood the problem."}, {"Slow.", "Had to explain it twice."}, {"OK."}, {"Good, friendly."}, {"Quick and clear, thank you!", "Great help."}}
	once := func() {
		at := t.solved + stamp(d.intBetween(600, 3*secondsOfDay))
		if at >= (lastDay + 1).atSecond(0) {
			return
		}
		score := 1 + kind.pick(d)
		comment := nullUnless(d.perMille(250), pick(d, comments[score-1]))
		if d.perMille(6) {
			score, comment = 0, nil
			s.count.zeroScore++
		}
		s.satisfaction.add(t.id, score, comment, at)
	}
	before := len(s.satisfaction.rows)
	once()
	if len(s.satisfaction.rows) > before && d.perMille(8) {
		once()
		s.count.twice += len(s.satisfaction.rows) - before - 1
	}
}
