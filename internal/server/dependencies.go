package server

import (
	"context"
	"encoding/json"
	"io"
	"iter"

	"interlock/internal/artifact"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/machine"
	"interlock/internal/schema"
	"interlock/internal/store"
)

// Engine is what the server asks of the engine.
type Engine interface {
	Runner
	Reader
	Previewer
	Renamer
}

// A Renamer gives threads other titles.
type Renamer interface {
	Rename(ctx context.Context, thread, title, user string) error
}

// A Previewer shows how a turn would begin, without beginning one, and how a state of one was chosen.
type Previewer interface {
	Preview(ctx context.Context, q engine.PreviewRequest) (engine.Preview, error)
	Considered(ctx context.Context, thread string, seq int64) ([]machine.Considered, error)
}

// A Runner changes threads.
type Runner interface {
	// Start makes a thread with its first turn; an input that is refused leaves none.
	Start(ctx context.Context, o engine.Opening, in engine.Input) (thread, run string, err error)
	Send(ctx context.Context, thread string, in engine.Input) (run string, err error)
	// Direct makes one tool call in a new thread, without a model.
	Direct(ctx context.Context, o engine.Opening, user, tool string, args json.RawMessage) (thread, run string, err error)
	Stop(ctx context.Context, thread string) error
	Fork(ctx context.Context, thread string, seq int64, owner string) (string, error)
}

// A Reader looks at threads. None of its methods checks who asks.
type Reader interface {
	Follow(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error]
	Wait(ctx context.Context, thread string) error
	View(ctx context.Context, thread string) (engine.View, error)
	Messages(ctx context.Context, thread string, limit int) ([]engine.Message, error)
	Reply(ctx context.Context, run string) (engine.Reply, error)
}

// An Index lists threads and runs; store.ErrNotFound says that there is no such one.
type Index interface {
	Thread(ctx context.Context, id string) (store.Thread, error)
	Threads(ctx context.Context, q store.Query) ([]store.Thread, error)
	Run(ctx context.Context, id string) (store.Run, error)
	Runs(ctx context.Context, q store.Query) ([]store.Run, error)
	// Sayings finds what an owner said under names that begin with this, the last name first.
	Sayings(ctx context.Context, owner, prefix string, limit int) ([]store.Saying, error)
}

// Machines finds definitions.
type Machines interface {
	Get(name string) (*machine.Machine, error)
	List() []*machine.Machine
	Broken() []machine.Report
}

// Datasets knows what can be asked about.
type Datasets interface {
	Datasets(ctx context.Context) ([]Dataset, error)
	// Schema gives the tables of a dataset, as JSON; dataset_not_found if there is none.
	Schema(ctx context.Context, id string) (any, error)
}

// A Dataset is a named group of sources.
type Dataset struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Prompts     []string `json:"prompts" doc:"Questions to begin with"`
	VersionHash string   `json:"version_hash"`
}

// Sources adds, shows and reads single sources by alias.
type Sources interface {
	Sources(ctx context.Context) (any, error)
	Add(ctx context.Context, s SourceSpec) (any, error)
	Remove(ctx context.Context, alias string) error
	Preview(ctx context.Context, alias string, offset, limit int) (any, error)
	LoadScoped(ctx context.Context, alias string, conditions []schema.Condition, limit int) (any, error)
}

// A SourceSpec says where a new source is.
type SourceSpec struct {
	URL        string   `json:"url" minLength:"1" doc:"A path, or an address: postgres://, mysql://, sqlite:, clickhouse://, trino://, snowflake://"`
	Alias      string   `json:"alias,omitempty" doc:"Its name; made of the address if absent"`
	Schema     string   `json:"schema,omitempty" maxLength:"200" doc:"Of a database: the schema whose tables it has"`
	Tables     []string `json:"tables,omitempty" maxItems:"1000" doc:"Of a database: the tables that it has; all if absent"`
	Remote     bool     `json:"remote,omitempty" doc:"Leave the rows of a database where they are: statements run there, in its dialect"`
	AllowOwner bool     `json:"allow_owner,omitempty" doc:"With remote: run statements in PostgreSQL even as a role that could do more than read; then the policy is the only wall"`
}

// Artifacts lists and opens stored outputs.
type Artifacts interface {
	// List gives the artifacts of this owner, of one thread or of all for "", newest first, every version.
	List(ctx context.Context, owner, thread string) ([]artifact.Meta, error)
	// Open gives an artifact of this owner; not_found if there is none.
	Open(ctx context.Context, owner, id string) (io.ReadSeekCloser, artifact.Meta, error)
}

// Results keeps the rows of statements as artifacts.
type Results interface {
	// Export runs a statement and stores all its rows as an artifact of this owner.
	Export(ctx context.Context, owner string, e Export) (artifact string, err error)
	// Repeat runs the statement of a recorded call again and stores all its rows.
	Repeat(ctx context.Context, owner string, r Repeat) (artifact string, err error)
	// Rows gives some rows of an artifact that is a table.
	Rows(ctx context.Context, owner, artifact string, p Page) (any, error)
}

// A Page says which rows of a table are wanted. Sort names a column; "" is the order
// in which they are stored. Find leaves the rows with this text in some column.
type Page struct {
	Offset, Limit int
	Sort          string
	Down          bool
	Find          string
}

// A Repeat says which call of a run is wanted whole, and as what.
type Repeat struct {
	Run, Call string
	Format    string
	// Today takes the data as they are now, where those of the run are gone.
	Today bool
}

// An Export says which rows are wanted, and as what.
type Export struct {
	Dataset string `json:"dataset_id" minLength:"1" maxLength:"200"`
	SQL     string `json:"sql" minLength:"1"`
	Format  string `json:"format" enum:"csv,ndjson,json,parquet,arrow,xlsx"`
}

// Files puts files into the folders of datasets and takes them out.
type Files interface {
	Store(ctx context.Context, f File, content io.Reader) (any, error)
	Delete(ctx context.Context, f File) error
	// Problems reads the files of a dataset and says what is wrong with them.
	Problems(ctx context.Context, dataset string) ([]FileProblem, error)
}

// A FileProblem says why a file cannot be read, or not all of it.
type FileProblem struct {
	File    string `json:"file"`
	Message string `json:"message"`
}

// A File is to be stored or deleted. Its name is what the client sent.
type File struct {
	Dataset, Name   string
	Replace, Create bool
	// User is who does it; "" is the operator, to whom all files belong that nobody uploaded.
	User string
}

// A Part is one thing the server depends on, for /readyz.
type Part struct {
	Name   string `json:"name"`
	Status string `json:"status" enum:"ok,degraded,failed"`
	Detail string `json:"detail,omitempty"`
}
