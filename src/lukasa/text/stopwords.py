"""Words that carry grammar, not content: left out of queries where anything else is left.

Keys are ISO 639 codes. Contractions stand without their apostrophe and ending, as the analyzer writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_EN = """
a about above after again against all also am an and any anyone anything are arent as at be because been
before being below between both but by can cannot cant could couldnt did didnt do does doesnt doing done
dont down during each else ever every few for from further had hadnt has hasnt have havent having he her
here hers herself him himself his how i if in into is isnt it its itself just me more most my myself
neither nor not of off on once only onto or other our ours ourselves out over own per please same shall
shant she should shouldnt so some someone something such than that the their theirs them themselves then
there these they this those though through to too under until up upon us very was wasnt we were werent
what whatever when whenever where wherever whether which while who whoever whom whose why will with within
without wont would wouldnt you your yours yourself yourselves im ive id youre youve hes shes theyre theyve
whats wheres whos hows whens
"""
_ES = """
a al algo algún alguna algunas alguno algunos ante antes aquel aquella así aún bajo como cómo con cual
cuál cuales cuáles cuando cuándo cuánto cuánta cuántos cuántas de del desde donde dónde durante e el él
ella ellas ellos en entre era eran eres es esa esas ese eso esos esta está estaba están estar este esto
estos estoy fue fueron ha había han has hasta hay he la las le les lo los me mi mí mis mucho muy más nada
ni no nos nosotros nuestra nuestro o os para pero por porque que qué quien quién quiénes se sea ser si sí
sido sin sobre son soy su sus también te tengo ti tiene tienen tu tú tus un una unas uno unos usted
ustedes y ya yo
"""
_FR = """
à ai as au aucun aussi autre aux avec avez avoir avons ça ce ceci cela celle celui ces cet cette ceux chez
combien comme comment dans de depuis des donc dont du elle elles en encore entre es est et étaient étais
était être eu eux fait fut il ils je jusque la là le les leur leurs lui ma mais me même mes moi mon ne ni
nos notre nous on ont où ou par pas peu plus pour pourquoi quand que quel quelle quelles quels qui quoi sa
sans se ses si soi son sont suis sur ta te tes toi ton tous tout toute toutes très tu un une vos votre
vous y
"""
_DE = """
aber als alle allem allen aller alles also am an ander andere auch auf aus bei bin bis bist da damit dann
das dass daß dein deine deinem deinen dem den denn der des dessen deshalb dich die dies diese diesem
diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer für
gegen gewesen hab habe haben hat hatte hatten hier hin ich ihm ihn ihnen ihr ihre ihrem ihren im in ins
ist ja jede jedem jeden jeder jetzt kann kein keine können könnte man manche mehr mein meine meinem meinen
meiner mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seit
sich sie sind so über um und uns unser unter viel vom von vor wann war waren warum was weil welche welchem
welchen welcher welches wem wen wenn wer werde werden wie wieder wir wird wirst wo woher wohin wollen
würde zu zum zur zwischen
"""
_IT = """
a ad agli ai al alla alle allo anche aveva avere abbiamo c che chi ci come con cosa cui da dagli dai dal
dalla dalle dei del della delle dello di dopo dove e è era erano essere fa fra gli ha hai hanno ho i il in
io la le lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle noi non nostra
nostro o per perché però più qual quale quali quando quanta quante quanti quanto quella quelle quelli quello
questa queste questi questo qui se sei senza si sia siamo siete solo sono sta stato su sua sue sugli sui
sul sulla sulle suo suoi tra tu tua tue tuo tuoi un una uno vi voi
"""
_PT = """
a ao aos aquela aquele aquilo as até com como da das de dela dele deles depois do dos e é ela elas ele
eles em entre era eram essa esse esta está estão estar este estou eu foi foram há isso isto já lhe mais
mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa nosso num numa o onde os ou para
pela pelo por porque porquê qual quais quando quanto quantos que quê quem são se sem ser seu seus só sobre
sou sua suas também te tem tém tenho teu tu tua um uma umas uns você vocês
"""
_NL = """
aan al alle als bij daar dan dat de der deze die dit doen door dus een eens en er ge geen had heb hebben
heeft hem het hier hij hoe hoeveel hun ik in is je jij jou jouw jullie kan kon kunnen maar me meer men met
mij mijn moet na naar niet niets nog nu of om omdat ons onze ook op over te tegen tot u uit uw van veel
voor waar waarom wanneer waren was wat we wel welk welke werd wie wij wil worden wordt ze zei zelf zich
zij zijn zo zonder zou
"""
_RU = """
а без более больше будет будто бы был была были было быть в вам вас весь во вот все всё всего всех вы где
да даже для до его ее её ей ему если есть еще ещё ж же за зачем здесь и из или им их к как какая какие
какое какой ко когда кого кому которая которые который которых кто куда ли либо лишь между меня мне много
мной мог моё моего моей моем мои мой моя мы на над надо нас наш наша не него нее неё ней нет ни них но ну
о об один она они оно от откуда очень по под почему при про с сам сами свой свою себе себя сейчас сколько
со так такой там тебе тебя тем теперь то тобой тогда того тоже той только том тот ту ты у уж уже хотя чего
чей чем через что чтобы чья эта эти это этого этой этом этот эту я
"""

STOPWORDS: Final[Mapping[str, frozenset[str]]] = {
    "de": frozenset(_DE.split()),
    "en": frozenset(_EN.split()),
    "es": frozenset(_ES.split()),
    "fr": frozenset(_FR.split()),
    "it": frozenset(_IT.split()),
    "nl": frozenset(_NL.split()),
    "pt": frozenset(_PT.split()),
    "ru": frozenset(_RU.split()),
}

_QUESTIONS = """
什么时候 什麼時候 为什么 為什麼 怎么样 怎麼樣 有没有 有沒有 是不是 能不能 告诉我 告訴我
什么 什麼 怎么 怎麼 怎样 怎樣 哪里 哪裡 哪儿 哪兒 哪个 哪個 哪些 多少 如何 是否 请问 請問
谁 誰 哪 吗 嗎 呢 吧 ですか ますか でしょうか どこ いつ なぜ どう どの どれ だれ なに なん 何
무엇 누구 어디 언제 어떻게 얼마
"""
_PAIRS = """
です ます ました まし した して いる いま から まで こと もの ない ある する れる られ たち には では
とは のは のか たい ので のに だっ った って てい 에서 으로 에게 니다 습니 입니 합니 하는 있는 까지 부터
"""

# Question words and polite openings of Chinese, Japanese and Korean: a query is split at them, so that no
# bigram spans them. Longer ones come first.
QUESTION_RUNS: Final = tuple(_QUESTIONS.split())

# Characters of Chinese grammar, and pairs of Japanese and Korean grammar. A bigram goes when both of its
# characters are listed, or the pair itself.
GRAMMAR_CHARACTERS: Final = frozenset(
    "的了是在我你您他她它们們这這那有和与與就不也都很还還会會能要把被给給对對从從到着著过過得地之"
)
GRAMMAR_PAIRS: Final = frozenset(_PAIRS.split())
