package handlers

import (
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/i18n"
	"docent/internal/llm"
	"docent/views"
)

// indexJob is the kind of the jobs that have the index follow the content.
const indexJob = "refresh_index"

// lateAfter is how long a job may wait before somebody should look.
const lateAfter = 2 * time.Minute

// status handles GET /admin/reports/status: whether what the site stands on works.
func (h *Handlers) status(c echo.Context) error {
	page := views.StatusPage{Admin: h.admin(c)}
	page.Rows = append(page.Rows, h.databaseStatus(c))
	page.Rows = append(page.Rows, h.folderStatus(c)...)
	page.Rows = append(page.Rows, h.indexStatus(c), h.queueStatus(c), h.modelStatus(c))
	return h.render(c, http.StatusOK, views.Status(page))
}

func (h *Handlers) databaseStatus(c echo.Context) views.StatusRow {
	ctx := c.Request().Context()
	row := views.StatusRow{Label: i18n.T(ctx, "status.database"), State: i18n.T(ctx, "status.database_ok", string(h.DB.Dialect())), Kind: components.NoticeOK}
	if err := h.DB.Ping(ctx); err != nil {
		row.Kind, row.State, row.Fix = components.NoticeDanger, i18n.T(ctx, "status.database_down"), i18n.T(ctx, "status.database_fix")
	}
	return row
}

func (h *Handlers) folderStatus(c echo.Context) []views.StatusRow {
	ctx := c.Request().Context()
	var rows []views.StatusRow
	for _, f := range h.Content.FileFolders() {
		path := "\u2066" + f.Path + "\u2069" // reads from the left in every language
		row := views.StatusRow{Label: i18n.T(ctx, "status.public_files"), State: i18n.T(ctx, "status.writable", path), Kind: components.NoticeOK}
		switch filepath.Base(f.Path) {
		case "private":
			row.Label = i18n.T(ctx, "status.private_files")
		case "derived":
			row.Label = i18n.T(ctx, "status.derived_files")
		}
		if f.Err != nil {
			row.Kind, row.State, row.Fix = components.NoticeDanger, i18n.T(ctx, "status.not_writable", path), i18n.T(ctx, "status.full_fix")
			if errors.Is(f.Err, fs.ErrPermission) {
				row.Fix = i18n.T(ctx, "status.permission_fix", path)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (h *Handlers) indexStatus(c echo.Context) views.StatusRow {
	ctx := c.Request().Context()
	row := views.StatusRow{Label: i18n.T(ctx, "status.index")}
	stats, err := h.Search.Stats(ctx)
	jobs, jobsErr := h.Jobs.State(ctx)
	switch waiting := jobs.ByKind[indexJob]; {
	case err != nil || jobsErr != nil:
		row.Kind, row.State, row.Fix = components.NoticeDanger, i18n.T(ctx, "status.index_down"), i18n.T(ctx, "status.index_fix")
	case stats.Chunks == 0:
		row.Kind, row.State, row.Fix = components.NoticeWait, i18n.T(ctx, "status.index_empty"), i18n.T(ctx, "status.index_fix")
	case waiting > 0:
		row.Kind, row.State = components.NoticeInfo, i18n.T(ctx, "status.index_behind", waiting)
	default:
		row.Kind, row.State = components.NoticeOK, i18n.T(ctx, "status.index_ok", stats.Documents, stats.Chunks, i18n.DateTime(ctx, stats.LastChange))
	}
	return row
}

func (h *Handlers) queueStatus(c echo.Context) views.StatusRow {
	ctx := c.Request().Context()
	row := views.StatusRow{Label: i18n.T(ctx, "status.queue"), Kind: components.NoticeOK}
	s, err := h.Jobs.State(ctx)
	switch {
	case err != nil:
		row.Kind, row.State, row.Fix = components.NoticeDanger, i18n.T(ctx, "status.queue_down"), i18n.T(ctx, "status.database_fix")
		return row
	case !s.Oldest.IsZero() && time.Since(s.Oldest) > lateAfter:
		row.Kind, row.Fix = components.NoticeDanger, i18n.T(ctx, "status.queue_late_fix")
	case s.Failed > 0 || s.Retrying > 0:
		row.Kind, row.Fix = components.NoticeWait, i18n.T(ctx, "status.queue_failed_fix")
	}
	row.State = i18n.T(ctx, "status.queue_state", s.Waiting, s.Running, s.Retrying, s.Failed)
	return row
}

func (h *Handlers) modelStatus(c echo.Context) views.StatusRow {
	ctx := c.Request().Context()
	row := views.StatusRow{Label: i18n.T(ctx, "status.model"), State: i18n.T(ctx, "status.model_ok", h.Answers.Model.Name()), Kind: components.NoticeOK}
	if h.Answers.Model.Name() == llm.OfflineName {
		row.Kind, row.State, row.Fix = components.NoticeInfo, i18n.T(ctx, "status.model_offline"), i18n.T(ctx, "status.model_fix")
	}
	return row
}
