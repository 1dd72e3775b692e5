"""English patterns: what speaks against keeping a clause, what speaks for it, and how much.

A contributor's page: each entry of `PHRASES` is an alternation, tried where a word begins, in lower case;
`AT_START` is tried at the beginning of the clause without its fillers; `CASED` looks at the text as written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lukasa.text.verbs_en import PAST

KIN: Final = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[ée]e?|ex|mum|mom|mother|dad|father|parents?|"
    r"sister|brother|siblings?|son|daughter|kids?|child|children|baby|toddler|twins?|aunt|uncle|cousin|nephew|"
    r"niece|gran(?:dma|dpa|ny|dmother|dfather|ddaughter|dson|dparents)?|nan|in-laws|mother-in-law|"
    r"father-in-law|brother-in-law|sister-in-law|stepson|stepdaughter|stepmum|stepdad|flatmate|roommate|"
    r"housemate|neighbou?r|best friend|friend|mate|boss|manager|colleague|coworker|co-worker|team|teacher|"
    r"doctor|doc|dentist|therapist|landlord|landlady|client|mentor|supervisor|tutor|coach|vet|"
    r"dog|cat|puppy|kitten|rabbit|parrot|hamster|horse|pony|tortoise|pets?)"
)
_ADVERB: Final = (
    r"(?:also|always|never|really|just|still|usually|often|only|actually|mostly|currently|now|literally|"
    r"sometimes|rarely|hardly|already|recently|finally|absolutely|totally|kinda|generally|typically|normally|"
    r"happily|mainly|primarily|strictly|seriously|no longer|barely|regularly|occasionally|both|originally|do)"
)
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH: Final = r"(?:january|february|march|april|june|july|august|september|october|november|december)"
_I: Final = r"(?:i|i've|i'm|im|ive|we|we've|we're)"

# --- at the beginning of a clause

_FILLERS: Final = (
    r"(?:(?:and|so|but|ok|okay|hey|hi|hello|hmm|um|also|then|now|well|oh|yes|yeah|yep|no|great|thanks|thank you|"
    r"cool|just|quick|pls|please|plz|kindly|sure|perfect|nice|actually|again|first|next|finally|maybe|sorry|right)\b\W*)*"
)
_ASKED: Final = (
    r"(?:i|you|u|we|they|it|there|that|this|these|those|the|a|an|my|your|our|his|her|their|he|she|someone|anyone|people|"
    r"is|are|do|does|did|to|much|many|long|old|far|often|ideas|tips|advice|suggestions|recommendations|difference|about|"
    r"would|should|could|can|kind|sort|type|other|else|anything|one|ways?|good|best)"
)
_VERBS: Final = (
    r"(?:help|write|explain|tell|give|show|find|fix|translate|summari[sz]e|list|make|create|suggest|recommend|compare|"
    r"check|look|convert|calculate|draft|proofread|correct|rewrite|rephrase|improve|review|describe|generate|provide|"
    r"let me know|add|remove|change|update|shorten|edit|format|analy[sz]e|debug|run|book|order|send|play|set|schedule|"
    r"think of|continue|go on|try|search|google|pick|choose|name|define|solve|answer|expand|elaborate|clarify|outline|"
    r"turn|put|sort|rank|brainstorm|come up|figure|walk me|teach me|remind me (?:about|of|how|what)|do me|implement|"
    r"optimi[sz]e|ensure|use|keep|include|take a look|modify|refactor|test|verify|enjoy|wish me|see (?:you|if)|"
    r"guess|feel free|hope|don't (?:worry|forget)|wait|imagine)"
)
AT_START: Final[Mapping[str, str]] = {
    "question": (
        rf"{_FILLERS}(?:(?:what|how|can|could|would|should|do|does|did|is|are|was|were|will|shall|have|has|isn't|aren't|"
        rf"don't|doesn't|am|wanna|any)\s+{_ASKED}\b|(?:what|how|why|when|where|who|which) (?:is|are|was|do|does|did|should|can|could|would|to|will|else)\b|"
        r"(?:what's|whats|how's|hows|why|where's|who's|when's|whose|how come|any (?:ideas|tips|advice|thoughts|suggestions|recs|recommendations)|wdyt|"
        r"thoughts|ideas)\b|(?:what|how|which) (?:about|\w+ (?:is|are|do|does|should|can|would))\b)"
    ),
    "request": (
        rf"{_FILLERS}(?:{_VERBS}|(?:can|could|would|will) (?:you|u|ya)|i (?:want|need|would like|'d like) (?:you|u|some help|help|a hand|"
        r"advice|to know|to understand|to ask|to see)|i'd (?:like|love|appreciate) (?:you|some|to (?:know|hear|understand|see|learn more)|it|any|your)|"
        r"i would (?:like|love|appreciate) (?:you|some|to (?:know|hear|see|understand)|it|any|your)|i(?:'m| am|m) (?:asking|looking for (?:help|advice|some|suggestions|"
        r"ideas|a way)|wondering|curious|interested in (?:knowing|learning more|hearing)|hoping (?:you|for)|not sure (?:how|what|if|whether|why|where))|"
        r"let's (?:start|see|try|say|move|talk|continue|go(?! (?:with|for))|do (?:this|it|that)|begin|focus|look|work|keep|make|connect|catch|chat|hope)|"
        r"lets (?:start|see|try|continue)|(?:please|pls|plz|kindly) (?!(?:always|never|don't|dont|call|use|keep|answer|reply|respond|stick|stop|avoid|"
        r"remember|note))\w+)\b"
    ),
    "hypothetical": r"(?:and |so |but )?if\b",
    "about it": r"(?:it|that|this)(?:'s| is| was| looks| sounds| makes| helps| works| worked| would| seems| does| did| feels| has| could| can| will)\b",
    "passing": r"(?:you(?:'re|'ve|'ll)?|your|u|seeing|sounds|here's|here is|here are|we should|we could|we can|you should|glad|so glad|looking forward|can't wait|hope)\b",
    "instruction": (
        r"(?:(?:and|also|oh|ok|so|but|please|pls|plz|btw|just|no)\W+)*(?:always|never|don't ever|dont ever|please always|please never|"
        r"(?:please |pls )?(?:don't|dont|do not|stop|avoid|no|only|keep|use|answer|reply|respond|write|refer to me|address me|stick to|remember to|"
        r"make sure (?:you|to)|when (?:you|i))\b(?=.*\b(?:answers?|repl(?:y|ies|ying)|respon(?:d|ses?|ding)|emojis?|bullets?|tables?|headings?|"
        r"tone|spelling|metric|celsius|fahrenheit|markdown|jargon|words|sentences|paragraphs?|short|brief|concise|formal|casual|slang|"
        r"apologi[sz](?:e|ing)|disclaimers?|sugar-?coat|citations?|exclamation|capitals|caps|summar(?:y|ies)|headers|tl;?dr|24-?hour|"
        r"nickname)\b))\b(?! (?:mind|a dull|had|been|give|gonna|going|forget|thought|stop|seen|heard|too late|ending|easy|really|ever))"
    ),
    "third thing": r"(?:it|that|this|these|those|there)\b",
    "points": r"(?:for (?:always|all|having|being|the (?:\w+ )?(?:examples?|reminder|help|advice))|since we\b|especially|given (?:the|that)|then|almost|let's (?:get|break)|which|who|where|because|however|for example|e\.g|i\.e|such as|including|to \w+|in order|thus|therefore|as (?:a|well|for)|with|by|since|while|although|even|knowing|having|being|sharing|getting|finding|taking|making|spending|working|helping)\b",
    "bare kin": rf"(?:(?:and|so|but|also|oh|btw)\s+)?(?:the\s+)?{KIN}s?\b(?!\s+of\b)",
    "decision": r"(?:(?:ok|okay|yes|yeah|great|perfect|cool|fine|alright|right|good|sure)\b\W*)*(?:let's|lets|let us|we'll|i'll) (?:do|go (?:with|for)|take|get|book|stick with|have|choose|pick|order) (?:the|a|an|both|two|for|some)\b",
    "leaves out i": (
        rf"(?:(?:and|so|but|also|oh|ok|yes|yeah|update|well|btw|decided|just|finally|still|always|never|usually|only)\b\W*)*"
        rf"(?:{'|'.join(sorted(PAST - {'was', 'were', 'said', 'made', 'kept', 'meant', 'felt', 'thought', 'knew', 'found', 'forgot'} | {'quit', 'cut', 'hurt', 'read'}))}|"
        r"moved|started|finished|passed|booked|switched|changed|joined|signed|picked|decided|adopted|stopped|planned|cancell?ed|failed|graduated|"
        r"retired|turned|ordered|renewed|enrolled|applied|visited|married|lived|worked|studied|registered|landed|managed|completed|"
        r"love|hate|prefer|need to|can't (?:eat|stand|have|do)|cant (?:eat|stand|have|do)|don't|dont|allergic|vegan|vegetarian|live|work|play|"
        r"planning|moving|training|learning|studying|saving|flying|off to|gone off)\b(?!\s*[?])"
    ),
    "correction": (
        r"(?:(?:oh|oops|ah|ugh|wait|no|sorry|hang on|hold on|hmm|my bad|my mistake|correction|actually|scratch that|whoops|typo|argh|(?:i'm|im|i was) (?:being )?(?:daft|silly|wrong|mistaken|an idiot))\b\W*)+(?:i meant?|"
        r"it's|its|it is|make that|make it|that should be|should be|that's|is it|not|the|on|at|in|[a-z]*day\b|\d)|(?:correction|typo|scratch that|make that)\b"
    ),
    # Says something only together with the clause before it.
    "dependent": (
        r"(?:(?:and|but|so|also|oh|then|plus|yeah|yes)\s+)*(?:(?:it|they|them|those|these|that|this|he|she|his|her|their|its|both|there)(?:'\w+)?\b|"
        r"which\b|(?:i|we)?\s*(?:\w+(?:'\w+)?\s+){1,3}(?:it|them|that one|this one|here)\b(?!\s+(?:is|was|are|were|on)\b))"
    ),
}
SMALL_TALK: Final = (
    r"(?:(?:(?:good )?(?:morning|afternoon|evening|night)|hi|hey+|hello+|hiya|yo|sup|howdy|greetings|bye+|goodbye|see (?:you|ya)|ttyl|cya|later|"
    r"thanks?|thank you|thx|ty|cheers|ta|many thanks|appreciate it|much appreciated|ok(?:ay)?|k|kk|sure|cool|nice|great|good|perfect|awesome|"
    r"amazing|wow|aww+|lol|haha+\w*|hehe\w*|lmao|yes|yeah|yep|yup|nope?|nah|hm+|um+|oh|ah|aha|oops|sorry+|right|exactly|agreed|indeed|noted|got it|"
    r"gotcha|makes sense|sounds good|fair enough|never ?mind|nvm|no worries|no problem|np|welcome|congrats|congratulations|you too|same|have fun|"
    r"enjoy|take care|so much|a lot|very much|again|for that|for (?:the|your) (?:help|info|answer|tips?|advice)|that helps?(?: a lot)?|interesting|"
    r"i see|true|of course|alright|fine|well|so|and|the|there|everyone|all|guys|then|all good|my friend|man|mate|dude|buddy|absolutely|totally)\b[\W_]*+)++$"
)

# --- anywhere in a clause

PHRASES: Final[Mapping[str, str]] = {
    # against
    "hypothetical": (
        r"imagine|suppose|supposing|pretend|what if|hypothetically|in theory|let's say|say i\b|if i (?:were|was|had|could|wanted|won|ever)|i wish|"
        r"would be (?:nice|cool|great|fun|awesome|lovely)|would have been|i(?:'d| would) (?:probably|rather be|never survive)|as if\b|"
        r"in (?:a|my) (?:dream|story|novel|game|song|lyrics|poem)|for the sake of argument"
    ),
    "opinion": (
        r"imo\b|imho\b|meh\b|in my opinion|overrated|underrated|cringe|ugly|boring|so (?:good|bad|cool|cute|pretty|funny|weird|annoying|awesome|rewarding|important|inspiring|fun)\b|"
        r"(?:looks?|sounds?|seems?|feels?) (?:like|good|great|nice|cool|weird|bad|ok|okay|fine|fun|lovely|amazing|interesting|perfect|awful|delicious|tricky|"
        r"meh|rough|tough|hard|off)\b|i (?:think|believe|feel|reckon|suppose|guess|bet|doubt) (?:it|that|this|the|they|you|he|she|we|so|people|there|like)\b|"
        r"what a (?:week|day|game|mess|shame|night|month|year|pain|view)"
    ),
    "passing": (
        r"(?:i'm|im|i am|we're|we are|i feel|i was|i got) (?:\w+ ){0,2}?(?:tired|exhausted|shattered|knackered|hungry|starving|bored|sleepy|cold|hot|busy|stressed|"
        r"overwhelmed|confused|lost|stuck|excited|happy|sad|glad|annoyed|frustrated|worried|nervous|back|done|here\b|fine|ok|okay|good|great|sure|"
        r"sorry|late|kidding|joking|serious|thinking|wondering|guessing|trying|hoping|dying|crying|laughing|sweating|freezing|about to|just|so|going with|"
        r"proud|lucky|grateful|thankful|impressed|amazed|pumped|stoked|thrilled|gonna keep|struggling (?:with|to)|"
        r"getting (?:an?|the|this|these|some) (?:\w+ )?(?:error|issue|problem|warning|exception)|having (?:trouble|issues|problems|an issue|a problem|some|difficulty)|"
        r"seeing|facing|asking|looking (?:at|for|to|into|forward)|talking|not (?:sure|getting|able to figure))\b|feeling\b|"
        r"i (?:don't|dont|do not|didn't|didnt|can't|cant|cannot|couldn't|won't) (?:\w+ )?(?:know|understand|get it|get why|remember|recall|think|care|mind|see|"
        r"believe|figure|tell|decide|wait|say|find|seem|complain|blame|follow|thank|give up|let)\b|"
        r"i (?:\w+ )?(?:guess|mean|know|wonder|see|hear|agree|understand|suppose|hope|wish|forgot|bet|swear|appreciate|tried|checked|noticed|thought|admire|found|realize[d]?|heard|love (?:that|how|your|it|the way|what))\b"
        r"(?! (?:how to )?(?:swim|drive|cook|dance|python|spanish|french|my))|(?:my|the) (?:head|brain|legs?|feet|eyes?|back) (?:is|are|hurts?|aches?|feels?) (?:toast|dead|killing|spinning|fried|mush|tired|sore)|"
        r"(?:can't|cant|cannot) (?:wait|even|deal|stop|believe|help|complain|thank)\b|kicking in|living the dream|"
        r"(?:i've|i have|ive) (?:a|another|some|one more|one|got a|got some) (?:\w+ )?(?:question|issue|problem|doubt|request|favou?r|error|bug|query|idea|concern)s?\b|"
        r"(?:i've|i have) (?:heard|noticed|seen|read|tried|found|been trying|been thinking|been wondering|got the following)\b|i have no (?:idea|clue)|i could (?:sleep|eat|murder|kill|cry|use a|do with)|"
        r"i(?:'ll| will) (?:try|check|do that|let you|look|see|think|go with that|keep|take a look|give it|make sure|be sure|definitely|get back|remember|consider|"
        r"start (?:with|by)|use (?:that|this|it)|have a look|pass|never give|also)\b|i (?:just|only) (?:want|need|wanted|noticed|reali[sz]ed|saw|read|asked|said|meant)\b|i asked|"
        r"i (?:want|need)(?:ed)? to (?:make sure|ensure|know|understand|see|check|confirm|ask|implement|add|use|create|write|make it|test|optimi[sz]e|avoid|display|handle|set up|get (?:a|some|the)|"
        r"fix|figure|compare|calculate|prove|find|show|keep|improve|include)\b|never give up|keep going|means? (?:so much|a lot|the world)"
    ),
    "request": (
        r"please (?:provide|give|show|explain|help|tell|let|suggest|share|write|make)|can you|could you|would you (?:mind|be able)|help me (?!when|through)|"
        r"i would(?: also)? like to (?:know|use|see|understand|get|have you)|i'd(?: also)? like to (?:know|use|see|understand|get)"
    ),
    "secret": r"redacted: ",
    # for
    "first person": r"(?:i'm|im|i've|ive|i'll|i'd|i|mine|my|me|we're|we've|we'll|we|our|us)\b(?!\.e)",
    "habit": (
        r"always|never|usually|normally|typically|generally|every (?:day|morning|night|evening|week|weekend|month|year|other|single|mon|tue|wed|thu|fri|sat|sun|summer|"
        r"winter|two|three|few)|each (?:day|week|morning|evening|month|year)|(?:mon|tues|wednes|thurs|fri|satur|sun)days|daily|weekly|twice a|once a|three times|"
        r"most (?:days|mornings|evenings|weekends|nights)|since (?:\d|i |uni|university|college|childhood|last|the|my)|"
        r"for (?:\d+|two|three|four|five|six|seven|eight|nine|ten|a few|several|over|about|almost|nearly|many) (?:\w+ )?(?:years?|months?|decades?|weeks?)|"
        r"no longer|any ?more|these days|nowadays|used to|as a rule|by default"
    ),
    "state": (
        rf"(?:{_I}|i am|we are)(?:\s+{_ADVERB})*\s+(?:live|work(?:ed)? (?:as|at|for|in|from|part|full|nights|shifts|with|on)|teach|study|studied|play|speak|drive|own|rent|collect|volunteer|coach|run a|"
        r"manage|lead|train|commute|sing|paint|knit|bake|garden|hate|adore|loathe|dislike|enjoy|prefer|like (?!that|if|when|how|it\b|your|to know|the (?:way|idea)|what|this|these)|love (?!that|how|it|your|the way|what|being able|seeing|having you)|can't (?:stand|bear|eat|have)|cant (?:stand|eat|have)|"
        r"(?:don't|dont|do not) (?:eat|drink|like|smoke|drive|own|have|do|use|celebrate|speak|watch|cook|take|touch|work)|avoid|"
        r"only (?:eat|drink|use|buy|wear|read|fly|take|work|write|watch|listen)|eat|drink|smoke|go to|belong|report to|use|wear|take|track|deploy|"
        r"(?:haven't|havent|hasn't|don't have|dont have) (?:got )?(?:an?|any|my)\b|down to|have (?:an?|two|three|four|five|six|\d+|no|my own|lived|worked|never|always)\b|(?:got|been|lived|worked|never|always|had|moved|started|switched|decided|quit|given up|gone)\b|"
        r"got (?:an?|two|three|\d+|my|married|engaged|divorced|promoted|diagnosed|into|the)|was (?:born|raised|diagnosed|promoted|laid off|fired|made redundant|hired|accepted)|"
        r"grew up|graduated|majored|allergic|intolerant|vegan|vegetarian|pescatarian|coeliac|celiac|diabetic|asthmatic|dyslexic|autistic|colou?r-?blind|left-handed|"
        r"lactose|gluten|pregnant|married|divorced|single|engaged|widowed|retired|unemployed|self-employed|freelanc|jewish|muslim|christian|hindu|buddhist|"
        r"(?:scared|afraid|terrified) of|into|fluent|learning|studying|training|preparing|saving|working (?:as|at|on|for|in)|living|based|originally|from|called|named|"
        r"an? (?:\w+ ){0,3}?\w+(?:er|or|ist|ian|ant|ent|nurse|chef|cook|student|mum|mom|dad|parent|vet|pilot|pm|dev|intern|founder|ceo|cto|twin|fan|widow|owl|bird|person)\b|"
        r"moving|starting|expecting|planning|off (?:to|dairy|sugar|gluten|alcohol|caffeine|meat|coffee)|on (?:a|the) (?:\w+ )?(?:diet|waiting list|pill|medication)|"
        r"on (?:metformin|insulin|statins|antibiotics|medication|meds|keto)|\d\d\b(?!,|\.)|in (?:my|year|grade) |not (?:a|an|allowed|able to|eating|drinking)|"
        r"the (?:\w+ )?(?:oldest|youngest|eldest|only child|lead|head|manager|founder|owner))"
    ),
    "change": (
        r"shifted to|transferred to|preponed|moved|relocated|switched|changed|quit|left|joined|started|stopped|gave up|given up|gone off|went (?:vegan|vegetarian|freelance|part-time|back to)|took up|"
        r"picked up|picked it up|signed up|got (?:married|engaged|divorced|a (?:new )?(?:job|dog|cat|car|puppy|kitten|promotion|place|flat|house|tattoo|bike)|the|my|into|accepted|hired|laid)|"
        r"adopted|bought|sold|broke up|split up|retired|promoted|enrolled|passed|failed|graduated|won|lost|finished|published|launched|founded|opened|diagnosed|prescribed|"
        r"broke (?:my|his|her)|had (?:surgery|a baby|an operation|a miscarriage|a stroke)|gave birth|was born|died|is now|are now|put me on|"
        r"now (?:an?|at|in|with|on|working|doing|living|using)\b|instead of|no longer"
    ),
    "plan": (
        r"going to|gonna|planning|plan to|plan on|we plan|i plan|decided|booked|booking|flying|travell?ing|visiting|moving to|starting|saving for|training for|aiming|"
        r"goal is|goal:|my goal|want to (?:learn|become|run|visit|travel|move|buy|quit|get into|start|study|finish|climb|retire)|hoping to|hope to|"
        r"need to (?:train|finish|submit|renew|lose|pass|book|pick)|appointment|interview|wedding|anniversary|deadline|exam|flight|surgery|due date|is due|expecting|"
        r"marathon|birthday|reservation|conference|meeting with|i'll bring|i'll be (?:in|at|on)|let's (?:do|go with)|lets do|we're doing|i'm doing|i'm bringing|going with|arriv|launch|(?:they'll|he'll|she'll|i'll|will) (?:be|turn) \d"
    ),
    "kin state": rf"(?:my|our|his|her) (?:\w+ ){{0,2}}?{KIN}(?: [a-z][\w'-]+)?(?:'s|s| is| are| has| have| lives?| works?| loves?| hates?| likes?| can't| cannot| won't| doesn't| don't| never| always| turned| turns| moved| got| started| passed| studies| plays| teaches| will| was| wants| goes| speaks| had| died)\b(?! (?:crying|hiding|laughing|screaming|asking|saying|wondering|being|sleeping|sitting|waiting|trying|making|so )\b)",
    "trait": r"teetotal|vegan|vegetarian|pescatarian|coeliac|celiac|diabetic|asthmatic|allergic|intolerant|dyslexic|deaf|blind|pregnant|retired|claustrophobic|agoraphobic|left-handed|colou?r-?blind|carsick|seasick|lactose|gluten-free|halal|kosher|atheist|introvert|extrovert|insomniac|scared of|afraid of|terrified of|won't (?:eat|touch|drink)|doesn't (?:eat|drink|speak|read|drive|like)|can't (?:eat|swim|drive|read|stand|bear|drink)",
    "has none": r"no (?:kids|children|pets?|siblings|allergies|partner|debts?|religion|middle name)\b",
    "perfect": r"(?:i've|ive|we've|i have|we have) (?!heard|noticed|seen|read|tried|found|a\b|an\b|no\b|to\b|the\b|some\b|any\b|been (?:trying|thinking|wondering))(?:\w+ly )?\w+(?:ed|en|ght|ne|wn|ft|ld|nt|de|ved|me|un|um)\b",
    "amount": r"\d[\d,.]* ?(?:an?|per|/) ?(?:month|week|year|day|hour|night|head|person)\b|\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?%|\d+ ?(?:k|grand|pounds|quid|dollars|euros|bucks)\b",
    "reports": r"(?:goes|went|says|said|told (?:me|us)|was like|is like|announced|reckons|claims) .*[\"“]",
    "settled": r"(?:settled|put up|staying|stationed|raised|born|brought up|hail|hails|belongs?) (?:in|at|from|to)\b|on finance|mortgage|pushed (?:back )?to|postponed|brought forward|instead of|rather than|moved off|moved on from|knocked .* on the head|no more \w+",
    "remember": (
        r"(?:put|note|write|jot) down (?:that|my)|remember (?:that|this|my|i|to|:)|please remember|note that|for the record|just so you know|fyi|keep in mind|don't forget (?:that|i|my)|make a note|heads up|"
        r"for reference|log for"
    ),
    "health": (
        r"doctor's orders|(?:the )?(?:doctor|gp|midwife|consultant|dentist|physio) (?:said|says|told|found|put|wants)|gestational|queasy|nausea|tablets?\b|pills?\b|\d+ weeks (?:pregnant|today|along|gone)|allerg|intoleran|coeliac|celiac|diabet|asthma|migraine|arthritis|adhd|autism|anxiety|depression|depressed|epilep|anaemi|eczema|hives|medication|meds\b|metformin|"
        r"insulin|statin|inhaler|therapy|physio|surgery|blood pressure|cholesterol|pregnan|injur|sprained|fractured|\d+ ?mg\b|type [12]\b|diagnos|prescri|knee|hernia|tinnitus"
    ),
    "measure": r"(?:height|weight|weigh|resting hr|blood type|shoe size|goal|bust|chest|waist|hips?|inseam|collar)\b.*\d|\d ?(?:ft|foot|feet)\b ?\d*|\dft\d*|\d+(?:\.\d+)? ?(?:kg|lbs?|pounds|bpm)\b",
    "own": (
        r"(?:our|my|the) (?:\w+ ){0,3}?(?:stack|repo|database|backend|frontend|server|sprint|standup|deadline|ci|cluster|region|framework|editor|laptop|phone|company|startup|"
        r"team|office|department|school|university|thesis|dissertation|project|app|website|blog|podcast|book|novel|shop|store|business|restaurant|farm|garden|flat|house|"
        r"apartment|car|bike|boat|band|choir|club|class|course|job|degree|major|visa|passport|birthday|wedding|anniversary|budget|rent|salary|mortgage|commute|shifts?|schedule|"
        r"diet|name|nickname|email|number|address|postcode|timezone|hometown|native language|mother tongue|hobby|hobbies|goal)\b"
    ),
    "others": rf"(?:my|our|his|her|their) (?:\w+ ){{0,2}}?{KIN}s?\b",
    "favourite": r"(?:fav|fave|favou?rites?)\b|pet (?:hate|peeve)|guilty pleasure|go-to",
    "date": (
        rf"yesterday|tomorrow|tonight|in (?:may|spring|summer|autumn|winter)\b|(?:last|next|this) (?:week|month|year|night|summer|winter|spring|autumn|fall|{_WEEKDAY})|{_WEEKDAY}|{_MONTH}|\d{{1,2}}(?:st|nd|rd|th)\b|"
        r"(?:19|20)\d\d\b|easter|christmas|xmas|nye\b|new year"
    ),
    "figure": r"\d",
    "schedule": r"(?:is|are|starts?|moved|moves|meets?|was|due)\s+(?:now\s+)?(?:on|to|at|for)\s+(?:the\s+)?(?:next\s+)?(?:mon|tue|wed|thu|fri|sat|sun|\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    "starts": r"(?:starts?|begins?|ends?|opens?|closes?|expires?|arrives?)\b(?=.*(?:\d|day\b|next|tomorrow))",
    "decision": r"go on then,|i'll have the|we'll have the|let's have the|(?:i've|we've|i|we)(?: have)? (?:decided|chose|chosen|settled|opted|picked|went (?:with|for))\b",
    "instruction": (
        r"from now on|going forward|in (?:the )?future,|from here on|henceforth|unless i (?:say|ask|tell)|by default,|whenever i (?:ask|say)|standing (?:request|instruction|rule)s?|call me \w+|i (?:want|prefer|like|need) (?:you to|your (?:answers|replies|responses)|answers|replies|responses|short|concise)"
    ),
    "correction": r"i meant?\b|not \w+(?: \w+)?[,:]? (?:but|it's|sorry)",
    # against, a little
    "code": r"(?:function|method|variable|array|string|module|query|endpoint|exception|traceback|error|code|script|dataframe|regex|html|css|button|column|algorithm|equation|integral|theorem|formula|triangle|probability|problem|calculation)s?\b",
    "vague": r"(?:something|stuff|things?|somehow|whatever|somewhere|this one|that one|these(?! days)|those)\b",
    "to you": r"(?:you|your|you've|you're|yours)\b",
    "pep": (
        r"(?:dreams?|journey|believ\w+|passion\w*|inspir\w+|grateful|support(?:ive|ing)?|amazing|awesome|wonderful|incredible|important|difference|meaningful|rewarding|special|"
        r"positiv\w+|motivat\w+|happiness|joy|peace|strength|hope|courage|love and|acceptance|resilien\w+|progress|growth|memories|vibes?|smiles?|freedom|connection|feels?|feeling|mean(?:s|t) )\b"
    ),
    "points": r"the following|as follows|(?:shown |see )?below\b|above\b|here(?:'s| is)\b|like this|this (?:approach|method|example|way|question|topic)",
}
CASED: Final[Mapping[str, re.Pattern[str]]] = {
    "introduces myself": re.compile(r"\b[Mm]yself [A-Z][a-z]+"),
    "name": re.compile(
        r"(?<=[a-z,;(\d] )(?!I\b|I'|OK\b|LOL\b|English\b|TV\b|AI\b|PM\b|AM\b|API\b|CSV\b|JSON\b|SQL\b|HTML\b|CSS\b|PDF\b|URL\b)[A-Z][a-zA-Z\u00c0-\u024f]+|[\u4e00-\u9fff]{2,}"
    ),
    "called": re.compile(r"\b(?:called|named)\s+[A-Z]"),
    "introduces": re.compile(
        r"(?:\b[Ii]'m|\b[Ii]m|\bI am|\b[Mm]y name is|\b[Mm]y name's|\b[Tt]his is|\bname's)\s+(?!I\b|English\b|American\b|Python\b|OK\b)[A-Z][a-z]+"
    ),
    "named subject": re.compile(
        r"^\W*(?:(?:so|and|but|oh|well|also) )?(?!(?:The|This|That|These|Those|It|There|What|Thanks|Here|Also|Just|Some|Most|Many|Every|All|One|Each|His|Her|Their|Its|Your|Yes|As|Is|Was|Has)\b)[A-Z][a-z]+ (?:ma'am |sir |ji )?(?:is|was|has|had|will|won't|can't|[a-z]+(?:ed|[^s]s))\b"
    ),
    "is a name": re.compile(r"\b(?:is|are|was|it's)\s+(?:an?\s+)?(?:\d{4}\s+)?[A-Z][a-z]+"),
}
CASED_HINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "called": ("called", "named"),
    "introduces myself": ("myself",),
    "introduces": ("i'm ", "im ", "i am ", "name", "this is"),
    "is a name": ("is ", "are ", "was ", "it's "),
}
WEIGHTS: Final[Mapping[str, float]] = {
    "first person": 1.0,
    "leaves out i": 1.0,
    "habit": 1.0,
    "state": 1.6,
    "change": 1.2,
    "plan": 1.0,
    "remember": 2.0,
    "health": 1.2,
    "measure": 2.4,
    "own": 0.8,
    "others": 0.6,
    "kin state": 0.8,
    "trait": 1.4,
    "has none": 2.0,
    "perfect": 0.6,
    "amount": 1.2,
    "reports": 0.8,
    "settled": 1.0,
    "about it": -1.0,
    "passing": -2.5,
    "opinion": -2.5,
    "bare kin": 1.2,
    "favourite": 1.8,
    "date": 0.6,
    "figure": 0.4,
    "name": 0.7,
    "called": 0.8,
    "introduces": 2.0,
    "introduces myself": 2.0,
    "named subject": 0.6,
    "is a name": 0.5,
    "schedule": 1.2,
    "starts": 0.8,
    "decision": 2.0,
    "instruction": 2.5,
    "code": -1.2,
    "vague": -0.5,
    "third thing": -0.6,
    "to you": -0.5,
    "pep": -1.1,
    "points": -1.2,
}
ROLE_PLAY: Final = (
    r"role-?play|rp\b|let's play (?:a game|pretend)|pretend (?:to be|you(?:'re| are)|i(?:'m| am)|that (?:you|i))|imagine (?:i'm|i am|im|that i|you're|you are|we're|we are|being)|"
    r"mock (?:interview|exam|trial)|(?:you're|you are|you be|you play|i'll be|i'll play|i play) (?:the|an?) (?:\w+ )?(?:interviewer|manager|waiter|waitress|customer|villain|hero|king|queen|knight|detective|character|candidate|patient|client|captain|wizard|vampire|landlord|shopkeeper|teacher|student|guard|judge|lawyer|hiring manager)|practi[cs]e (?:dialogue|conversation|interview)|"
    r"act as\b|you are now|stay in character|in character|(?:write|tell|make up|continue) (?:me )?(?:an?|the|this|my) (?:\w+ ){0,3}?(?:story|poem|song|novel|scene|script|fanfic|"
    r"screenplay|dialogue|monologue|chapter|limerick|rap)\b|(?:d&d|dnd|dungeon) (?:campaign|character|session)|(?:my|our) (?:d&d|dnd|game|rpg) character"
)
ROLE_PLAY_ENDS: Final = (
    r"out of character|ooc\b|end (?:of )?(?:the )?(?:role-?play|scene|game)|stop (?:the )?(?:role-?play|pretending|game)|back to (?:reality|real life|normal|business)|in real life|irl\b|"
    r"for real (?:now|though)|(?:ok|okay|anyway)\W+(?:enough|seriously|real talk|back to)"
)
SARCASM: Final = (
    r"living the dream|yeah right|oh (?:great|joy|brilliant|wonderful|perfect|fantastic|good|lovely|yay)\b(?=.*\b(?:another|again|just what)\b)|just what i (?:needed|always wanted)|"
    r"how (?:lovely|wonderful) for|thanks a lot,|big surprise|shocker|because (?:obviously|of course) (?:i|that)|my absolute favou?rite thing"
)
GUSHING: Final = r"love|adore|thrilled|delighted|best\b|can't wait|cant wait|wouldn't have it|so happy|brilliant|wonderful|lucky me"
PASTE_HEADER: Final = re.compile(
    r"\b(?:fix|correct|check|proofread|review|edit|rewrite|rephrase|improve|shorten|summari[sz]e|translate|explain|analy[sz]e|read|polish|grammar|reply to|respond to|answer|look at|"
    r"feedback on|rate|debug|critique|simplify|(?:here(?:'s| is| are)|this is|below is|following|got this|received this|he wrote|she wrote|they wrote|it says|says|wrote|copied|"
    r"pasted|pasting|draft|e-?mail|letter|cv|resume|essay|article|text|message|log|logs|traceback|error|output|code|lyrics|paragraph|bio|job ad|listing))\b[^\n]{0,120}[:：]\s*$",
    re.IGNORECASE,
)
# A request for something that stands below it, without a colon.
PASTE_NOUN: Final = re.compile(
    r"\b(?:this|my|the|following|below|his|her|their|an?) (?:\w+ ){0,2}?(?:cv|resume|e-?mail|letter|essay|article|text|message|paragraph|poem|lyrics|code|function|query|log|logs|error|abstract|statement|speech|caption|description|review|listing|post|recipe)\b",
    re.IGNORECASE,
)
RECALLED_HEADER: Final = re.compile(
    r"\b(?:(?:relevant|known|stored|saved|previous|past|user|retrieved|existing|your) (?:user )?(?:memor(?:y|ies)|facts|notes|context)|memor(?:y|ies) (?:about|of|so far)|"
    r"what you know about (?:me|the user)|facts about (?:me|the user)|(?:you|assistant) (?:listed|said|told|remembered?|stored|saved|have|know|noted|kept)[^\n]{0,40} about (?:me|the user))\b[^\n]{0,40}[:：]?\s*$",
    re.IGNORECASE,
)
