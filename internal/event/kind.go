package event

import (
	"encoding/json"
	"fmt"
)

// The kinds, in the order in which they appear in a turn.
const (
	KindThreadOpened    Kind = "thread_opened"
	KindTurnStarted     Kind = "turn_started"
	KindPersonCalled    Kind = "person_called"
	KindCommandGiven    Kind = "command_given"
	KindFactsChanged    Kind = "facts_changed"
	KindStateEntered    Kind = "state_entered"
	KindModelCalled     Kind = "model_called"
	KindThought         Kind = "thought"
	KindToken           Kind = "token"
	KindModelReplied    Kind = "model_replied"
	KindModelFailed     Kind = "model_failed"
	KindToolStarted     Kind = "tool_started"
	KindToolProgress    Kind = "tool_progress"
	KindToolReturned    Kind = "tool_returned"
	KindToolFailed      Kind = "tool_failed"
	KindToolRefused     Kind = "tool_refused"
	KindArtifactMade    Kind = "artifact_made"
	KindCardRaised      Kind = "card_raised"
	KindCardAnswered    Kind = "card_answered"
	KindCardClosed      Kind = "card_closed"
	KindStepDone        Kind = "step_done"
	KindTurnInterrupted Kind = "turn_interrupted"
	KindLimitReached    Kind = "limit_reached"
	KindFiguresTraced   Kind = "figures_traced"
	KindTurnEnded       Kind = "turn_ended"

	// Between turns:
	KindArtifactsRemoved Kind = "artifacts_removed"
	KindThreadMigrated   Kind = "thread_migrated"
	KindThreadRenamed    Kind = "thread_renamed"
)

// Decode decodes the body of a kind.
func Decode(k Kind, raw json.RawMessage) (Body, error) {
	switch k {
	case KindThreadOpened:
		return decode[ThreadOpened](k, raw)
	case KindTurnStarted:
		return decode[TurnStarted](k, raw)
	case KindPersonCalled:
		return decode[PersonCalled](k, raw)
	case KindCommandGiven:
		return decode[CommandGiven](k, raw)
	case KindFactsChanged:
		return decode[FactsChanged](k, raw)
	case KindStateEntered:
		return decode[StateEntered](k, raw)
	case KindModelCalled:
		return decode[ModelCalled](k, raw)
	case KindThought:
		return decode[Thought](k, raw)
	case KindToken:
		return decode[Token](k, raw)
	case KindModelReplied:
		return decode[ModelReplied](k, raw)
	case KindModelFailed:
		return decode[ModelFailed](k, raw)
	case KindToolStarted:
		return decode[ToolStarted](k, raw)
	case KindToolProgress:
		return decode[ToolProgress](k, raw)
	case KindToolReturned:
		return decode[ToolReturned](k, raw)
	case KindToolFailed:
		return decode[ToolFailed](k, raw)
	case KindToolRefused:
		return decode[ToolRefused](k, raw)
	case KindArtifactMade:
		return decode[ArtifactMade](k, raw)
	case KindCardRaised:
		return decode[CardRaised](k, raw)
	case KindCardAnswered:
		return decode[CardAnswered](k, raw)
	case KindCardClosed:
		return decode[CardClosed](k, raw)
	case KindStepDone:
		return decode[StepDone](k, raw)
	case KindTurnInterrupted:
		return decode[TurnInterrupted](k, raw)
	case KindLimitReached:
		return decode[LimitReached](k, raw)
	case KindFiguresTraced:
		return decode[FiguresTraced](k, raw)
	case KindTurnEnded:
		return decode[TurnEnded](k, raw)
	case KindArtifactsRemoved:
		return decode[ArtifactsRemoved](k, raw)
	case KindThreadMigrated:
		return decode[ThreadMigrated](k, raw)
	case KindThreadRenamed:
		return decode[ThreadRenamed](k, raw)
	}
	return nil, fmt.Errorf("unknown kind of event %q: the log was written by a newer Interlock", k)
}

func decode[T Body](k Kind, raw json.RawMessage) (Body, error) {
	var b T
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("decoding event %s: %w", k, err)
	}
	return b, nil
}

func (ThreadOpened) Kind() Kind     { return KindThreadOpened }
func (TurnStarted) Kind() Kind      { return KindTurnStarted }
func (PersonCalled) Kind() Kind     { return KindPersonCalled }
func (CommandGiven) Kind() Kind     { return KindCommandGiven }
func (FactsChanged) Kind() Kind     { return KindFactsChanged }
func (StateEntered) Kind() Kind     { return KindStateEntered }
func (ModelCalled) Kind() Kind      { return KindModelCalled }
func (Thought) Kind() Kind          { return KindThought }
func (Token) Kind() Kind            { return KindToken }
func (ModelReplied) Kind() Kind     { return KindModelReplied }
func (ModelFailed) Kind() Kind      { return KindModelFailed }
func (ToolStarted) Kind() Kind      { return KindToolStarted }
func (ToolProgress) Kind() Kind     { return KindToolProgress }
func (ToolReturned) Kind() Kind     { return KindToolReturned }
func (ToolFailed) Kind() Kind       { return KindToolFailed }
func (ToolRefused) Kind() Kind      { return KindToolRefused }
func (ArtifactMade) Kind() Kind     { return KindArtifactMade }
func (CardRaised) Kind() Kind       { return KindCardRaised }
func (CardAnswered) Kind() Kind     { return KindCardAnswered }
func (CardClosed) Kind() Kind       { return KindCardClosed }
func (StepDone) Kind() Kind         { return KindStepDone }
func (TurnInterrupted) Kind() Kind  { return KindTurnInterrupted }
func (LimitReached) Kind() Kind     { return KindLimitReached }
func (FiguresTraced) Kind() Kind    { return KindFiguresTraced }
func (TurnEnded) Kind() Kind        { return KindTurnEnded }
func (ArtifactsRemoved) Kind() Kind { return KindArtifactsRemoved }
func (ThreadMigrated) Kind() Kind   { return KindThreadMigrated }
func (ThreadRenamed) Kind() Kind    { return KindThreadRenamed }
