package llm

import "strings"

func wordSet(words string) map[string]struct{} {
	set := map[string]struct{}{}
	for _, w := range strings.Fields(words) {
		set[w] = struct{}{}
	}
	return set
}

func has(set map[string]struct{}, word string) bool {
	_, ok := set[word]
	return ok
}

// stopWords carry no subject. They are left out of questions whatever the
// analyzer does, because a question's frame is not what it asks about.
var stopWords = wordSet(`a about after again all also am an and any are as at be because been before being between both but by
	can could did do does doing during each either few for from further get give go had has have having he her here hers him his how i if in into is it its just let
	like may me might more most must my need no nor not now of off on once one only or other our ours out over own per please same shall she should
	since so some such tell than that the their theirs them then there these they this those through thru to too under until up upon us use very
	was we were what whats when where whether which while who whom whose why will with within without would you your yours
	instead still ever yes ok somebody someone something anyone anything im ive dont doesnt isnt cant vs versus
	el la los las un una unos unas de del al y e o u en es son está están ser estar fue era para por con sin sobre entre que qué cual cuál
	cuales cuáles como cómo cuando cuándo donde dónde quien quién quienes quiénes cuanto cuánto cuanta cuánta cuantos cuántos cuantas cuántas
	se su sus mi mis tu tus me te le les lo nos hay ha han he si sí no más muy ya desde hasta este esta esto estos estas ese esa eso esos esas puedo puede bien
	ما ماذا من متى أين كيف لماذا هل كم في على إلى عن هو هي هذا هذه ذلك التي الذي أن إن أو و مع كان أستطيع يمكن يمكنني أريد`)

// frameWords say what kind of answer is wanted, or stand on most pages. They
// weigh little. Like looseWords they are compared by their stems.
var frameWords = wordSet(`
	list name difference compare comparison definition define mean meaning way thing kind sort type
	find know make want help work use good better best new old year day time month
	people person team agency government federal site website web page public office much many long often big little
	put set start show look tell talk say happen recommend usual usually different main important several recent recently regular regularly
	number amount level part step tip guide example question answer information info possible allowed able right wrong fine okay check keep run deal come take
	one first second last next write print quote document please
	diferencia lista nombre significa decir usar manera forma año día tipo existir hacer tener poder página sitio`)

// looseWords are so open in meaning that a page which says the same may well use
// others. They weigh in full, but are not missed.
var looseWords = wordSet(`
	two three four five six seven eight nine ten week moment bad worse worst large small short high low early late easy hard quick fast slow
	nice great real true whole full sure same major always never sometimes actually really exactly currently soon ago away together
	apart around back behind ahead forward along else enough quite rather almost case point side end
	ask begin believe bring build buy call carry change choose consider continue count create cut decide describe do
	drive drop ensure exist expect explain fall feel figure fill finish fit follow gain get give go grab grow guess handle hang
	head hear hit hold hope improve include involve join kick kill land lay lead learn leave let like line live lose love
	manage matter meet mention mind miss move need offer open own pass pay pick place plan play point poke pop prepare produce pull push
	reach read relate rely remain remember replace report require result return reveal roll save see seem sell send serve
	shape share sign sit sound speak spend split spread stand state stay stick stop store suggest support suppose
	tend think throw tie touch track treat trick try turn understand view visit wait walk watch wear win wish wonder worry wrap`)

