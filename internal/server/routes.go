package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// routes is the table of contents: every route, who may use it, what it does.
func (s *Server) routes(t *table) {
	get(t, nobody, "/healthz", "Is the process alive?", s.healthz)
	get(t, Viewer, "/readyz", "Which parts work?", s.readyz)
	get(t, Viewer, "/api/me", "Who am I?", s.me)
	get(t, Viewer, "/api/codes", "The table of error and reason codes", s.codes)

	// Ask
	post(t, Analyst, "/chat", "Say something and wait for the answer", s.chat)
	stream(t, Analyst, "POST", "/chat/stream", "Say something and follow what happens", s.chatStream)
	post(t, Analyst, "/api/chat", "Say something in a session and wait", s.sessionChat)
	get(t, Viewer, "/datasets", "What can be asked about", s.datasets)
	get(t, Viewer, "/datasets/{id}/schema", "The tables of a dataset", s.datasetSchema)

	s.openAIRoutes(t)

	// Runs
	post(t, Analyst, "/runs", "Run SQL, a query plan or Python without a model", s.directRun)
	get(t, Viewer, "/runs", "My runs, newest first", s.runs)
	get(t, Viewer, "/runs/{id}", "The audit document of a run", s.capsule)
	get(t, Viewer, "/runs/{id}/status", "How far a run is", s.runStatus)

	if s.cfg.Prompt != nil {
		get(t, Viewer, "/api/runs/{id}/prompts/{call}", "What the model saw in one of its calls", s.prompt)
	}
	if s.cfg.Replay != nil {
		post(t, Viewer, "/api/runs/{id}/replay", "Run it again from its recording and compare; no model is asked", s.replay)
	}

	// Threads
	get(t, Viewer, "/threads/{id}/messages", "What was said in a thread", s.messages)
	post(t, Analyst, "/api/turns", "Say something; the events of its thread tell what happens", s.beginTurn)
	get(t, Viewer, "/api/threads", "My threads, newest first", s.threads)
	get(t, Viewer, "/api/threads/{id}", "A thread as it stands", s.thread)
	stream(t, Viewer, "GET", "/api/threads/{id}/events", "Follow the log of a thread", s.threadEvents)
	get(t, Viewer, "/api/threads/{id}/moves/{seq}", "The moves that were looked at when a state was entered, with their guards and what those saw", s.consideredMoves)
	post(t, Analyst, "/api/threads/{id}/stop", "End the running turn", s.stop)
	post(t, Analyst, "/api/threads/{id}/fork", "Go another way from an earlier point", s.fork)
	if s.cfg.CompareThreads != nil {
		get(t, Viewer, "/api/threads/{id}/diff/{other}", "What two threads share, and where they part", s.compareThreads)
	}
	patch(t, Analyst, "/api/threads/{id}", "Give a thread another title", s.renameThread)
	if s.cfg.DeleteThread != nil {
		remove(t, Analyst, "/api/threads/{id}", "Delete a thread and its runs for good", s.deleteThread)
	}

	// Machines
	get(t, Viewer, "/api/machines", "The machines and those that did not load", s.machines)
	get(t, Viewer, "/api/machines/{name}", "A machine: settings, states, graph", s.machine)
	get(t, Analyst, "/api/machines/{name}/preview", "The states that are possible under some settings, with their prompts and tools, and the one that a question would begin in", s.preview)

	if s.cfg.Models != nil {
		get(t, Viewer, "/api/models", "The model that answers, and model servers found on this machine", s.models)
		post(t, Admin, "/api/models/local", "Agree to use a model of a server on this machine; what it can do is found out first, which may take a minute", s.useLocalModel)
		remove(t, Admin, "/api/models/local", "Take the agreement back", s.forgetLocalModel)
		put(t, Admin, "/api/models/key", "Give the key of a provider; it is tried first, kept for the server alone, and never told again", s.giveModelKey)
		remove(t, Admin, "/api/models/key", "Drop the key", s.forgetModelKey)
	}

	if s.cfg.Artifacts != nil {
		get(t, Viewer, "/api/artifacts", "My outputs, newest first, every version", s.artifacts)
		download(t, Viewer, "GET", "/api/artifacts/{id}", "Download an output", s.artifact)
		get(t, Viewer, "/api/artifacts/{id}/meta", "What an output is and what it was made of", s.artifactMeta)
	}
	if s.cfg.Results != nil && s.cfg.Artifacts != nil {
		download(t, Analyst, "POST", "/api/export", "Run SQL and download all its rows", s.export)
		get(t, Viewer, "/api/artifacts/{id}/rows", "Rows of an output that is a table", s.artifactRows)
		post(t, Analyst, "/api/runs/{id}/results/{call}", "Store all rows of a result of a run", s.repeat)
	}
	if s.cfg.Overview != nil {
		raw(t, Viewer, t.operation("GET", "/api/datasets", "The datasets, their tables and what is wrong with them"), "application/json", s.overview)
	}
	if s.cfg.Files != nil {
		upload(t, Analyst, "/api/datasets/{id}/files", "Put files into a dataset", s.uploadFiles)
		remove(t, Analyst, "/api/datasets/{id}/files/{file}", "Delete a file of a dataset", s.deleteFile)
	}
	if s.cfg.Meanings != nil {
		get(t, Viewer, "/api/datasets/{id}/meaning", "What a dataset means: its semantic model, checked against the tables", s.meaning)
		put(t, Analyst, "/api/datasets/{id}/meaning", "Check a semantic model and store it", s.replaceMeaning)
		get(t, Viewer, "/api/datasets/{id}/meaning/choices", "The choices that people wanted to be remembered", s.meaningChoices)
		post(t, Analyst, "/api/datasets/{id}/meaning/choices", "Remember a choice: write it into the semantic model", s.rememberChoice)
		remove(t, Analyst, "/api/datasets/{id}/meaning/choices/{choice}", "Forget a remembered choice", s.forgetChoice)
	}
	if s.cfg.Verified != nil {
		get(t, Viewer, "/api/datasets/{id}/meaning/verified", "The questions whose plans people approved", s.listVerified)
		post(t, Analyst, "/api/datasets/{id}/meaning/verified", "Keep a question with the plan of its answer as verified", s.addVerified)
		remove(t, Analyst, "/api/datasets/{id}/meaning/verified/{verified}", "Forget a verified question", s.removeVerified)
	}
	if s.cfg.Documents != nil {
		get(t, Viewer, "/api/documents", "The documents that I may see", s.documents)
		upload(t, Analyst, "/api/documents", "Add documents to a collection or a thread", s.uploadDocuments)
		get(t, Viewer, "/api/documents/search", "Find passages that answer a question", s.searchDocuments)
		get(t, Viewer, "/api/documents/{id}", "The text at a place of a document", s.openDocument)
		remove(t, Analyst, "/api/documents/{id}", "Delete a document", s.deleteDocument)
	}
	if s.cfg.Sources != nil {
		get(t, Viewer, "/api/sources", "The sources", s.sources)
		post(t, Admin, "/api/sources", "Add a source", s.addSource)
		get(t, Viewer, "/api/sources/{alias}", "Rows of a source", s.previewSource)
		remove(t, Admin, "/api/sources/{alias}", "Remove a source; its data stays where it is", s.removeSource)
		post(t, Analyst, "/api/sources/{alias}/load-scoped", "Rows of a source under conditions", s.loadScoped)
	}
	if s.cfg.Refresh != nil {
		post(t, Analyst, "/api/sources/{alias}/refresh", "Copy a database anew, with the tables that it has now", s.refreshSource)
	}
	if s.cfg.Profile != nil {
		get(t, Viewer, "/api/sources/{alias}/profile", "What the columns of a source hold", s.profile)
	}
	if s.cfg.Audit != nil {
		get(t, Admin, "/api/audit", "Who did what, newest first", s.auditEntries)
		get(t, Admin, "/api/audit/verify", "Was the audit log changed?", s.verifyAudit)
	}
	if s.cfg.Metrics != nil {
		t.handle(Admin, "GET /metrics", s.cfg.Metrics)
	}
	if s.cfg.Page != nil {
		(&builtPage{files: s.cfg.Page}).routes(t)
	}
	for path, h := range s.cfg.Extra {
		t.handle(Analyst, path, h)
	}
}

// build puts the guards around the routes, the outermost last.
func (s *Server) build() (http.Handler, error) {
	mux := http.NewServeMux()
	t := &table{mux: mux, actions: s.actions, bodyBytes: s.cfg.BodyBytes, bodyTime: s.cfg.BodyTimeout}
	t.api = humago.New(mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI:    "3.1.0",
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName)},
			Info: &huma.Info{
				Title: "Interlock", Version: s.cfg.Version,
				Description: "Ask, analyse and reconcile data. Errors are problem details (RFC 9457) with a code of /api/codes.",
			},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{problemFromHuma},
	})
	t.api.UseMiddleware(withPlainContext)
	s.routes(t)
	s.describeReply(t.api.OpenAPI().Components.Schemas)
	if err := t.describe(len(s.users.known) > 0); err != nil {
		return nil, err
	}
	h := unrouted(mux)
	h = s.bounded(h)
	h = s.admitted(h)
	h = s.limited(h)
	h = s.gate.guard(h)
	h = hardened(h)
	return s.logged(h), nil
}
