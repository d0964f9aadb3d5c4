package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the full-text search that ours is compared with

	"interlock/internal/document"
	"interlock/internal/document/documenttest"
	"interlock/internal/embed"
	"interlock/internal/retrieve"
	"interlock/internal/retrieve/retrievetest"
)

const (
	documentCount = 10
	wordsInPage   = 350
	tablesInIndex = 10_000
	embeddingTime = 2 * time.Minute // at most, of what the encoder is measured with
)

// documents measures the search of documents and tables.
type documents struct {
	dir   string
	pages int // of each document
	index *retrieve.Index
}

func newDocuments(dir string, pages int) *documents { return &documents{dir: dir, pages: pages} }

func (d *documents) close() error {
	if d.index == nil {
		return nil
	}
	return d.index.Close()
}

func (d *documents) cases() []Case {
	name := func(what string) string {
		return fmt.Sprintf("documents, %d of %d pages, %s", documentCount, d.pages, what)
	}
	words := name("read and full text of SQLite alone")
	return []Case{
		{Name: words, Run: d.addWords},
		{Name: name("found by words"), Base: words, Run: d.addByWords},
		{Name: name("found by meaning, in two minutes at most"), Run: d.addByMeaning},
		{Name: "documents, a question, full text of SQLite alone", Run: d.askWords},
		{Name: "documents, a question", Base: "documents, a question, full text of SQLite alone", Run: d.ask},
		{Name: "documents, memory of this process at most", Run: d.memory},
		{Name: "tables, a question among 10,000", Run: d.askTables},
	}
}

