package components

import (
	"context"

	"docent/internal/i18n"
)

// statusWord is the one or two words that name a state.
func statusWord(ctx context.Context, s TurnState) string {
	switch s {
	case TurnSearching:
		return i18n.T(ctx, "status.searching")
	case TurnReading:
		return i18n.T(ctx, "status.reading")
	case TurnWriting:
		return i18n.T(ctx, "status.writing")
	case TurnDone:
		return i18n.T(ctx, "status.done")
	case TurnStopped:
		return i18n.T(ctx, "status.stopped")
	case TurnInterrupted:
		return i18n.T(ctx, "status.interrupted")
	case TurnCutOff:
		return i18n.T(ctx, "status.cutoff")
	case TurnRefused:
		return i18n.T(ctx, "status.refused")
	default:
		return i18n.T(ctx, "status.failed")
	}
}

// statusDetail is the half sentence after the status word.
func statusDetail(ctx context.Context, p TurnProps) string {
	switch p.State {
	case TurnSearching:
		return i18n.T(ctx, "status.searching_detail")
	case TurnReading, TurnWriting:
		return i18n.T(ctx, "status.sources", p.SourceCount)
	case TurnDone:
		switch {
		case p.CitedCount == 0:
			return i18n.T(ctx, "answer.uncited")
		case p.Offline:
			return i18n.T(ctx, "answer.offline_pages", p.CitedCount)
		default:
			return i18n.T(ctx, "answer.pages", p.CitedCount)
		}
	case TurnStopped, TurnInterrupted, TurnCutOff:
		if len(p.Blocks) == 0 {
			return i18n.T(ctx, "status.nothing_written")
		}
		return i18n.T(ctx, "status.kept")
	case TurnRefused:
		return i18n.T(ctx, "status.refused_detail")
	default:
		return i18n.T(ctx, "status.question_kept")
	}
}

// endNotice is the notice below a turn that gave no whole answer; ok is false
// where none is needed.
func endNotice(ctx context.Context, p TurnProps) (notice NoticeProps, ok bool) {
	switch p.State {
	case TurnStopped:
		notice = NoticeProps{Kind: NoticeInfo, Icon: IconStop, Title: i18n.T(ctx, "end.stopped"), Message: i18n.T(ctx, "end.stopped_text")}
	case TurnInterrupted:
		notice = NoticeProps{Kind: NoticeWait, Icon: IconOffline, Title: i18n.T(ctx, "end.interrupted"), Message: i18n.T(ctx, "end.interrupted_text")}
	case TurnCutOff:
		notice = NoticeProps{Kind: NoticeWait, Title: i18n.T(ctx, "end.cutoff"), Message: i18n.T(ctx, "end.cutoff_text")}
	case TurnFailed:
		notice = NoticeProps{Kind: NoticeDanger, Title: i18n.T(ctx, "end.failed"), Message: i18n.T(ctx, "end.failed_text")}
	default:
		return NoticeProps{}, false
	}
	switch {
	case p.Message != "":
		notice.Message = p.Message
	case p.State == TurnStopped && len(p.Blocks) == 0:
		notice.Message = "" // there is nothing to keep
	}
	return notice, true
}
