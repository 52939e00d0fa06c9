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
	contentLimit  = 8 << 20
)

// routes is every address of the site. A POST route declares how much it reads and
// what proves that the site's own pages sent it: guardPublic or guardForm.
func (h *Handlers) routes(e *echo.Echo) {
	site := section{echo: e}
	site.GET("/session/token", h.sessionToken)

	site.GET(healthURL, h.healthy)
	site.GET(readyURL, h.ready)
	site.GET("/static/*", echo.WrapHandler(static.Handler()))

	answers := site.under("/ai-answers", h.requires(account.UseAnswers))
	answers.POST("/question", h.ask, limitBody(questionLimit), h.guardPublic)
	answers.POST("/feedback", h.feedback, limitBody(formLimit), h.guardPublic)
	answers.GET("/openapi.json", h.openAPI)
	answers.GET("/conversations/:id", h.conversation)
	answers.POST("/conversations/:id/delete", h.deleteConversation, limitBody(formLimit), h.guardPublic)
	answers.GET("/turns/:id/events", h.turnEvents)
	answers.POST("/turns/:id/stop", h.stopTurn, limitBody(formLimit), h.guardPublic)
	answers.POST("/turns/:id/share", h.shareTurn, limitBody(formLimit), h.guardPublic)
	answers.POST("/turns/:id/unshare", h.unshareTurn, limitBody(formLimit), h.guardPublic)
	answers.GET("/turns/:id/markdown", h.turnMarkdown)
	answers.GET("/shared/:token", h.sharedAnswer)

	site.GET("/files/*", h.file)
	site.GET("/files/styles/:style/:file/:version", h.derivative)
	site.GET("/robots.txt", h.robots)
	site.GET("/sitemap.xml", h.sitemap)
	site.GET("/sitemap/:file", h.sitemapPart)
	site.GET("/language/:lang", h.chooseLanguage)
	site.GET(styleguideURL, h.styleguide)
	site.GET("/*", h.page, h.keepShells) // also /answers, /search and feeds, in every language

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
	edit := admin.under("/content")
	edit.GET("", h.contentList)
	edit.GET("/review", h.reviewList)
	edit.POST("/bulk", h.bulkContent, limitBody(adminLimit), h.guardForm)
	edit.GET("/suggest", h.suggestions)
	edit.GET("/picked", h.pickedMedium)
	edit.POST("/keep", h.keepForm, limitBody(contentLimit), h.guardForm)
	edit.POST("/discard", h.discardForm, limitBody(adminLimit), h.guardForm)
	edit.GET("/add", h.contentAdd)
	edit.GET("/add/:bundle", h.newNode)
	edit.POST("/add/:bundle", h.createNode, limitBody(contentLimit), h.guardForm)
	edit.GET("/:id", h.entityAddress)
	edit.GET("/:id/:lang", h.editNode)
	edit.POST("/:id/:lang", h.saveNode, limitBody(contentLimit), h.guardForm)
	edit.GET("/:id/:lang/revisions", h.nodeHistory)
	edit.GET("/:id/:lang/compare", h.compareNode)
	edit.POST("/:id/:lang/revert", h.revertNode, limitBody(adminLimit), h.guardForm)
	edit.GET("/:id/:lang/translations", h.nodeTranslations)
	for _, op := range []string{"archive", "unpublish", "delete"} {
		edit.GET("/:id/:lang/"+op, h.askNode(op))
		edit.POST("/:id/:lang/"+op, h.doNode(op), limitBody(adminLimit), h.guardForm)
	}
	site.GET("/preview/:id/:lang/:revision", h.preview, noStore, h.requires(account.AccessAdministration))
	people := admin.under("/people", h.requires(account.AdministerAccounts))
	people.GET("", h.people)
	people.GET("/new", h.newPerson)
	people.POST("/new", h.createPerson, limitBody(adminLimit), h.guardForm)
	people.GET("/:id", h.editPerson)
	people.POST("/:id", h.savePerson, limitBody(adminLimit), h.guardForm)
	people.GET("/:id/reset", h.confirmResetPassword)
	people.POST("/:id/reset", h.resetPassword, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/link", h.createSignInLink, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/block", h.blockPerson, limitBody(adminLimit), h.guardForm)
	people.POST("/:id/unblock", h.unblockPerson, limitBody(adminLimit), h.guardForm)
	h.mediaRoutes(admin)
	h.structureRoutes(admin)
	settings := admin.under("/config/site", h.requires(account.AdministerSite))
	settings.GET("", h.siteSettings)
	settings.POST("", h.saveSiteSettings, limitBody(adminLimit), h.guardForm)
}