// folder makes the documents, of words that occur as often as words do.
func (d *documents) folder() (string, error) {
	dir := filepath.Join(d.dir, "documents")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	random := rand.New(rand.NewPCG(1, 1))
	frequency := rand.NewZipf(random, 1.1, 4, uint64(len(vocabulary)-1))
	for i := range documentCount {
		pages := make([]string, d.pages)
		for p := range pages {
			var text strings.Builder
			for w := range wordsInPage {
				text.WriteString(vocabulary[frequency.Uint64()])
				switch {
				case w%90 == 89:
					text.WriteString(".\n\n")
				case w%15 == 14:
					text.WriteString(". ")
				default:
					text.WriteByte(' ')
				}
			}
			pages[p] = text.String()
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("manual-%d.pdf", i)), documenttest.PDF(pages...), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// addWords does what an index of words alone costs: read the documents and insert their pages.
func (d *documents) addWords(ctx context.Context) (r Result, err error) {
	dir, err := d.folder()
	if err != nil {
		return r, err
	}
	path := filepath.Join(d.dir, "words.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "CREATE VIRTUAL TABLE pages USING fts5 (content, tokenize='porter unicode61')"); err != nil {
		return r, err
	}
	begin := time.Now()
	reader := document.NewReader(document.Config{})
	defer reader.Close()
	for i := range documentCount {
		doc, err := reader.ReadFile(ctx, filepath.Join(dir, fmt.Sprintf("manual-%d.pdf", i)))
		if err != nil {
			return r, err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return r, err
		}
		for _, p := range doc.Parts {
			if _, err := tx.ExecContext(ctx, "INSERT INTO pages VALUES (?)", p.Text); err != nil {
				return r, errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return r, err
		}
	}
	return Result{Took: time.Since(begin), Rows: int64(documentCount * d.pages), Bytes: fileSize(path)}, nil
}

// addByWords is how long documents take until they are found by their words: the first answer.
func (d *documents) addByWords(ctx context.Context) (Result, error) {
	return d.add(ctx, "by-words.db", retrieve.StageReading)
}

// addByMeaning is how long pages take until they are found by meaning as well, and how many are after two minutes.
func (d *documents) addByMeaning(ctx context.Context) (Result, error) {
	if !embed.Describe().Model {
		return Result{}, fmt.Errorf("%w: %s", errMissing, embed.Describe().Detail)
	}
	return d.add(ctx, "by-meaning.db", "")
}

// errEnough ends an Add after the stage that is measured.
var errEnough = errors.New("measured")

func (d *documents) add(ctx context.Context, name, until string) (r Result, err error) {
	dir, err := d.folder()
	if err != nil {
		return r, err
	}
	path := filepath.Join(d.dir, name)
	x, err := retrieve.Open(retrieve.Config{Path: path})
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pages := documentCount * d.pages
	begin, used := time.Now(), processorTime()
	var embedding time.Time // when it began
	_, err = x.Add(ctx, retrieve.AddRequest{Collection: "bench", Path: dir, Progress: func(p retrieve.Progress) {
		fmt.Fprintf(os.Stderr, "\r%s %d of %d   ", p.Stage, p.Done, p.Total)
		switch {
		case p.Stage == retrieve.StageReading:
		case until == retrieve.StageReading:
			cancel(errEnough)
		case embedding.IsZero():
			embedding = time.Now()
		case time.Since(embedding) > embeddingTime:
			pages = documentCount * d.pages * p.Done / p.Total
			cancel(errEnough)
		}
	}})
	fmt.Fprintf(os.Stderr, "\rprocessor time without the worker %s\n", (processorTime() - used).Round(time.Millisecond))
	took := time.Since(begin)
	if errors.Is(context.Cause(ctx), errEnough) {
		err = nil
	}
	if d.index != nil {
		err = errors.Join(err, d.index.Close())
	}
	d.index = x
	return Result{Took: took, Rows: int64(pages), Bytes: fileSize(path)}, err
}

func fileSize(path string) int64 {
	var sum int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func (d *documents) askWords(ctx context.Context) (r Result, err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(d.dir, "words.db")+"?mode=ro")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return bestOf(func(i int) (int64, error) {
		rows, err := db.QueryContext(ctx, "SELECT content FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT 10", strings.Join(questionWords(i), " OR "))
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		n := int64(0)
		for rows.Next() {
			n++
		}
		return n, rows.Err()
	})
}

func (d *documents) ask(ctx context.Context) (Result, error) {
	if d.index == nil {
		return Result{}, fmt.Errorf("%w: no index was made", errMissing)
	}
	return bestOf(func(i int) (int64, error) {
		found, err := d.index.Search(ctx, retrieve.Query{Text: strings.Join(questionWords(i), " ") + "?"})
		return int64(len(found)), err
	})
}

// questionWords are some words, different ones each time.
func questionWords(i int) []string {
	var out []string
	for w := range 6 {
		out = append(out, vocabulary[(i*7+w*w*31+40)%len(vocabulary)])
	}
	return out
}

// bestOf measures the best of at least five within two seconds.
func bestOf(do func(i int) (int64, error)) (Result, error) {
	var best Result
	end := time.Now().Add(2 * time.Second)
	for i := 0; i < 5 || time.Now().Before(end); i++ {
		begin := time.Now()
		n, err := do(i)
		if err != nil {
			return best, err
		}
		if took := time.Since(begin); best.Took == 0 || took < best.Took {
			best = Result{Took: took, Rows: n}
		}
	}
	return best, nil
}

// memory is the most that this process has had in memory.
func (d *documents) memory(context.Context) (Result, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return Result{}, err
	}
	return Result{Bytes: r.Maxrss << 10}, nil
}

func (d *documents) askTables(ctx context.Context) (r Result, err error) {
	x, err := retrieve.Open(retrieve.Config{Path: filepath.Join(d.dir, "tables.db")})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := x.StoreTables(ctx, retrieve.TableSet{Source: "synthetic", Tables: retrievetest.Tables(tablesInIndex, 1)}); err != nil {
		return r, err
	}
	short, cancel := context.WithTimeout(ctx, embeddingTime)
	defer cancel()
	if err := x.EmbedTables(short); err != nil && short.Err() == nil {
		return r, err
	}
	questions := []string{"What is the monthly budget of each project?", "Which vessels waited for a berth last week?", "How many patients missed their booking?", "Average price per barrel and region", "Who approved the refund?"}
	return bestOf(func(i int) (int64, error) {
		found, err := x.SearchTables(ctx, retrieve.TableQuery{Text: questions[i%len(questions)], Limit: 5})
		return int64(len(found)), err
	})
}

// vocabulary is what the documents are made of, frequent words first.
var vocabulary = strings.Fields(`the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up said what its
about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many off before must through years where much your way well down should because each just those people mister how too little state good very make world still own see men work long here get both between life being under never day same another know while last might us great old year come since against go came right used take three
pump valve pressure filter engine gear bearing shaft oil seal hose tank sensor cable switch panel display menu button alarm fault code reset power voltage current fuse ground motor belt chain brake wheel axle frame bolt nut washer torque wrench clean inspect replace install remove adjust tighten loosen check measure record report manual warranty service technician operator customer supplier delivery invoice order storage transport temperature humidity vibration noise speed flow rate limit setting value range maximum minimum normal emergency stop start procedure step warning caution danger safety glove goggles helmet ventilation chemical solvent grease lubricant interval schedule maintenance calibration accuracy tolerance drawing dimension weight height width depth length material steel aluminium rubber plastic glass copper brass software version update network address password user account permission backup export import file folder table column row query index search result`)