// kin are groups of English words that ask for the same thing. They bridge a
// visitor's wording and a page's; a match through them counts less than the word.
var kin = strings.Split(strings.TrimSpace(`
price cost costs fee fees charge charges pay paid payment free money
salary wage wages earn income compensation
begin start starts launch launched establish established founded created introduced debut
end stop finish conclude close closed
buy purchase procure procurement acquire acquisition contract
big large size huge number
population people inhabitants residents
fast quick quickly speedy rapid
allow allowed permit permitted permission may approve approved
forbid forbidden prohibit prohibited ban banned
need require required requirement requirements must mandatory necessary
help assist support assistance
test testing exam examination quiz assessment
error mistake bug issue problem trouble problems
delete remove retire decommission decommissioning shutdown sunset
replace replaced successor supersede supersedes rescind rescinds instead alternative alternatives
change changed update updated modify revise
danger dangers risk risks threat harm security
benefit benefits advantage advantages value
bad poor negative worse
happy satisfied satisfaction pleased
smartphone smartphones mobile phone phones device devices
picture pictures image images photo photos
video videos film recording
barcode code codes qr
audio podcast podcasts radio
show program episode
email e-mail newsletter mail bulletin
subscribe signup register registration join enroll
meeting meetings meet meets session call
teach training learn course class education
leader lead manager head director chief chair owner
boss supervisor manager
company companies firm firms vendor vendors contractor contractors business
worker workers employee employees staff workforce
citizen citizens public people customer customers user users visitor visitors
law act statute legislation regulation policy mandate
rule rules requirement guideline guidelines policy
memo memorandum memoranda directive
budget funding funds money
form forms questionnaire survey
study research interview interviews
webpage page pages website site sites
address url link links domain
title titles heading headings h1
wide width length characters
column line lines text
often frequency frequently regularly monthly weekly
long duration hours minutes days
prize prizes award awards money winner won
contest competition challenge challenges tournament
winner won win winning
term terms word words phrase
jargon buzzword buzzwords
translate translation translations translating translated
language languages
warning alert alerts advisory
storm hurricane weather
common frequent typical usual standard
wrong misunderstand misunderstood incorrect confuse confused
measure measurement metric metrics
phase phases stage stages step steps moment moments
name called named title
reason reasons why because
genuine authentic official verify real
fake fraudulent impostor scam
copy copied reuse reproduce
copyright licensed license permission
send submit pitch propose contribute
search searched query look
quantity total count number
grow growth increase increased rise climb
decrease decline drop fall fewer reduce
reflection retrospective look-back
architecture infrastructure hosted microservices built
booking reservation reservations book reserve
outside external third-party
inside internal intranet
snippet script code tag
spreadsheet csv excel download
dataset datasets data
dog pet puppy
article articles content
maintain maintenance care
power authority authorities authorized authorization
earlier former previous predecessor prior
over succeed succeeded replace replaced
sign signed approve approved approval
group council committee board
where location located venue place
job jobs position positions career vacancy vacancies hiring
phone call telephone
expire expires expiration expiry
preserve archive archived
trust trustworthy confidence
blind disability disabilities accessible accessibility
older elderly seniors
kids children youth
soldiers veterans military
private privacy confidential secret
hacked breach cyberattack
password passwords login credentials
robot robots bot bots chatbot automation
logo branding brand
font fonts typeface typography
color colors colour palette contrast
deadline due date
eligible eligibility qualify qualified`), "\n")

// forms are English words whose forms no stemmer brings together.
var forms = strings.Split(strings.TrimSpace(`
give gave given
begin began begun
build built
buy bought
sell sold
send sent
pay paid
hold held
lead led
meet met
teach taught
speak spoke spoken
choose chose chosen
run ran
grow grew grown
fall fell fallen
rise rose risen
leave left
lose lost
find found
keep kept
tell told
think thought
know knew known
see saw seen
show shown
get got gotten
come came
go went gone
become became
break broke broken
drive drove driven
spend spent
say said
make made
take took taken
write wrote written
win won
feel felt
bring brought
draw drew drawn
throw threw thrown
understand understood
child children
man men
woman women
person people`), "\n")

// pronouns make a follow-up lean on the question before it.
var pronouns = wordSet(`it its they them their theirs that this those these one ones he she him her his hers there then same both
	eso esto ese esa esos esas aquel ello ellos ellas lo su sus mismo allí
	هذا هذه ذلك تلك هو هي هم`)

// leansBack are the first words of sentences that need the one before.
var leansBack = wordSet(`it its they them their this that these those he she his her such also however therefore thus then
	additionally moreover furthermore instead otherwise similarly likewise and but or so because for
	esto eso estos ellos ella además sin embargo también pero y`)
