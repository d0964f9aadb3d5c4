package fault

import "slices"

// An Entry is one row of the table.
type Entry struct {
	Code    Code
	Meaning string
	Status  int    // HTTP
	Hint    string // for the model, sent with the failure
	Advice  string // for the person
	Curable bool   // another attempt with other arguments may succeed
}

// The codes. Lower case unless an outside contract spells them otherwise.
const (
	Internal            Code = "internal"
	BadRequest          Code = "bad_request"
	NotFound            Code = "not_found"
	Unauthorized        Code = "unauthorized"
	Forbidden           Code = "forbidden"
	ForeignOrigin       Code = "foreign_origin"
	TooLarge            Code = "too_large"
	TooMany             Code = "too_many"
	Unavailable         Code = "unavailable"
	ShuttingDown        Code = "shutting_down"
	InvalidArguments    Code = "invalid_arguments"
	InvalidState        Code = "invalid_state"
	ToolNotAllowed      Code = "tool_not_allowed"
	UnknownTool         Code = "unknown_tool"
	FeatureDisabled     Code = "FEATURE_DISABLED"
	ApprovalRefused     Code = "approval_refused"
	OutcomeUnknown      Code = "outcome_unknown"
	ToolChanged         Code = "tool_changed"
	ToolFailed          Code = "tool_failed"
	ToolUsedUp          Code = "tool_used_up"
	ToolTimeout         Code = "tool_timeout"
	DuplicateCall       Code = "duplicate_tool_call_skipped"
	DuplicateArtifact   Code = "duplicate_artifact_prevented"
	EmptyPythonRetried  Code = "empty_python_payload_retried"
	EmptyPayload        Code = "empty_payload"
	CardClosed          Code = "card_closed"
	BadAnswer           Code = "bad_answer"
	BadCommand          Code = "bad_command"
	ThreadBusy          Code = "thread_busy"
	ThreadNotFound      Code = "thread_not_found"
	RunNotFound         Code = "run_not_found"
	DatasetNotFound     Code = "dataset_not_found"
	MachineNotFound     Code = "machine_not_found"
	MachineInvalid      Code = "machine_invalid"
	BadSetting          Code = "bad_setting"
	SourceNotRegistered Code = "source_not_registered"
	SQLPolicy           Code = "SQL_POLICY_VIOLATION"
	SQLError            Code = "sql_error"
	PlanInvalid         Code = "PLAN_VALIDATION_ERROR"
	BadMeaning          Code = "bad_meaning"
	CannotAnswer        Code = "cannot_answer"
	QueryTimeout        Code = "query_timeout"
	QueryMemory         Code = "query_memory"
	QueryCancelled      Code = "query_cancelled"
	BadFilter           Code = "bad_filter"
	SourceUnreadable    Code = "source_unreadable"
	DocumentUnreadable  Code = "document_unreadable"
	DocumentEncrypted   Code = "document_encrypted"
	DocumentNoText      Code = "document_no_text"
	ModelFailed         Code = "model_failed"
	ModelTimeout        Code = "model_timeout"
	ModelRateLimited    Code = "model_rate_limited"
	ModelKeyMissing     Code = "model_key_missing"
	ModelCannot         Code = "model_cannot"
	ModelContext        Code = "model_context"
	ModelRefused        Code = "model_refused"
	ModelBadOutput      Code = "model_bad_output"
	LimitIterations     Code = "limit_iterations"
	LimitSeconds        Code = "limit_seconds"
	LimitTokens         Code = "limit_tokens"
	LimitDollars        Code = "limit_dollars"
	Stopped             Code = "stopped"
	Interrupted         Code = "interrupted"
	StoreFailed         Code = "store_failed"
	Conflict            Code = "conflict"
	// Codes of the Python sandbox.
	PyPolicy      Code = "policy"
	PyUserError   Code = "user_error"
	PyMemory      Code = "memory"
	PyCPUTime     Code = "cpu_time"
	PyWallTime    Code = "wall_time"
	PyOutputLimit Code = "output_limit"
	PyResultError Code = "result_error"
	PyDied        Code = "died"
	PyUnavailable Code = "sandbox_unavailable"
)