// mediaRoutes are the addresses of images and documents, and the report on what
// keeps them. Uploads may take their time.
func (h *Handlers) mediaRoutes(admin section) {
	agents := admin.under("/config/ai/ai-answers", h.requires(account.AdministerAnswers))
	agents.GET("", h.answerSettings)
	agents.POST("", h.saveAnswerSettings, limitBody(adminLimit), h.guardForm)
	agents.GET("/agents", h.agents)
	agents.GET("/agents/new", h.newAgent)
	agents.POST("/agents/new", h.saveAgent, limitBody(adminLimit), h.guardForm)
	agents.POST("/agents/new/try", h.tryAgent, limitBody(adminLimit), h.guardForm)
	agents.GET("/agents/:name", h.agent)
	agents.POST("/agents/:name", h.saveAgent, limitBody(adminLimit), h.guardForm)
	agents.POST("/agents/:name/try", h.tryAgent, limitBody(adminLimit), h.guardForm)
	agents.GET("/agents/:name/delete", h.confirmDeleteAgent)
	agents.POST("/agents/:name/delete", h.deleteAgent, limitBody(adminLimit), h.guardForm)
	agents.GET("/contexts", h.contexts)
	agents.GET("/contexts/new", h.newContext)
	agents.POST("/contexts/new", h.saveContext, limitBody(adminLimit), h.guardForm)
	agents.GET("/contexts/:name", h.context)
	agents.POST("/contexts/:name", h.saveContext, limitBody(adminLimit), h.guardForm)
	agents.POST("/contexts/:name/delete", h.deleteContext, limitBody(adminLimit), h.guardForm)
	reports := admin.under("/reports", h.requires(account.ViewAnswersTraces))
	reports.GET("/answers", h.runs)
	reports.GET("/answers.csv", h.exportRuns)
	reports.GET("/answers/:id", h.run)
	library := admin.under("/media")
	library.GET("", h.mediaLibrary)
	library.POST("/upload", h.uploadMedia, patient, limitBody(uploadLimit), h.guardForm)
	library.POST("/describe", h.describeMedia, limitBody(adminLimit), h.guardForm)
	library.GET("/pick", h.pickMedia)
	library.POST("/pick", h.uploadPicked, patient, limitBody(uploadLimit), h.guardForm)
	library.GET("/:id", h.editMedium)
	library.POST("/:id", h.saveMedium, limitBody(adminLimit), h.guardForm)
	library.GET("/:id/delete", h.confirmDeleteMedium)
	library.POST("/:id/delete", h.deleteMedium, limitBody(adminLimit), h.guardForm)
	admin.GET("/reports/status", h.status, h.requires(account.AdministerSite))
}

