package i18n

import (
	"context"
	"strconv"
	"time"
)

// Date writes the day of t, such as "2 March 2027". The zone is the one t carries.
func Date(ctx context.Context, t time.Time) string {
	return T(ctx, "date.day", strconv.Itoa(t.Day()), month(ctx, t.Month()), strconv.Itoa(t.Year()))
}

// DateTime writes the day and the minute of t, such as "2 March 2027, 10:31".
func DateTime(ctx context.Context, t time.Time) string {
	return T(ctx, "date.minute", Date(ctx, t), t.Format("15:04"))
}

func month(ctx context.Context, m time.Month) string {
	switch m {
	case time.January:
		return T(ctx, "date.january")
	case time.February:
		return T(ctx, "date.february")
	case time.March:
		return T(ctx, "date.march")
	case time.April:
		return T(ctx, "date.april")
	case time.May:
		return T(ctx, "date.may")
	case time.June:
		return T(ctx, "date.june")
	case time.July:
		return T(ctx, "date.july")
	case time.August:
		return T(ctx, "date.august")
	case time.September:
		return T(ctx, "date.september")
	case time.October:
		return T(ctx, "date.october")
	case time.November:
		return T(ctx, "date.november")
	default:
		return T(ctx, "date.december")
	}
}
