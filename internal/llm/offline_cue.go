package llm

import (
	"regexp"
	"strings"
	"unicode"
)

// cue is what kind of answer a question wants.
type cue int

const (
	cueNone cue = iota
	cueWhen
	cueAmount // how many, how long, how wide
	cuePrice
	cueWhoMay // who is allowed to, or able
	cueWho
	cueAddress
	cueWhy
	cueList
	cueHowTo
	cueDefinition
	cueComparison
	cueMay // is the one who asks allowed to, or able
)

var cuePatterns = []struct {
	cue     cue
	pattern *regexp.Regexp
}{
	{cueComparison, regexp.MustCompile(`(?i)\bvs\.?\b|\bversus\b|\bdifferences? between\b|\bcompared? (to|with)\b|\bdiferencias? entre\b|الفرق`)},
	{cuePrice, regexp.MustCompile(`(?i)\bhow much (does|do|is|are|will|would|did)\b.*\b(cost|charge|pay)|\bcosts?\b|\bprices?\b|\bfees?\b|\bsalar(y|ies)\b|\bwages?\b|\bcuánto cuesta|\bprecio`)},
	{cueWhen, regexp.MustCompile(`(?i)(^|\b(and|or|since|until|from|say|know)\s|[,;?.]\s*)when\b|\bwhat (year|date|day|time)\b|\bdeadline\b|\bsince what\b|\bhow soon\b|\bday and time\b|\bcuándo\b|\bqué (año|día|fecha|hora)|متى`)},
	{cueAmount, regexp.MustCompile(`(?i)\bhow (many|much|long|wide|big|large|often|old|fast|far|tall|likely|likelier)\b|\b(number|percentage|score|minutes|size|limit) (of|do|for|is)?\b|\bcuánt[oa]s?\b|كم`)},
	{cueWhoMay, regexp.MustCompile(`(?i)\b(who|anyone|anybody) (can|may|could|must|is (allowed|eligible|able))\b|\bquién(es)? puede`)},
	{cueWho, regexp.MustCompile(`(?i)^\s*(and |y )?(who|whose|quién|quiénes)\b|\bwho (is|are|was|were|has|does|can|won|made|came|offers|did)\b|من هو`)},
	{cueAddress, regexp.MustCompile(`(?i)\b(web ?address|url|email address|e-mail address|which (web)?site|link to|dirección (web|de correo)|enlace)\b`)},
	{cueWhy, regexp.MustCompile(`(?i)\bwhy\b|\bwhat is the reason\b|\bpor qué\b|لماذا`)},
	{cueHowTo, regexp.MustCompile(`(?i)\bhow (do|can|should|might|to|could|would|does)\b|\bsteps? to\b|\btips (for|on)\b|\bcómo\b|كيف`)},
	{cueList, regexp.MustCompile(`(?i)\blist\b|\b(what|which) (are|were)\b|\b(two|three|four|five|six|seven|eight|nine|ten|[2-9]|1[0-9]) \w+|\bstages\b|\bexamples of\b|\bcuáles (son|fueron)\b`)},
	{cueDefinition, regexp.MustCompile(`(?i)^\s*what('s| is| are)\b|\bstands? for\b|\bdefin(e|ition)\b|\bmeaning\b|\bmean\b|\bqué (es|son|significa)\b|ما (هو|هي)`)},
	{cueMay, regexp.MustCompile(`(?i)^\W*(and |but )?((can|could|may) (i|we|you|visitors|people)\b|(am i|are we|are \pL+|is it|is \pL+) (allowed|permitted|welcome)\b)|^\W*(y )?(puedo|podemos|se puede|está permitid[oa])\b|^(هل )?(يمكن|يمكنني|أستطيع|يسمح|يُسمح|مسموح)`)},
}

func cueOf(question string) cue {
	for _, c := range cuePatterns {
		if c.pattern.MatchString(question) {
			return c.cue
		}
	}
	return cueNone
}

const months = `(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|` +
	`enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)`

