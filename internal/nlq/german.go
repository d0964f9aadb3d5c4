package nlq

import (
	"regexp"
	"strings"
	"unicode"
)

// germanPhrases and germanWords lead from German to the English that the planner reads: words of
// grammar and general words of business, none of any particular data.
var germanPhrases = []struct{ from, to string }{
	{"wie viele", "how many"},
	{"wieviele", "how many"},
	{"wie viel", "how much"},
	{"wieviel", "how much"},
	{"wie hoch ist", "what is"},
	{"wie hoch war", "what was"},
	{"wie hoch", "what is"},
	{"bis zum", "until"},
	{"bis zur", "until"},
	{"bis ende", "until"},
	{"gab es", "were there"},
	{"gibt es", "are there"},
	{"im durchschnitt", "on average"},
	{"am meisten", "the most"},
	{"am häufigsten", "most often"},
	{"die meisten", "the most"},
	{"den meisten", "the most"},
	{"das meiste", "the most"},
	{"mehr als", "more than"},
	{"weniger als", "less than"},
	{"mindestens", "at least"},
	{"höchstens", "at most"},
	{"pro jahr", "per year"},
	{"je monat", "per month"},
	{"im jahr", "in"},
	{"im jahre", "in"},
	{"noch nicht", "not yet"},
	{"zeig mir", "show me"},
	{"zeige mir", "show me"},
	{"was ist mit", "what about"},
	{"und wie viele", "how many"},
	{"letzten monat", "last month"},
	{"letzter monat", "last month"},
	{"letztes jahr", "last year"},
	{"letzten jahr", "last year"},
	{"letzte woche", "last week"},
	{"dieses jahr", "this year"},
	{"diesen monat", "this month"},
	{"diesem jahr", "this year"},
	{"diesem monat", "this month"},
	{"in prozent", "in percent"},
	{"zum beispiel", ""},
	{"kannst du mir sagen", "please"},
	{"können sie mir sagen", "please"},
	{"könntest du mir sagen", "please"},
	{"könnten sie mir sagen", "please"},
	{"kannst du mir zeigen", "show me"},
	{"können sie mir zeigen", "show me"},
	{"ich möchte wissen", "please"},
	{"ich würde gerne wissen", "please"},
	{"ich hätte gerne", "please"},
	{"weißt du", "please"},
	{"wissen sie", "please"},
	{"vielen dank", "thanks"},
	{"danke schön", "thanks"},
}

var germanWords = indexGerman(`
welche=which welcher=which welches=which welchen=which wer=who was=what wann=when wo=where
der= die= das= den= dem= des= ein= eine= einen= einem= einer= es= wir= uns= unser= unsere= unseren= unserer= ich= mir= bitte=please danke=thanks hallo=hello guten= morgen= mal= eigentlich= denn=
ist=is sind=are war=was waren=were wurde=were wurden=were wird=is werden=are hat=has haben=have hatte=had hatten=had gab=were ging=went gingen=went kam=came kamen=came kommen=come
und=and oder=or nicht=not kein=no keine=no keinen=no ohne=without mit=with nur=only von=of vom=of aus=from für=for bei=at im=in am=on zu=to zum=to zur=to an=on auf=on seit=since vor=before bis=until zwischen=between über=over unter=under ab=from
nach=by pro=per je=per jede=each jeden=each jeder=each jedem=each
durchschnittlich=average durchschnittliche=average durchschnittlichen=average durchschnittlicher=average durchschnittliches=average durchschnitt=average mittlere=average gesamt=total gesamte=total gesamter=total insgesamt=total summe=sum anzahl=count zahl=count anteil=share prozentsatz=percentage höchste=highest höchsten=highest niedrigste=lowest größte=largest größten=largest kleinste=smallest teuerste=most-expensive billigste=cheapest älteste=oldest jüngste=youngest letzte=last letzten=last neueste=newest neue=new neuen=new
jahr=year jahre=year jahren=years quartal=quarter quartale=quarter monat=month monate=month monaten=months woche=week wochen=week tag=day tage=day tagen=days wochentag=weekday heute=today gestern=yesterday
januar=january februar=february märz=March april=april mai=May juni=june juli=july august=august september=september oktober=october november=november dezember=december
kunde=customer kunden=customers kundin=customer lieferant=supplier lieferanten=suppliers mitarbeiter=employees mitarbeiterin=employee mitarbeitern=employees angestellte=employees rechnung=invoice rechnungen=invoices bestellung=order bestellungen=orders auftrag=order aufträge=orders produkt=product produkte=products artikel=articles ware=goods verkauf=sale verkäufe=sales umsatz=revenue umsätze=revenue einnahmen=revenue gewinn=profit kosten=cost kost=cost preis=price preise=prices gebühr=fee gebühren=fees betrag=amount beträge=amounts menge=quantity wert=value
zahlung=payment zahlungen=payments konto=account konten=accounts vertrag=contract verträge=contracts abo=subscription abos=subscriptions abonnement=subscription abonnements=subscriptions lager=warehouse lagern=warehouses lagerhaus=warehouse sendung=shipment sendungen=shipments lieferung=delivery lieferungen=deliveries fracht=freight gewicht=weight land=country länder=countries stadt=city städte=cities region=region regionen=regions filiale=branch filialen=branches standort=location standorte=locations abteilung=department abteilungen=departments
patient=patient patienten=patients arzt=doctor ärzte=doctors termin=appointment termine=appointments besuch=visit besuche=visits behandlung=treatment behandlungen=treatments schüler=students student=student studenten=students lehrer=teachers kurs=course kurse=courses kursen=courses fach=subject fächer=subjects anmeldung=enrolment anmeldungen=enrolments prüfung=exam prüfungen=exams note=grade noten=grades klasse=class klassen=classes
reise=trip reisen=trips hotel=hotel hotels=hotels zimmer=rooms buchung=booking buchungen=bookings reservierung=reservation reservierungen=reservations gast=guest gäste=guests fahrzeug=vehicle fahrzeuge=vehicles auto=car autos=cars fahrer=driver maschine=machine maschinen=machines teil=part teile=parts projekt=project projekte=projects ticket=ticket tickets=tickets beschwerde=complaint beschwerden=complaints bewertung=rating bewertungen=ratings mitglied=member mitglieder=members spende=donation spenden=donations buch=book bücher=books ausleihe=loan ausleihen=loans verlag=publisher
segment=segment marke=brand marken=brands kategorie=category kategorien=categories art=type typ=type status=status name=name namen=names branche=industry branchen=industries grund=reason gründe=reasons kanal=channel
offen=open offene=open offenen=open offener=open bezahlt=paid bezahlte=paid bezahlten=paid abgesagt=cancelled abgesagte=cancelled storniert=cancelled stornierte=cancelled gekündigt=cancelled aktiv=active aktive=active aktiven=active geliefert=delivered überfällig=overdue überfällige=overdue überfälligen=overdue abgeschlossen=completed verloren=lost
deutschland=germany frankreich=france italien=italy spanien=spain polen=poland österreich=austria schweiz=switzerland niederlande=netherlands belgien=belgium schweden=sweden norwegen=norway dänemark=denmark finnland=finland tschechien=czechia ungarn=hungary großbritannien=united-kingdom england=england irland=ireland portugal=portugal griechenland=greece türkei=turkey usa=usa
teuer=expensive lang=long lange=long dauer=duration
`)

