package llm_test
import ("testing";"docent/internal/search")
func TestScratch(t *testing.T) {
	for _, s := range []string{"login.gov M-17-06 WCAG 3.0 .us data.gov U.S. multi-party Login.gov's agencies certificates USWDS 4.0 e-mail café ¿Desde qué año"} { t.Logf("%q", search.Analyze("en", s)); t.Logf("%q", search.Analyze("es", s)) }
}
