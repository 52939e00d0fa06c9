package handlers

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"docent/internal/account"
	"docent/static"
)

// Sizes of request bodies, in bytes.
const (
	questionLimit = 64 << 10
	formLimit     = 64 << 10
	adminLimit    = 256 << 10
)

// routes is every address of the site. A POST route declares how much it reads and
// what proves that the site's own pages sent it: guardPublic or guardForm.
func (h *Handlers) routes(e *echo.Echo) {
	site := section{echo: e}
	site.GET("/session/token", h.sessionToken)

	site.GET("/healthz", h.healthy)
	site.GET("/readyz", h.ready)
	site.GET("/static/*", echo.WrapHandler(static.Handler()))

	answers := site.under("/ai-answers", h.requires(account.UseAnswers))
	answers.POST("/question", h.ask, limitBody(questionLimit), h.guardPublic)
	answers.GET("/conversations/:id", h.conversation)
	answers.POST("/conversations/:id/delete", h.deleteConversation, limitBody(formLimit), h.guardPublic)
	answers.GET("/turns/:id/events", h.turnEvents)
	answers.POST("/turns/:id/stop", h.stopTurn, limitBody(formLimit), h.guardPublic)

	site.GET("/files/*", h.file)
	site.GET("/*", h.page) // also /answers and /search, in every language

	user := site.under("/user", noStore)
	user.GET("/login", h.loginForm)
	user.POST("/login", h.login, limitBody(formLimit), h.guardPublic)
	user.GET("/signin/:token", h.signInLink)
	user.POST("/signin/:token", h.useSignInLink, limitBody(formLimit), h.guardPublic)
	user.POST("/logout", h.logout, limitBody(formLimit), h.guardForm)
	own := user.under("", h.signedIn)
	own.GET("", h.ownAccount)
	own.POST("/password", h.changePassword, limitBody(formLimit), h.guardForm)
	own.POST("/sessions/revoke", h.revokeSession, limitBody(formLimit), h.guardForm)
	own.POST("/sessions/revoke-others", h.revokeOtherSessions, limitBody(formLimit), h.guardForm)

	admin := site.under("/admin", noStore, h.requires(account.AccessAdministration))
	admin.GET("", h.dashboard)
	admin.GET("/content", h.contentList)
	people := admin.under("/people", h.requires(account.AdministerAccounts))
	people.GET("", h.people)
	people.GET("/new", h.newPerson)
	people.POST("/new", h.createPerson, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/link", h.createSignInLink, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/block", h.blockPerson, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/unblock", h.unblockPerson, limitBody(adminLimit), h.guardForm)
	settings := admin.under("/config/site", h.requires(account.AdministerSite))
	settings.GET("", h.siteSettings)
	settings.POST("", h.saveSiteSettings, limitBody(adminLimit), h.guardForm)
}

// A section is routes that begin alike and share middleware. It stands in for
// echo's groups, which answer 404 where a route exists for another method.
type section struct {
	echo       *echo.Echo
	prefix     string
	middleware []echo.MiddlewareFunc
}

func (s section) under(prefix string, m ...echo.MiddlewareFunc) section {
	return section{s.echo, s.prefix + prefix, slices.Concat(s.middleware, m)}
}

// GET answers HEAD too: the server drops the body.
func (s section) GET(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) {
	s.echo.Match([]string{http.MethodGet, http.MethodHead}, s.prefix+path, h, slices.Concat(s.middleware, m)...)
}

func (s section) POST(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) {
	s.echo.POST(s.prefix+path, h, slices.Concat(s.middleware, m)...)
}
