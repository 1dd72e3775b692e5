import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lukasa.text.tokens import query_words, terms

ANY_TEXT = st.text(st.characters(codec=None)) | st.text(
    st.sampled_from("abé-_.@:/'’ 12ß我的猫什么谁食べる집에กินमे ЖüÉ\u0301\u200d"), max_size=60
)


def hits(query: str, text: str) -> list[tuple[str, ...]]:
    """The query's words that the text has."""
    index = terms(text)
    return [word for word in query_words(query) if any(form in index for form in word)]


def flat(words: Iterable[tuple[str, ...]]) -> set[str]:
    return {form for word in words for form in word}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        # English
        ("running", "She runs every morning"),
        ("Where did John go hiking?", "John's hikes in the Alps"),
        ("Is it Jose?", "José is my brother"),
        ("obrien", "Pat O'Brien called"),
        ("can't sleep", "I cannot sleep"),
        ("ABC123", "Order ABC-123 was late"),
        ("abc", "Order ABC-123 was late"),
        ("ABC-123", "order abc 123"),
        ("email", "My e-mail is broken"),
        ("foo_bar", "call foo_bar() first"),
        ("foobar", "call foo_bar() first"),
        ("john.doe@example.com", "Write to John.Doe@example.com!"),
        ("example.com", "Write to John.Doe@example.com!"),
        ("doe", "Write to John.Doe@example.com!"),
        ("3.11.2", "Python 3.11.2 is out"),
        ("https://example.com/a/b?c=1", "see https://example.com/a/b?c=1."),
        ("example.com", "see https://example.com/a/b?c=1."),
        ("ﬁnance Ｐｙｔｈｏｎ", "finance python"),
        # others
        ("bicicletas", "Me gusta mucho andar en bicicleta por las montañas"),
        ("¿Dónde viven los niños?", "El niño vive con su madre en Sevilla"),
        ("Häuser", "Das Haus meiner Eltern steht seit Jahren leer"),
        ("l'homme", "Un homme est venu hier soir chez moi"),
        ("зеленый чай", "Я люблю зелёный чай с мёдом"),
        ("кошками", "У меня две кошки и одна собака"),
        ("Αθήνα", "Μένω στην Αθήνα εδώ και χρόνια"),
        ("北京", "我住在北京，喜欢写代码"),
        ("猫", "我养了一只猫"),
        ("我的猫叫什么名字", "我养了一只猫"),
        ("Python", "我用Python写代码"),
        ("東京", "東京に住んでいます"),
        ("コーヒー", "毎朝コーヒーを飲みます"),
        ("서울", "나는 서울에 살아요"),
        ("집", "나는 집에 가요"),
        ("ข้าวผัด", "ฉันชอบกินข้าวผัด"),
        ("दिल्ली", "मैं दिल्ली में रहता हूँ"),
        ("who am I", "that is who I am"),
        ("it", "IT is where I work"),
        ("the the", "I saw The The live"),
        ("什么", "你说什么"),
    ],
)
def test_a_query_finds_the_text(query: str, text: str):
    assert hits(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("What is the capital of it?", "the what is of it"),
        ("1-2", "12"),
        ("will", "We're well"),
        ("上海", "北京"),
        ("我的猫叫什么名字", "你的狗在哪里？什么"),
    ],
)
def test_a_query_does_not_find_what_shares_only_grammar(query: str, text: str):
    assert not hits(query, text)


def test_stop_words_and_question_words_are_left_out_of_queries():
    assert query_words("What is the name of my dog?") == (("name",), ("dog",))
    assert flat(query_words("¿Cuál es el nombre de mi perro en Madrid?")) >= {"nombr", "perr", "madrid"}
    assert "cual" not in flat(query_words("¿Cuál es el nombre de mi perro en Madrid?"))
    assert flat(query_words("我的猫叫什么")).isdisjoint({"什么", "我的", "么", "我", "的"})


def test_a_query_of_stop_words_keeps_them():
    assert query_words("who am I") == (("who",), ("am",), ("i",))


def test_a_capital_inside_a_sentence_is_a_name():
    assert query_words("What does Will like") == (("will",), ("like",))
    assert query_words("Will it rain") == (("rain",),)
    assert query_words("WHAT WILL IT COST") == (("cost",),)


def test_words_come_once_and_with_each_likely_stem():
    found = query_words("Die Häuser und Häuser meiner Nachbarn sind leer")
    assert ("hauser", "haus") in found
    assert len(found) == len(set(found))


def test_counts_are_of_the_term():
    assert terms("run, running and runs")["run"] == 3
    assert terms("猫猫猫")["猫猫"] == 2


def test_long_words_meet_in_a_short_term():
    long = "x" * 500
    assert max(map(len, terms(f"key {long} {long}.{long}"))) <= 64
    assert hits(long, f"key {long}")
    assert not hits(long + "y", f"key {long}")


def test_threads_agree():
    texts = [f"Running {n} miles with José in Häusern" for n in range(50)] * 4
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(terms, texts)) == [terms(text) for text in texts]


@given(ANY_TEXT)
@settings(max_examples=400)
def test_any_text_finds_itself(text: str):
    index = terms(text)
    words = query_words(text)
    assert all(any(form in index for form in word) for word in words)
    assert bool(words) == bool(index)
    assert all(count > 0 and term for term, count in index.items())
    for term in index:
        term.encode("utf-8")


@given(
    ANY_TEXT,
    st.sampled_from(
        [
            "Das ist nicht mein Haus, sondern das meiner Eltern. ",
            "我住在北京。",
            "I am here with the others. ",
        ]
    ),
)
def test_a_text_is_found_whatever_language_surrounds_it(text: str, around: str):
    index = terms(around + text + " ")
    for word in query_words(" " + text):
        assert any(form in index for form in word)


@pytest.mark.parametrize(
    "unit",
    [
        "I moved to Berlin. ",
        "a.",
        "a",
        "é ",
        "我住在",
        "a\u0301\u0316",
        "'",
        "a-'_",
        " ",
        "l'",
        "A ",
        "什么",
        "ไ",
        "İ@",
    ],
)
def test_time_is_linear(unit: str):
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    terms(text)
    assert time.process_time() - started < 4
