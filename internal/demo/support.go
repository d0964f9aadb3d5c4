package demo

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed documents
var supportDocuments embed.FS

// support is the help desk of Tidewell, which makes software for planning stock.
func support(o Options) dataset {
	s := &desk{options: o}
	s.makeAgents()
	s.makeCustomers()
	s.makeTickets()
	return dataset{
		id:    "support",
		name:  "Tidewell support desk",
		about: "Tickets, messages and ratings of a software firm's support desk, 2024 and 2025, with its policies, release notes and known issues as documents.",
		story: "Tidewell makes software for planning stock and sells it by subscription in four plans. The tables were exported on 2025-12-31 and cover all tickets of 2024 and 2025; times are UTC. " +
			"Release 5.0 in July 2025 brought two faults that filled the queue until 5.1. The folder `documents` holds the texts that agents work by; response targets, versions and known issues there are those of the tickets.",
		prompts: []string{
			"How many tickets were created per month in 2025?",
			"Which agent has the most tickets?",
			"What is the average score by team?",
			"What is the average first response time by plan?",
			"Which known issue caused the most tickets, and is there a workaround?",
			"When may a customer get a refund, and how many billing tickets ask for one?",
		},
		tables: []*table{s.agents, s.customers, s.tickets, s.messages, s.satisfaction},
		relations: []relation{
			{"tickets.customer_id", "customers.customer_id"},
			{"tickets.agent_id", "agents.agent_id"},
			{"customers.success_manager_id", "agents.agent_id"},
			{"messages.ticket_id", "tickets.ticket_id"},
			{"satisfaction.ticket_id", "tickets.ticket_id"},
		},
		glossary: map[string]string{
			"first response time": "Minutes from tickets.created_at to tickets.first_response_at, by the clock, nights and weekends included.",
			"resolution time":     "Time from tickets.created_at to tickets.solved_at.",
			"SLA breach":          "First response later than the target of the customer's plan and the ticket's priority (see documents/service-levels.md), or none although the target has passed.",
			"backlog":             "Tickets that are open or pending on the day in question.",
			"CSAT":                "Share of ratings of 4 or 5 among all ratings from 1 to 5. A score of 0 is no rating.",
			"satisfaction":        "Average of satisfaction.score over scores from 1 to 5.",
			"escalated":           "Handed over to the team Escalations; tickets.escalated is true.",
			"active customer":     "A customer with seats above 0.",
			"MRR":                 "Monthly recurring revenue: customers.mrr, in euro.",
			"time":                "Ambiguous: first response time, resolution time or handle_minutes (work on the ticket). Ask which is meant.",
		},
		flaws:     s.flaws(),
		documents: documents(),
	}
}

func documents() map[string][]byte {
	entries, err := supportDocuments.ReadDir("documents")
	if err != nil {
		panic("demo: the documents are not embedded: " + err.Error())
	}
	out := map[string][]byte{}
	for _, e := range entries {
		content, err := supportDocuments.ReadFile(path.Join("documents", e.Name()))
		if err != nil {
			panic("demo: " + err.Error())
		}
		out[e.Name()] = content
	}
	return out
}

// A desk is the dataset while it is made.
type desk struct {
	options      Options
	agents       *table
	customers    *table
	tickets      *table
	messages     *table
	satisfaction *table

	teams   map[string][]agent
	clients []client

	count struct {
		noTeam, twins, oddSince, noSeats                         int
		orphans, spelling, backwards, unanswered, noVersion, far int
		zeroScore, twice, noAuthor                               int
	}
}

func (s *desk) draw(topic string) random { return newRandom(s.options.Seed, "support/"+topic) }

func (s *desk) flaws() []flaw {
	c := s.count
	return []flaw{
		{c.noTeam, "agents without team"},
		{c.twins, "companies that are in the list twice, spelt differently"},
		{c.oddSince, "customers whose `since` is not an ISO date (14/03/2023) or is 'unknown', so that the column is text"},
		{c.noSeats, "customers with 0 seats: they left and are still in the list"},
		{c.orphans, "tickets of customers who are not in the list"},
		{c.spelling, "tickets whose priority or category is spelt with capitals"},
		{c.backwards, "tickets solved before they were created, by an agent's wrong clock"},
		{c.unanswered, "tickets that were solved without any first response: spam and duplicates"},
		{c.noVersion, "tickets without product version"},
		{c.far, "tickets with handle_minutes of 9999, a timer that nobody stopped"},
		{c.zeroScore, "ratings of 0, which mean that the question was skipped"},
		{c.twice, "tickets rated twice"},
		{c.noAuthor, "messages without author_id, written by the system"},
	}
}

// An agent is what tickets need of an agent.
type agent struct {
	id         int
	hired, end date
}

