// Package account knows who acts: accounts, their roles and permissions, and the
// server's side of sessions.
package account

import "slices"

// Role names that exist on every site. Everybody signed in also has
// [RoleAuthenticated]; everybody else has [RoleAnonymous] alone.
const (
	RoleAnonymous     = "anonymous"
	RoleAuthenticated = "authenticated"
	RoleEditor        = "editor"
	RoleAdministrator = "administrator"
)

// Permission is a named right that roles grant.
type Permission string

// The permissions this version knows. Administrators have all of them.
const (
	AccessContent        Permission = "access content"
	UseAnswers           Permission = "use ai answers"
	AdministerAnswers    Permission = "administer ai answers"
	ViewAnswersTraces    Permission = "view ai answers traces"
	AccessAdministration Permission = "access administration"
	ViewUnpublished      Permission = "view unpublished content"
	EditContent          Permission = "edit content"
	AdministerAccounts   Permission = "administer accounts"
	AdministerSite       Permission = "administer site"
	AdministerRoles      Permission = "administer roles"
	AdministerStructure  Permission = "administer structure" // content types, fields, displays, formats, vocabularies
	AdministerMenus      Permission = "administer menus"
	AdministerTerms      Permission = "administer terms"
	AdministerRedirects  Permission = "administer redirects"
	AccessMetrics        Permission = "access metrics"
)

// An Account is somebody with what they may do, as resolved for one request. The
// zero Account may do nothing; see [Service.Anonymous] for the visitor.
type Account struct {
	ID          string // empty: anonymous
	Name        string
	Roles       []string
	Permissions map[Permission]bool
}

// IsAnonymous reports whether nobody is signed in.
func (a Account) IsAnonymous() bool { return a.ID == "" }

// HasRole reports whether the account has the role.
func (a Account) HasRole(role string) bool { return slices.Contains(a.Roles, role) }

// Can reports whether a role of the account grants the permission.
func (a Account) Can(p Permission) bool {
	return a.Permissions[p] || a.HasRole(RoleAdministrator)
}

// AllPermissions returns every permission, in the order in which forms list them.
func AllPermissions() []Permission {
	return []Permission{
		AccessContent, UseAnswers, AdministerAnswers, ViewAnswersTraces, AccessAdministration,
		ViewUnpublished, EditContent, AdministerAccounts, AdministerSite, AdministerRoles, AdministerStructure,
		AdministerMenus, AdministerTerms, AdministerRedirects, AccessMetrics,
	}
}