func indexGerman(text string) map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(text) {
		from, to, _ := strings.Cut(f, "=")
		m[from] = strings.ReplaceAll(to, "-", " ")
	}
	return m
}

// germanSigns are words that only a German sentence has.
var germanSigns = wordSet("wie viele viel der die das den dem und oder nicht kein keine im am zum zur für mit ohne nach pro je gab gibt wurde wurden waren sind haben hat wir welche welcher welches wer seit bis über ist von vom aus bei anzahl umsatz durchschnittliche durchschnittlicher durchschnittlichen")

// translate writes a German message in English, word by word. Messages in other languages stay as they are.
func translate(text string) (string, bool) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	signs, known := 0, 0
	for _, w := range words {
		if germanSigns[w] {
			signs++
		}
		if _, ok := germanWords[w]; ok {
			known++
		}
	}
	if signs == 0 || known+signs < 2 || strings.Contains(strings.ToLower(text), "how many") || strings.Contains(strings.ToLower(text), " the ") {
		return text, strings.Contains(text, "€") && decimalInText(text)
	}
	out := " " + endMarks.ReplaceAllString(text, " $0") + " "
	if neither := replaceFold(out, " weder ", " neither "); neither != out {
		out = replaceFold(neither, " noch ", " nor ")
	}
	for _, p := range germanPhrases {
		out = replaceFold(out, " "+p.from+" ", " "+p.to+" ")
	}
	var b strings.Builder
	for _, field := range strings.Fields(out) {
		core := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		to, ok := germanWord(strings.ToLower(core))
		if ok && core != "" {
			field = strings.Replace(field, core, to, 1)
		}
		b.WriteString(field + " ")
	}
	return strings.TrimSpace(b.String()), true
}

// endMarks are marks behind a word, which part it from the phrases that it ends.
var endMarks = regexp.MustCompile(`[?!,;:]+(\s|$)`)

func decimalInText(text string) bool {
	for _, w := range strings.Fields(text) {
		if v := strings.Trim(w, "€ ?.!,"); decimalComma.MatchString(v) || germanNumber.MatchString(v) {
			return true
		}
	}
	return false
}

// germanWord translates a word, a compound part by part.
func germanWord(w string) (string, bool) {
	if to, ok := germanWords[w]; ok {
		return to, true
	}
	for i := 4; i <= len(w)-3; i++ {
		head, tail := w[:i], w[i:]
		a, ok := germanWords[head]
		if !ok {
			a, ok = germanWords[strings.TrimSuffix(head, "s")]
		}
		b, ok2 := germanWords[tail]
		if ok && ok2 && a != "" && b != "" {
			return a + " " + b, true
		}
	}
	return w, false
}

func replaceFold(s, from, to string) string {
	for {
		i := strings.Index(strings.ToLower(s), from)
		if i < 0 {
			return s
		}
		s = s[:i] + to + s[i+len(from):]
		if to != "" && strings.Contains(strings.ToLower(to), from) {
			return s
		}
	}
}