var (
	hasNumber    = regexp.MustCompile(`(?i)[0-9]|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|billion|once|twice|half|monthly|weekly|daily|yearly|annually|uno|dos|tres|cuatro|cinco|diez|cien|mil)\b`)
	hasDate      = regexp.MustCompile(`(?i)\b(1[89]|20)[0-9]{2}\b|\b` + months + `\.? [0-9]|\b[0-9]{1,2}(st|nd|rd|th)? (of |de )?` + months + `\b|\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)\b|\b[0-9]{1,2}(:[0-9]{2})? ?[ap]\.?m|\b[0-9]{1,2}:[0-9]{2}\b|\b[0-9]+ (business |working )?(days?|weeks?|months?|years?|hours?)\b|\b(within|daily|weekly|monthly)\b|[0-9]+ (يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر)`)
	hasPrice     = regexp.MustCompile(`(?i)[$€£][0-9]|\b(free|no cost|no charge|no fee|fees?|percent|usd|dollars?|gratis|gratuito)\b|[0-9]%`)
	hasCondition = regexp.MustCompile(`(?i)\b(only|any|anyone|everyone|eligible|open to|must|members?|allowed|required|available to|limited to|solo|cualquier|todos)\b`)
	hasLeave     = regexp.MustCompile(`(?i)\b(welcome|allowed|permitted|may|must|cannot|can't|forbidden|prohibited|only|except|free to|bienvenid[oa]s?|permit[eai]\pL*|prohib\pL+|solo|sólo|deben?)\b|مسموح|يسمح|يُسمح|ممنوع|مرحب|يجب`)
	hasAddress   = regexp.MustCompile(`(?i)https?://|\b[a-z0-9-]+\.(gov|com|org|net|mil|edu|io|eu)\b|@`)
	hasReason    = regexp.MustCompile(`(?i)\b(because|since|so that|in order to|due to|reason|therefore|as a result|helps?|allows?|means|porque|debido)\b`)
	hasDigit     = regexp.MustCompile(`[0-9]`)
	hasContrast  = regexp.MustCompile(`(?i)\b(while|whereas|unlike|but|however|instead|rather|on the other hand|in contrast|compared|than|mientras)\b`)
)

// cueBonus is the share by which a unit gains when it holds the kind of thing
// the question asks for.
func cueBonus(q question, s *scored, u unit) float64 {
	text := u.text
	if len(u.path) > 0 {
		text = u.path[len(u.path)-1] + "\n" + text
	}
	yes := func(b bool, bonus float64) float64 {
		if b {
			return bonus
		}
		return 0
	}
	switch q.cue {
	case cueWhen:
		return yes(hasDate.MatchString(text), 0.85)
	case cueAmount:
		return yes(hasNumber.MatchString(text), 0.6)
	case cuePrice:
		return yes(hasPrice.MatchString(text), 0.85)
	case cueWhoMay:
		return yes(hasCondition.MatchString(u.text), 0.6)
	case cueMay:
		return yes(hasLeave.MatchString(u.text), 0.6)
	case cueWho:
		return yes(hasName(u.text), 0.3)
	case cueAddress:
		return yes(hasAddress.MatchString(u.text), 0.5)
	case cueWhy:
		return yes(hasReason.MatchString(u.text), 0.3)
	case cueList:
		return yes(u.kind != sentenceUnit || u.isTitle || strings.HasSuffix(u.text, ":"), 0.4)
	case cueHowTo:
		return yes(u.kind == itemUnit || u.isTitle || strings.HasSuffix(u.text, ":"), 0.35)
	case cueDefinition:
		return yes(defines(q, u.text), 0.85)
	case cueComparison:
		return yes(hasContrast.MatchString(u.text), 0.25) + yes(defines(q, u.text), 0.7)
	}
	return 0
}

// hasName tells whether two capitalised words stand together inside the text.
func hasName(text string) bool {
	run := 0
	for i, w := range strings.Fields(text) {
		if unicode.IsUpper(firstRune(strings.TrimLeft(w, "(“\"'"))) && i > 0 {
			run++
			if run >= 2 {
				return true
			}
		} else {
			run = 0
		}
	}
	return false
}

var copula = regexp.MustCompile(`(?i)\s(?:\([^)]*\) )?(is|are|was|means|refers to|stands for|describes|es|son|significa|se refiere a)\s`)

// defines tells whether text reads "X is …" for the X of the question.
func defines(q question, text string) bool {
	m := copula.FindStringIndex(text)
	if m == nil || m[0] > 120 {
		return false
	}
	subject := strings.ToLower(text[:m[0]])
	named, all := 0, 0
	for _, t := range q.terms {
		if t.frame || t.topic {
			continue
		}
		all++
		if strings.Contains(subject, t.word) {
			named++
		}
	}
	return named > 0 && (named == all || q.cue == cueComparison)
}
