package demo

import (
	"fmt"
	"slices"
	"strings"
)

// A buyer is what orders need of a customer.
type buyer struct {
	id       int
	since    date
	business bool
}

var countryCodes = map[string]string{
	"Germany": "DE", "France": "FR", "Spain": "ES", "United Kingdom": "UK", "Ireland": "IE", "Denmark": "DK", "Sweden": "SE",
}

func (s *shop) makeCustomers() {
	s.customers = &table{
		name: "customers", file: "customers.csv", format: "csv",
		about: "Everybody with an account. Some people have two.",
		columns: []column{
			{"customer_id", "BIGINT", "Key, rising with the day of sign-up."},
			{"name", "VARCHAR", "First and last name."},
			{"email", "VARCHAR", "Mail address as typed. Compare in lower case: the same address twice is the same person."},
			{"phone", "VARCHAR", "Phone number; often NULL."},
			{"city", "VARCHAR", "City of the invoice address."},
			{"country", "VARCHAR", "Country by name; some are in capitals or a two-letter code."},
			{"segment", "VARCHAR", "consumer or business."},
			{"birth_year", "BIGINT", "Year of birth; 1900 means that the field was left as it was."},
			{"newsletter", "BOOLEAN", "Whether the customer wants mail; NULL = never asked."},
			{"signup_date", "DATE", "Day on which the account was opened, from 2022 on."},
		},
	}
	d := s.draw("customers")
	n := s.options.scaledRows(2400)
	days := make([]date, n)
	opened := dateOf(2022, 1, 10)
	for i := range days {
		days[i] = opened + date(d.IntN(int(lastDay-opened)-20))
	}
	slices.Sort(days)
	for i, day := range days {
		id := 10001 + i
		row := s.person(d, id, day)
		if i > 60 && d.perMille(18) {
			row = s.duplicateAccount(d, s.customers.rows[d.IntN(i-30)], id, day)
		}
		s.customers.rows = append(s.customers.rows, row)
		s.buyers = append(s.buyers, buyer{id, day, row[6] == "business"})
	}
	for _, row := range s.customers.rows {
		if row[3] == nil {
			s.count.noPhone++
		}
		if row[7] == 1900 {
			s.count.oddBirth++
		}
		if countryCodes[row[5].(string)] == "" {
			s.count.countrySpelling++
		}
	}
}

func (s *shop) person(d random, id int, since date) []any {
	p := pick(d, places)
	name := pick(d, p.people.first) + " " + pick(d, p.people.last)
	country := p.country
	switch d.IntN(40) {
	case 0:
		country = strings.ToUpper(country)
	case 1:
		country = countryCodes[country]
	}
	segment := "consumer"
	if d.perMille(140) {
		segment = "business"
	}
	birth := d.intBetween(1945, 2004)
	if d.perMille(30) {
		birth = 1900
	}
	return []any{
		id, name, fmt.Sprintf("%s.%d@example.%s", mailName(name), id, pick(d, []string{"com", "net", "org"})),
		nullUnless(!d.perMille(220), fmt.Sprintf("+%d 555 %06d", d.intBetween(31, 49), d.IntN(1000000))),
		p.city, country, segment, birth, nullUnless(!d.perMille(120), d.perMille(420)), since,
	}
}

// duplicateAccount returns the same person with another account, opened later.
func (s *shop) duplicateAccount(d random, first []any, id int, since date) []any {
	s.count.twins++
	row := slices.Clone(first)
	name := first[1].(string)
	given, family, _ := strings.Cut(name, " ")
	row[1] = pick(d, []string{strings.ToUpper(name), plain.Replace(given) + " " + plain.Replace(family) + "-" + pick(d, english.last), string([]rune(given)[:1]) + ". " + family, family + ", " + given})
	row[0], row[9] = id, since
	if mail := first[2].(string); d.perMille(500) {
		row[2] = strings.ToUpper(mail)
	} else {
		row[2] = strings.ToUpper(mail[:1]) + mail[1:]
	}
	return row
}
