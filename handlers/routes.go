package handlers

import (
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
	site := e.Group("", h.identify)
	site.GET("/session/token", h.sessionToken)

	e.GET("/healthz", h.healthy)
	e.GET("/readyz", h.ready)
	e.GET("/static/*", echo.WrapHandler(static.Handler()))

	answers := site.Group("/ai-answers", h.requires(account.UseAnswers))
	answers.POST("/question", h.ask, limitBody(questionLimit), h.guardPublic)
	answers.GET("/conversations/:id", h.conversation)
	answers.POST("/conversations/:id/delete", h.deleteConversation, limitBody(formLimit), h.guardPublic)
	answers.GET("/turns/:id/events", h.turnEvents)
	answers.POST("/turns/:id/stop", h.stopTurn, limitBody(formLimit), h.guardPublic)

	site.GET("/files/*", h.file)
	site.GET("/*", h.page) // also /answers and /search, in every language

	user := e.Group("/user", h.identify, noStore)
	user.GET("/login", h.loginForm)
	user.POST("/login", h.login, limitBody(formLimit), h.guardPublic)
	user.GET("/signin/:token", h.signInLink)
	user.POST("/signin/:token", h.useSignInLink, limitBody(formLimit), h.guardPublic)
	user.POST("/logout", h.logout, limitBody(formLimit), h.guardForm)
	own := user.Group("", h.signedIn)
	own.GET("", h.ownAccount)
	own.POST("/password", h.changePassword, limitBody(formLimit), h.guardForm)
	own.POST("/sessions/revoke", h.revokeSession, limitBody(formLimit), h.guardForm)
	own.POST("/sessions/revoke-others", h.revokeOtherSessions, limitBody(formLimit), h.guardForm)

	admin := e.Group("/admin", h.identify, noStore, h.requires(account.AccessAdministration))
	admin.GET("", h.dashboard)
	admin.GET("/content", h.contentList)
	people := admin.Group("/people", h.requires(account.AdministerAccounts))
	people.GET("", h.people)
	people.GET("/new", h.newPerson)
	people.POST("/new", h.createPerson, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/link", h.createSignInLink, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/block", h.blockPerson, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/unblock", h.unblockPerson, limitBody(adminLimit), h.guardForm)
	settings := admin.Group("/config/site", h.requires(account.AdministerSite))
	settings.GET("", h.siteSettings)
	settings.POST("", h.saveSiteSettings, limitBody(adminLimit), h.guardForm)
}