func (s *desk) makeAgents() {
	s.agents = &table{
		name: "agents", file: "agents.csv", format: "csv", about: "The people who answer.",
		columns: []column{
			{"agent_id", "BIGINT", "Key."},
			{"name", "VARCHAR", "First and last name."},
			{"team", "VARCHAR", "Tier 1, Tier 2, Billing, Escalations or Success; NULL for one or two."},
			{"email", "VARCHAR", "Mail address."},
			{"hired_on", "DATE", "First day."},
			{"left_on", "DATE", "Last day; NULL = still here."},
		},
	}
	d := s.draw("agents")
	s.teams = map[string][]agent{}
	teams := []string{"Tier 1", "Tier 1", "Tier 1", "Tier 2", "Tier 2", "Billing", "Escalations", "Success"}
	used := map[string]bool{}
	for i := range 28 {
		p := pick(d, places)
		name := pick(d, p.people.first) + " " + pick(d, p.people.last)
		for used[name] {
			name = pick(d, p.people.first) + " " + pick(d, p.people.last)
		}
		used[name] = true
		a := agent{id: 11 + i, hired: dateOf(2020, 1, 6) + date(d.IntN(1400)), end: lastDay + 1}
		left := any(nil)
		if i >= 16 && d.perMille(300) {
			a.end = firstDay + date(d.intBetween(200, 700))
			left = a.end
		}
		team := teams[i%len(teams)]
		listed := any(team)
		if i == 19 {
			listed = nil
			s.count.noTeam++
		}
		s.teams[team] = append(s.teams[team], a)
		s.agents.add(a.id, name, listed, mailName(name)+"@tidewell.example", a.hired, left)
	}
}

// A client is what tickets need of a customer.
type client struct {
	id    int
	plan  int // index of plans
	since date
}

var plans = []struct {
	name        string
	seat        money // a month
	from, to    int   // seats
	share       int
	ticketShare int
}{
	{"Starter", 900, 1, 5, 38, 2},
	{"Team", 1900, 4, 25, 32, 5},
	{"Business", 3900, 15, 120, 22, 11},
	{"Enterprise", 5900, 80, 600, 8, 26},
}

func (s *desk) makeCustomers() {
	s.customers = &table{
		name: "customers", file: "customers.csv", format: "csv", about: "Companies with a subscription, one row each; some are there twice.",
		columns: []column{
			{"customer_id", "BIGINT", "Key."},
			{"company", "VARCHAR", "Name of the company."},
			{"contact_name", "VARCHAR", "Who writes to us."},
			{"email", "VARCHAR", "Mail address of the contact."},
			{"country", "VARCHAR", "Country by name."},
			{"plan", "VARCHAR", "Starter, Team, Business or Enterprise."},
			{"seats", "BIGINT", "Paid users; 0 = has left."},
			{"mrr", moneyKind, "Monthly recurring revenue in euro: seats times the price of the plan."},
			{"since", "VARCHAR", "Start of the subscription: mostly YYYY-MM-DD, some DD/MM/YYYY or 'unknown'."},
			{"success_manager_id", "BIGINT", "Agent of the team Success; NULL for small plans."},
		},
	}
	d := s.draw("customers")
	share := weightedNumbers(plans[0].share, plans[1].share, plans[2].share, plans[3].share)
	for i := range s.options.scaledRows(620) {
		p, plan := pick(d, places), share.pick(d)
		company, contact := firmName(d, p), pick(d, p.people.first)+" "+pick(d, p.people.last)
		country := p.country
		if i > 40 && d.perMille(20) {
			first := s.customers.rows[d.IntN(i)]
			company, country = strings.ToUpper(plain.Replace(first[1].(string))), first[4].(string)
			s.count.twins++
		}
		since := dateOf(2020, 6, 1) + date(d.IntN(2000))
		written := since.String()
		if d.perMille(45) {
			written = since.time().Format("02/01/2006")
			s.count.oddSince++
		} else if d.perMille(10) {
			written = "unknown"
			s.count.oddSince++
		}
		seats := d.intBetween(plans[plan].from, plans[plan].to)
		if d.perMille(35) {
			seats = 0
			s.count.noSeats++
		}
		manager := any(nil)
		if plan >= 2 {
			manager = pick(d, s.teams["Success"]).id
		}
		id := 2001 + i
		s.customers.add(id, company, contact, fmt.Sprintf("%s@customer%d.example", mailName(contact), id), country, plans[plan].name,
			seats, plans[plan].seat*money(seats), written, manager)
		s.clients = append(s.clients, client{id, plan, since})
	}
	slices.SortStableFunc(s.clients, func(a, b client) int { return int(a.since - b.since) })
}
