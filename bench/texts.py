"""Texts that read like memories, and questions about them: made from word lists, the same on every run."""

from __future__ import annotations

import random

_NAMES = (
    "Ana Bruno Chidi Dagny Emre Farah Goran Hana Ines Jonas Kofi Lena Mateo Nadia Olga Priya Quinn Rosa Sven "
    "Tariq Uma Viktor Wanda Yusuf Zora"
).split()
_PLACES = (
    "Lisbon Tartu Ghent Porto Oslo Lviv Faro Oran Kyoto Cusco Leeds Turin Basel Split Cork Bergen Malmo Graz "
    "Riga Nantes Bilbao Tampere Zadar Utrecht"
).split()
_JOBS = "nurse baker welder florist teacher plumber editor pilot chemist tailor barber surveyor".split()
_THINGS = (
    "blue kayak,green bicycle,old piano,red tent,silver watch,wooden desk,small drone,sewing machine,film camera,"
    "yellow raincoat,folding chair,stone oven,garden shed,electric kettle,leather bag,travel guitar"
).split(",")
_FOODS = "coriander oolong lentils mackerel rhubarb halva gnocchi kimchi figs olives tofu sourdough".split()
_SPORTS = "rowing padel climbing swimming fencing judo cycling archery curling badminton".split()
_MONTHS = "January February March April May June July August September October November December".split()
_PATTERNS = (
    "{name} moved from {place} to {place2} in {month} and works there as a {job}",
    "I bought a {thing} from {name} in {place} for {n} euros last {month}",
    "My sister {name} is allergic to {food} and never eats {food2} before {sport}",
    "Please remember that the meeting with {name} in {place} is on {n} {month} at half past nine",
    "{name} and {name2} go {sport} every week near {place} with the {thing}",
    "The booking for {place} has the code {code} and costs {n} euros for two nights",
    "I prefer {food} over {food2}, but {name} cooks it only when we visit {place}",
    "When {name} worked as a {job} in {place} we shared a flat and a {thing}",
    "我和{name}去年{n}月在{place}买了一辆自行车，花了{n}块钱",
    "{name}喜欢吃火锅，不喜欢{food}，现在住在{place}",
)
_QUESTIONS = (
    "where does {name} work now",
    "who goes {sport} near {place}",
    "what did I buy in {place}",
    "is {name} allergic to {food}",
    "what is the booking code for {place}",
    "when is the meeting with {name}",
    "{name}喜欢吃什么",
    "how much was the {thing}",
)


def texts(n: int, seed: int = 0) -> list[str]:
    """*n* distinct sentences of 8 to 20 words; some words are everywhere, most are rare."""
    dice = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < n:
        text = _filled(dice, dice.choice(_PATTERNS))
        # A rare tail, as real memories have: an odd word or a number that stands once or twice.
        made[f"{text}, note {_code(dice)}" if text in made or dice.random() < 0.3 else text] = None
    return list(made)


def queries(n: int, seed: int = 1) -> list[str]:
    """*n* questions of 3 to 8 words about such sentences."""
    dice = random.Random(seed)
    return [_filled(dice, dice.choice(_QUESTIONS)) for _ in range(n)]


def _filled(dice: random.Random, pattern: str) -> str:
    name, name2 = dice.sample(_NAMES, 2)
    place, place2 = dice.sample(_PLACES, 2)
    food, food2 = dice.sample(_FOODS, 2)
    return pattern.format(
        name=name,
        name2=name2,
        place=place,
        place2=place2,
        food=food,
        food2=food2,
        job=dice.choice(_JOBS),
        thing=dice.choice(_THINGS),
        sport=dice.choice(_SPORTS),
        month=dice.choice(_MONTHS),
        n=dice.randint(1, 28),
        code=_code(dice),
    )


def _code(dice: random.Random) -> str:
    letters = "".join(dice.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=2))
    return f"{letters}{dice.randint(10, 99)}-{dice.randint(100, 999)}"