var table = []Entry{
	{Internal, "a defect of Interlock or its surroundings", 500, "Do not retry; tell the person that an internal error happened.", "Look into the server's log for this request id.", false},
	{BadRequest, "the request does not have the form that is asked for", 400, "Correct the request.", "Correct the named part and send it again.", true},
	{NotFound, "there is nothing under this name", 404, "Check the name.", "Check the name; list what exists.", true},
	{Unauthorized, "a token is needed", 401, "", "Send a valid token in the Authorization header.", false},
	{Forbidden, "this user may not do that", 403, "", "Ask an admin for the role.", false},
	{ForeignOrigin, "the request came from another site or host name", 403, "", "Open Interlock by the address it listens on, or allow the origin in the settings.", false},
	{TooLarge, "the input is larger than allowed", 413, "Send less.", "Send less, or raise the limit in the settings.", true},
	{TooMany, "too many at once", 429, "Wait.", "Wait a moment and try again.", false},
	{Unavailable, "a part that this needs is not available on this machine", 503, "This cannot be used now; go on without it.", "Run `interlock doctor`: it says what is missing and how to get it.", false},
	{ShuttingDown, "the server is shutting down", 503, "", "Try again in a moment. A turn that was cut short goes on by itself when a server runs again.", false},
	{InvalidArguments, "the arguments of a call do not fit its schema", 422, "Read the listed problems and call again with corrected arguments.", "The model sent wrong arguments; it was told so.", true},
	{InvalidState, "the machine has no way from here to there, or a needed fact is missing", 409, "That call is not possible from the present state; do something that the state allows.", "See the machine's graph: it shows which steps come first.", false},
	{ToolNotAllowed, "the present state does not offer this tool", 403, "Use only the tools that are offered now: an earlier call may have changed them.", "The model asked for a tool that its state does not offer; it was not run.", false},
	{UnknownTool, "no tool has this name", 404, "Use only the tools that you were given.", "The model asked for a tool that does not exist.", false},
	{FeatureDisabled, "a setting has switched this off", 403, "This is switched off; do it another way and do not ask for it again.", "Switch it on in the settings of this machine.", false},
	{ApprovalRefused, "a person refused this call", 403, "The person refused; do not ask for the same again.", "You refused this call.", false},
	{OutcomeUnknown, "the process died while this ran; it may or may not have happened", 500, "It is unknown whether this happened; check before doing it again.", "Check whether it happened before asking for it again.", false},
	{ToolChanged, "the server declares this tool in another way than it did when it was found", 409, "Look for the tool again and read its new description before you call it.", "A server changed a tool after it was found; look at what it says now before you allow it again.", false},
	{ToolFailed, "the tool failed", 500, "Try another way.", "See the message.", true},
	{ToolUsedUp, "the tool failed too often in this turn and was taken away", 403, "This tool failed too often and is gone for this turn; tell the person.", "Ask again in a new turn; the earlier failures say what to change.", false},
	{ToolTimeout, "the tool took longer than allowed", 504, "Ask for less.", "Ask for less, or raise the time limit.", true},
	{DuplicateCall, "the same call was made before and nothing it reads has changed", 200, "This is the earlier result; do not call it again.", "Say `run again` to have it run anew.", false},
	{DuplicateArtifact, "an equal artifact exists", 200, "Use the existing artifact.", "The existing artifact is used.", false},
	{EmptyPythonRetried, "a call came without code and was sent back once", 422, "Send the call again with the code in its argument.", "The model sent an empty call and was asked once more.", true},
	{EmptyPayload, "nothing is left of the argument after cleaning", 422, "Send the call again with the text in its argument.", "The model sent an empty call.", true},
	{CardClosed, "the question is no longer open", 409, "", "Reload: the thread has gone on since the question was asked.", false},
	{BadAnswer, "the card has no such answer, or its fields are wrong", 422, "", "Choose one of the answers that the card lists.", true},
	{BadCommand, "the machine has no such command here", 422, "", "Choose one of the commands that the thread lists.", true},
	{ThreadBusy, "a turn is running in this thread", 409, "", "Wait for it or stop it.", false},
	{ThreadNotFound, "there is no such thread", 404, "", "List the threads with `interlock thread list`.", false},
	{RunNotFound, "there is no such run", 404, "", "List the runs with `interlock run list`.", false},
	{DatasetNotFound, "there is no such dataset", 404, "List the datasets and use one of their ids.", "List the datasets with `interlock sources list`.", true},
	{MachineNotFound, "there is no such machine", 404, "", "List them with `interlock machine list`.", false},
	{MachineInvalid, "the definition has errors and was not loaded", 422, "", "Run `interlock machine check` on it: each finding names a repair.", false},
	{BadSetting, "no such setting, or a value outside its bounds", 422, "", "`interlock machine settings NAME` lists those of a machine, `interlock config` those of the program.", true},
	{SourceNotRegistered, "no source has this alias", 404, "List the sources and use one of their aliases.", "List the sources with `interlock sources list`.", true},
	{SQLPolicy, "the statement is not one that may run here", 403, "Do not repeat this statement. Only one SELECT over the dataset's own tables is possible.", "Only one SELECT or WITH over the dataset's own tables may run.", true},
	{SQLError, "the engine could not run the statement", 422, "Read the message, look at the schema and correct the statement.", "Correct the statement.", true},
	{BadMeaning, "the semantic model of a dataset has errors", 422, "", "Correct every listed finding.", false},
	{PlanInvalid, "the query plan has errors", 422, "Correct every listed problem.", "Correct every listed problem.", true},
	{CannotAnswer, "the data, or the built-in planner, cannot answer this question", 422, "Say plainly what is missing.", "Ask about what the data hold, or set a model that understands more.", false},
	{QueryTimeout, "the query took longer than allowed", 504, "Ask for less data or a simpler query.", "Ask for less, or raise the time limit.", true},
	{QueryMemory, "the query needed more memory than allowed", 507, "Ask for less data: filter or aggregate first.", "Ask for less, or raise the memory limit.", true},
	{QueryCancelled, "the query was cancelled", 499, "", "It was stopped.", false},
	{BadFilter, "a filter names a wrong column, operator or value", 422, "Use a column, operator and value that the message lists.", "Use a column, operator and value that the message lists.", true},
	{SourceUnreadable, "the source cannot be read", 422, "This source cannot be read; use another.", "Check the file or the connection.", false},
	{DocumentUnreadable, "the document cannot be read", 422, "This document cannot be read; use another.", "Check the file, or save it anew in another format.", false},
	{DocumentEncrypted, "the document is protected by a password", 422, "This document cannot be read; use another.", "Save it without a password and add it again.", false},
	{DocumentNoText, "the document holds pictures of pages and no text", 422, "This document cannot be read; use another.", "Have its text recognised (OCR) and add it again.", false},
	{ModelFailed, "the model's provider failed", 502, "", "Try again; if it stays so, see the provider's status.", false},
	{ModelTimeout, "the model did not answer in time", 504, "", "Try again, or raise the time limit.", false},
	{ModelRateLimited, "the model's provider limits the rate", 429, "", "Wait a little, or use another model.", false},
	{ModelKeyMissing, "the provider that was asked for has no key", 503, "", "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or choose the provider `offline`.", false},
	{ModelCannot, "no model that can be asked is able to do this kind of step", 503, "", "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or --openai-url for a server of your own.", false},
	{ModelContext, "the request is longer than the model can read", 502, "", "Ask in a new thread, load the model with a longer context, or use a model that reads more.", false},
	{ModelRefused, "the model declined to answer", 502, "", "Put the question differently.", false},
	{ModelBadOutput, "the model's answer does not have the form that was asked for", 502, "Answer exactly in the form that is asked for.", "Try again, or use another model.", true},
	{LimitIterations, "the turn used up its model calls", 200, "", "Ask it to continue, or raise `limits.iterations`.", false},
	{LimitSeconds, "the turn used up its time", 200, "", "Ask it to continue, or raise `limits.seconds`.", false},
	{LimitTokens, "the turn used up its tokens", 200, "", "Ask it to continue, or raise `limits.tokens`.", false},
	{LimitDollars, "the turn used up its money", 200, "", "Ask it to continue, or raise `limits.dollars`.", false},
	{Stopped, "the person stopped the turn", 200, "", "You stopped it.", false},
	{Interrupted, "the process ended again and again while the turn ran", 200, "", "Ask for less at once, or in another way; the server's log says why its process ended.", false},
	{StoreFailed, "the log could not be written or read", 503, "", "Check disk space and permissions of the state folder.", false},
	{Conflict, "it was changed meanwhile, or what is there already stands in the way", 409, "", "Try again.", false},
	{PyPolicy, "the code uses something the sandbox does not allow", 403, "Use only what the message allows.", "The code was refused before it ran.", true},
	{PyUserError, "the code raised an exception", 422, "Read the line and message and correct the code.", "The code raised an exception.", true},
	{PyMemory, "the code needed more memory than allowed", 507, "Work on less data at a time.", "Raise the memory limit or work on less data.", true},
	{PyCPUTime, "the code used up its processor time", 504, "Do less or do it in SQL.", "Raise the time limit or do less.", true},
	{PyWallTime, "the code took longer than allowed", 504, "Do less or do it in SQL.", "Raise the time limit or do less.", true},
	{PyOutputLimit, "the code printed more than allowed", 413, "Print less; put tables into result_df.", "Print less.", true},
	{PyResultError, "the result of the code cannot be handed back", 422, "Set result_df to a DataFrame, Series, list, dict or plain value.", "The result has a type that cannot be shown.", true},
	{PyDied, "the Python process died", 500, "Try a simpler way.", "Try a simpler way.", true},
	{PyUnavailable, "the sandbox that the settings demand cannot be had here", 503, "Python cannot be used now; use SQL.", "Run `interlock doctor`: it says which layer is missing.", false},
}

var byCode = func() map[Code]*Entry {
	m := make(map[Code]*Entry, len(table))
	for i := range table {
		if m[table[i].Code] != nil {
			panic("fault: two entries for " + table[i].Code)
		}
		m[table[i].Code] = &table[i]
	}
	return m
}()

// Entry returns the row of the code. An unknown code gets the row of `tool_failed`, because
// tools from outside have codes of their own.
func (c Code) Entry() Entry {
	if e := byCode[c]; e != nil {
		return *e
	}
	e := *byCode[ToolFailed]
	e.Code = c
	return e
}

// SentBack reports whether a call that failed with this code was sent back to the model for
// another try, which does not count as a failure of its tool.
func (c Code) SentBack() bool { return c == EmptyPythonRetried }

// IsSlip reports whether the code says that arguments were not right. A slip is told and
// costs a model call; it does not count as a failure of the tool, which never ran.
func (c Code) IsSlip() bool { return c == InvalidArguments }

// Known reports whether the code is in the table.
func (c Code) Known() bool { return byCode[c] != nil }

// Table returns every code, in the order of the documentation.
func Table() []Entry { return slices.Clone(table) }