// structureRoutes are the addresses of what the site is made of, of its roles and
// of its languages.
func (h *Handlers) structureRoutes(admin section) {
	form := []echo.MiddlewareFunc{limitBody(adminLimit), h.guardForm}
	structureForm := append(slices.Clone(form), h.writableStructure)

	roles := admin.under("/people/roles", h.requires(account.AdministerRoles))
	roles.GET("", h.roles)
	roles.POST("", h.saveRoles, form...)
	roles.GET("/new", h.newRole)
	roles.POST("/new", h.createRole, form...)
	roles.GET("/:name", h.editRole)
	roles.POST("/:name", h.saveRole, form...)
	roles.GET("/:name/delete", h.confirmDeleteRole)
	roles.POST("/:name/delete", h.deleteRole, form...)

	admin.GET("/config", h.overview, h.requires(account.AdministerSite))
	languages := admin.under("/config/languages", h.requires(account.AdministerSite))
	languages.GET("", h.languages)
	languages.GET("/new", h.newLanguage)
	languages.POST("/new", h.createLanguage, form...)
	languages.POST("/move", h.moveLanguage, form...)
	languages.GET("/:code", h.editLanguage)
	languages.POST("/:code", h.saveLanguage, form...)
	languages.GET("/:code/default", h.confirmDefaultLanguage)
	languages.POST("/:code/default", h.makeDefaultLanguage, form...)
	languages.GET("/:code/delete", h.confirmDeleteLanguage)
	languages.POST("/:code/delete", h.deleteLanguage, form...)

	menus := admin.under("/structure/menus", h.requiresAny(account.AdministerMenus, account.EditContent))
	menus.GET("", h.menus)
	menus.GET("/:menu", h.editMenu)
	menus.POST("/:menu/move", h.moveMenuEntry, form...)
	menus.GET("/:menu/add", h.addToMenu)
	menus.POST("/:menu/pages", h.placePage, form...)
	menus.POST("/:menu/links", h.createMenuLink, form...)
	menus.GET("/:menu/:id", h.editMenuEntry)
	menus.POST("/:menu/:id", h.saveMenuEntry, form...)
	menus.GET("/:menu/:id/remove", h.confirmRemoveMenuEntry)
	menus.POST("/:menu/:id/remove", h.removeMenuEntry, form...)

	terms := admin.under("/structure/terms", h.requiresAny(account.AdministerTerms, account.EditContent))
	terms.GET("", h.vocabularies)
	terms.GET("/:vocabulary", h.terms)
	terms.POST("/:vocabulary/add", h.addTerm, form...)
	terms.POST("/:vocabulary/move", h.moveTerm, form...)
	terms.GET("/:vocabulary/:id/delete", h.confirmDeleteTerm)
	terms.POST("/:vocabulary/:id/delete", h.deleteTerm, form...)
	terms.GET("/:vocabulary/:id/merge", h.confirmMergeTerm)
	terms.POST("/:vocabulary/:id/merge", h.mergeTerm, form...)

	redirects := admin.under("/structure/redirects", h.requiresAny(account.AdministerRedirects, account.EditContent))
	redirects.GET("", h.redirects)
	redirects.GET("/new", h.newRedirect)
	redirects.POST("/new", h.createRedirect, form...)
	redirects.GET("/:id/:lang", h.editRedirect)
	redirects.POST("/:id/:lang", h.saveRedirect, form...)
	redirects.GET("/:id/:lang/delete", h.confirmDeleteRedirect)
	redirects.POST("/:id/:lang/delete", h.deleteRedirect, form...)

	admin.GET("/structure", h.structure)
	structure := admin.under("/structure", h.requires(account.AdministerStructure))
	structure.GET("/types", h.types)
	for _, kind := range []string{"/types", "/vocabularies"} {
		shapes := structure.under(kind)
		shapes.GET("/new", h.newType)
		shapes.POST("/new", h.createType, structureForm...)
		shapes.GET("/:name", h.editType)
		shapes.POST("/:name", h.saveType, structureForm...)
		shapes.GET("/:name/delete", h.confirmDeleteType)
		shapes.POST("/:name/delete", h.deleteType, structureForm...)
		shapes.GET("/:name/fields", h.fields)
		shapes.POST("/:name/fields/move", h.moveField, structureForm...)
		shapes.GET("/:name/fields/new", h.newField)
		shapes.POST("/:name/fields/new", h.createField, structureForm...)
		shapes.GET("/:name/fields/:field", h.editField)
		shapes.POST("/:name/fields/:field", h.saveField, structureForm...)
		shapes.GET("/:name/fields/:field/delete", h.confirmDeleteField)
		shapes.POST("/:name/fields/:field/delete", h.deleteField, structureForm...)
		shapes.GET("/:name/displays/:mode", h.display)
		shapes.POST("/:name/displays/:mode", h.saveDisplay, structureForm...)
	}
	blocks := structure.under("/blocks")
	blocks.GET("", h.blockLayout)
	blocks.POST("/move", h.moveBlock, form...)
	blocks.GET("/add", h.addBlock)
	blocks.GET("/add/:block", h.newBlock)
	blocks.POST("/add/:block", h.createBlock, form...)
	blocks.POST("/add/:block/preview", h.previewBlock, form...)
	blocks.GET("/:name", h.editBlock)
	blocks.POST("/:name", h.saveBlock, form...)
	blocks.POST("/:name/preview", h.previewBlock, form...)
	blocks.GET("/:name/delete", h.confirmDeleteBlock)
	blocks.POST("/:name/delete", h.deleteBlock, form...)
	structure.GET("/formats", h.formats)
	structure.GET("/formats/new", h.newFormat)
	structure.POST("/formats/new", h.createFormat, structureForm...)
	structure.GET("/formats/:name", h.editFormat)
	structure.POST("/formats/:name", h.saveFormat, structureForm...)
	structure.GET("/formats/:name/delete", h.confirmDeleteFormat)
	structure.POST("/formats/:name/delete", h.deleteFormat, structureForm...)
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
