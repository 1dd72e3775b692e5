"""Texts that read like memories, and questions about them: the same on every run, English with some Chinese.

Words are drawn as in real talk: a few names and places are everywhere, most are rare, and most surnames
and all codes stand once or twice. So postings have the lengths that a search meets in earnest.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

_NAMES = (
    "Anna Tom Maria James Sara David Emma Omar Lena Peter Nina Carlos Julia Ahmed Kate Ivan Mia Paul Rosa Ben "
    "Yuki Felix Clara Hugo Priya Max Zoe Karim Elsa Oscar Ines Marco Vera Theo Amara Luis Hana Erik Ruth Diego "
    "Olga Sven Leila Jonas Mei Adam Greta Kofi Nadia Simon Petra Raj Alice Tariq Freya Boris Chloe Emil Farah "
    "Goran Hilde Ibrahim Joanna Kenji Laszlo Mirela Nuno Odile Pavel Quinn Rania Stefan Tuva Umberto Viola "
    "Wanda Xavier Yasmin Zoltan Aino Bruno Chidi Dagny Emre Fiona Gustav Helmi Isolde Jorge Katya Lior Mateo"
).split()
_SURNAME_STARTS = (
    "Al Ander Bar Bel Berg Bran Cal Car Cor Dal Dom Eder Eng Fal Fer Gar Gold Gor Hal Har Hof Ivan Jor Kal Kar "
    "Kov Lam Lind Lor Mal Mar Mor Nov Ober Os Pav Pet Rad Ros Sal Sand Sol Stein Tar Tor Ul Var Vel Wal Zel"
).split()
_SURNAME_ENDS = (
    "ac aldi ano berg berger dottir effer enko er escu ez feld grove heim ic ilow in ini ison kamp ling lund man "
    "mont ner off ova owski quist rup sen shaw sky son stad ström ton vall wick wood"
).split()
_PLACES = (
    "London Berlin Paris Lisbon Vienna Prague Madrid Rome Dublin Oslo Porto Boston Zurich Krakow Ghent Riga "
    "Turin Kyoto Seville Leeds Basel Bergen Lyon Bologna Utrecht Tartu Graz Malmo Nantes Bilbao Split Cork "
    "Tampere Zadar Cusco Oran Faro Lviv Leuven Aarhus Brno Coimbra Dundee Evora Fribourg Girona Haarlem Imola "
    "Jena Kaunas Lecce Matera Novara Odense Pecs Quimper Rouen Siena Trieste Uppsala Vigo Warwick Ystad Zwolle"
).split()
_SPOTS = (
    "old harbour,central station,market square,botanical garden,city library,river bank,town hall,north gate,"
    "science museum,swimming hall,corner bakery,music school,tram depot,climbing hall,opera house,bike shop,"
    "fish market,observatory,community centre,roof terrace,cemetery gate,glass factory,ferry pier,allotments"
).split(",")
_JOBS = (
    "teacher nurse developer designer cook accountant lawyer driver electrician baker editor plumber florist "
    "carpenter chemist dentist welder pilot tailor librarian translator surveyor beekeeper optician glazier "
    "archivist luthier cartographer falconer"
).split()
_THINGS = (
    "bicycle,laptop,camera,tent,guitar,desk,coffee machine,winter coat,piano,kayak,road bike,sewing machine,"
    "bookshelf,telescope,rucksack,drone,raincoat,violin,folding chair,stone oven,garden shed,leather bag,"
    "electric kettle,wrist watch,chess set,record player,microscope,accordion,weather station,loom,potter's wheel,"
    "metal detector,typewriter,theremin,sextant"
).split(",")
_COLOURS = "blue red green black white grey yellow silver wooden turquoise maroon ivory ochre teal".split()
_FOODS = (
    "coffee tea cheese rice tomatoes bread peanuts apples chocolate pasta fish mushrooms olives lentils tofu "
    "ginger mango walnuts spinach kimchi coriander figs rhubarb oolong sourdough mackerel halva gnocchi quinoa "
    "tarragon persimmons fennel samphire kohlrabi"
).split()
_SPORTS = (
    "running swimming cycling yoga tennis football climbing hiking skiing rowing badminton judo sailing padel "
    "fencing archery curling bouldering orienteering kitesurfing"
).split()
_PETS = "dog cat rabbit parrot hamster tortoise ferret canary gecko hedgehog".split()
_TOPICS = (
    "work,money,the budget,the move,school,the wedding,climate policy,jazz,machine learning,gardening,old films,"
    "the renovation,photography,local history,astronomy,bread baking,beekeeping,Norse sagas,contract law,"
    "tidal power,medieval trade,typography,graph theory,soil chemistry,fungal networks,paper marbling"
).split(",")
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

_ZH_NAMES = "小明 王芳 李娜 张伟 刘洋 陈静 赵磊 周婷 吴强 孙悦 朱琳 郭涛 何平 罗丹 梁宇 宋佳 唐宁 韩雪 冯凯 董洁".split()
_ZH_PLACES = (
    "北京 上海 杭州 广州 成都 深圳 南京 武汉 西安 苏州 厦门 青岛 昆明 大理 长沙 哈尔滨 洛阳 敦煌".split()
)
_ZH_THINGS = "自行车 电脑 相机 手机 钢琴 帐篷 书架 咖啡机 雨衣 吉他 望远镜 缝纫机 古筝 显微镜".split()
_ZH_FOODS = "火锅 米饭 豆腐 饺子 苹果 绿茶 面条 蘑菇 花生 香菜 螃蟹 榴莲 腊肉 凉皮".split()
_ZH_JOBS = "老师 医生 律师 厨师 设计师 工程师 司机 会计 记者 翻译 木匠".split()
_ZH_SPORTS = "跑步 游泳 骑车 爬山 打羽毛球 滑雪 练瑜伽 下围棋 划船 射箭".split()

_WORDS = {
    "name": _NAMES,
    "place": _PLACES,
    "spot": _SPOTS,
    "job": _JOBS,
    "thing": _THINGS,
    "colour": _COLOURS,
    "food": _FOODS,
    "sport": _SPORTS,
    "pet": _PETS,
    "topic": _TOPICS,
    "month": _MONTHS,
    "day": _DAYS,
    "人": _ZH_NAMES,
    "地": _ZH_PLACES,
    "物": _ZH_THINGS,
    "食": _ZH_FOODS,
    "职": _ZH_JOBS,
    "动": _ZH_SPORTS,
}

_PATTERNS = (
    "{name} moved from {place} to {place} in {month} and now works there as a {job}.",
    "I bought a {colour} {thing} from {name} {surname} in {place} for {n} euros last {month}.",
    "My sister {name} is allergic to {food} and never eats {food} before going {sport}.",
    "Please remember that the meeting with {name} {surname} in {place} is on {day}, {n} {month}.",
    "{name} and {name} go {sport} every {day} near the {spot} in {place}.",
    "The booking for the hotel in {place} has the code {code} and costs {n} euros a night.",
    "I prefer {food} over {food}, but {name} only cooks it when we visit {place}.",
    "When {name} {surname} worked as a {job} in {place} we shared a flat and one {thing}.",
    "{name} said on {day} that the {colour} {thing} is still in the cellar of the {spot}.",
    "We adopted a {pet} called {surname} from a shelter near {place} in {month}.",
    "{name} has been learning about {topic} since {month} and wants to give a talk in {place}.",
    "I have an appointment with Dr {surname} about my knee on {n} {month} at the {spot}.",
    "{name}'s birthday is on {n} {month} and she would like a {colour} {thing} this year.",
    "Our neighbour {name} {surname} is a {job} and talks about {topic} all the time.",
    "For dinner on {day} I made {food} with {food}, and {name} asked for the recipe.",
    "I talked with {name} about {topic} for an hour while we walked from the {spot} to the {spot}.",
    "My old {thing} broke in {month}, so {name} lent me a {colour} one until I find another.",
    "{name} {surname} passed the exam in {place} and starts as a {job} on {n} {month}.",
    "The spare key of the flat in {place} is with {name}, and the alarm code is {code}.",
    "I gave up {sport} in {month} because of my back, and {name} suggested {sport} instead.",
    "Every {day} {name} takes the train to {place} and reads about {topic} on the way.",
    "{name} doesn't drink {food} any more, since the {job} in {place} advised against it.",
    "The {pet} of {name} {surname} ran away near the {spot} and came back on {day}.",
    "We plan to spend {n} days in {place} with {name} in {month}, mostly for the {sport}.",
    "I owe {name} {n} euros for the {thing} and the tickets to {place}.",
    "{name} thinks that {topic} will matter more than {topic} for the plans of the team in {place}.",
    "After {sport} on {day} we always eat {food} at the small place behind the {spot}.",
    "My manager {name} {surname} wants the report on {topic} by {day}, with the figures from {place}.",
    "{人}去年{n}月在{地}买了一台{物}，花了{n}块钱，现在还放在家里。",
    "{人}喜欢吃{食}，不喜欢吃{食}，现在和{人}一起住在{地}。",
    "{人}在{地}当{职}，每个周末都和{人}去{动}。",
    "我和{人}约好{n}号在{地}见面，顺便把{物}还给他。",
    "{人}对{食}过敏，所以我们在{地}吃饭的时候只点了{食}。",
    "{人}的妹妹今年{n}月搬到了{地}，找到了一份{职}的工作。",
)
# What people add in passing; it gives the rare words their share.
_TAILS = (
    "Ask {surname} for the details.",
    "The reference is {code}.",
    "{name} {surname} knows more.",
    "It was near {place}.",
    "Most of it was {topic}.",
)
_QUESTIONS = (
    "where does {name} work now",
    "who goes {sport} near {place}",
    "what did I buy in {place}",
    "is {name} allergic to {food}",
    "what is the booking code for {place}",
    "when is the meeting with {name} {surname}",
    "how much was the {colour} {thing}",
    "who talked about {topic}",
    "which {pet} lives with {name}",
    "when is {name}'s birthday",
    "who works as a {job} in {place}",
    "where is the {colour} {thing} kept",
    "what does {name} cook with {food}",
    "{人}喜欢吃什么",
    "{人}现在住在哪里",
    "谁在{地}买了{物}",
)

_CHINESE = 0.12  # of the texts and of the questions
_WITH_TAIL = 0.35
_HOLE = re.compile(r"\{(\w+)\}")


def texts(n: int, seed: int = 0) -> list[str]:
    """*n* distinct sentences of about 8 to 20 words, in an order without pattern."""
    dice = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < n:
        text = _filled(dice, _pattern(dice, _PATTERNS))
        if text in made:
            text = f"{text} The reference is {_code(dice)}."
        elif text.isascii() and dice.random() < _WITH_TAIL:
            text = f"{text} {_filled(dice, dice.choice(_TAILS))}"
        made[text] = None
    return list(made)


def queries(n: int, seed: int = 1) -> list[str]:
    """*n* questions of 3 to 8 words about such sentences."""
    dice = random.Random(seed)
    return [_filled(dice, _pattern(dice, _QUESTIONS)) for _ in range(n)]


def _pattern(dice: random.Random, patterns: Sequence[str]) -> str:
    chinese = dice.random() < _CHINESE
    return dice.choice([pattern for pattern in patterns if ("{人}" in pattern) == chinese])


def _filled(dice: random.Random, pattern: str) -> str:
    used: set[str] = set()

    def fill(hole: re.Match[str]) -> str:
        word = _word(dice, hole[1])
        while word in used:
            word = _word(dice, hole[1])
        used.add(word)
        return word

    return _HOLE.sub(fill, pattern)


def _word(dice: random.Random, kind: str) -> str:
    if kind == "n":
        return str(dice.randint(2, 28))
    if kind == "code":
        return _code(dice)
    words = _surnames() if kind == "surname" else _WORDS[kind]
    return dice.choices(words, cum_weights=_zipf(len(words)))[0]


def _code(dice: random.Random) -> str:
    return f"{''.join(dice.choices('ABCDEFGHJKLMNPQRSTUVWXYZ', k=2))}{dice.randint(10, 99)}-{dice.randint(100, 999)}"


@cache
def _surnames() -> list[str]:
    names = sorted({start + end for start in _SURNAME_STARTS for end in _SURNAME_ENDS})
    random.Random(0).shuffle(names)
    return names


@cache
def _zipf(n: int) -> list[float]:
    """Running sums of 1/(rank + 2): the first of a hundred words is a tenth of what is said, not a half."""
    return list(accumulate(1 / (rank + 2) for rank in range(n)))
