import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.errors import ConfigError
from lukasa.messages import secrets
from lukasa.messages.redact import Masked, Redactor, redactor

MIXED = "AbC1dE2fG3hI4jK5lM6nO7pQ8rS9tU0vWxYz"
HEX = "0123456789abcdef" * 2
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
builtin = Redactor()


@pytest.mark.parametrize(
    ("kind", "secret"),
    [
        ("api key", f"sk-{MIXED}"),
        ("api key", f"sk-proj-{MIXED}-{MIXED}"),
        ("api key", f"sk-ant-api03-{MIXED}"),
        ("api key", "AKIAIOSFODNN7EXAMPLE"),
        ("api key", f"ghp_{MIXED}"),
        ("api key", f"gho_{MIXED}"),
        ("api key", f"ghs_{MIXED}"),
        ("api key", f"github_pat_{MIXED}"),
        ("api key", f"glpat-{MIXED[:20]}"),
        ("api key", f"AIza{MIXED[:35]}"),
        ("api key", f"sk_live_{MIXED}"),
        ("api key", f"rk_live_{MIXED}"),
        ("api key", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"),
        ("api key", f"npm_{MIXED}"),
        ("api key", f"SG.{MIXED[:22]}.{MIXED}"),
        ("api key", f"SK{HEX}"),
        ("token", f"pypi-AgEIcHlwaS5vcmc{MIXED}"),
        ("token", "xoxb-1234567890-1234567890123-AbCdEf"),
        ("token", f"123456789:AA{MIXED[:33]}"),
        ("token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_123"),
        ("private key", PEM),
        ("private key", PEM.replace("RSA", "OPENSSH")),
        ("private key", PEM.replace("\n", "\\n")),
        ("private key", "-----BEGIN PRIVATE KEY-----\n" + MIXED * 3),
        ("card number", "4111 1111 1111 1111"),
        ("card number", "4111-1111-1111-1111"),
        ("card number", "4111111111111111"),
        ("card number", "3782 822463 10005"),
        ("card number", "6011111111111117"),
        ("card number", "5555555555554444"),
    ],
)
def test_a_secret_is_known_by_its_shape(kind: str, secret: str):
    assert builtin.mask(f"here: {secret}, ok") == Masked(f"here: [redacted: {kind}], ok", (kind,))
    assert builtin.mask(f"It is {secret}.").text == f"It is [redacted: {kind}]."


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password=hunter2, ok", "password=[redacted: password], ok"),
        ("DB_PASSWORD=letmein", "DB_PASSWORD=[redacted: password]"),
        ('{"passwd": "correct horse"}', '{"passwd": "[redacted: password]"}'),
        ("password: hunter2", "password: [redacted: password]"),
        ("pw: hunter2", "pw: [redacted: password]"),
        ("api_key: abcd1234efgh", "api_key: [redacted: api key]"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7", "aws_secret_access_key = [redacted: api key]"),
        ("token = abcdef", "token = [redacted: token]"),
        ("?token=abcdef&x=1", "?token=[redacted: token]&x=1"),
        ("clientSecret='abcdef'", "clientSecret='[redacted: secret]'"),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [redacted: token]"),
        ("my password is hunter2.", "my password is [redacted: password]."),
        ("My Password is “correct horse”", "My Password is “[redacted: password]”"),
        ("The wifi password for home is tiger#77!", "The wifi password for home is [redacted: password]!"),
        ("my api key is AbCdEf123456", "my api key is [redacted: api key]"),
        ("the pin is 4821", "the pin is [redacted: pin]"),
        ("PIN: 4821", "PIN: [redacted: pin]"),
        ("пароль: qwerty12", "пароль: [redacted: password]"),
        ("mi contraseña es qwerty12", "mi contraseña es [redacted: password]"),
        ("密码是hunter2，别忘了", "密码是[redacted: password]，别忘了"),
        ("密码：abc12345", "密码：[redacted: password]"),
        ("postgres://bob:s3cret@db/x", "postgres://bob:[redacted: url password]@db/x"),
        ("order 1234 4111 1111 1111 1111", "order 1234 [redacted: card number]"),
        ("my pw is hunter2.", "my pw is [redacted: password]."),
        ("The pw for the router was tiger#77", "The pw for the router was [redacted: password]"),
        ("passwords: hunter2", "passwords: [redacted: password]"),
        ("My passwords are hunter2 and tiger#77.", "My passwords are [redacted: password]."),
        (
            "the passwords for us are a1b2c3, d4e5f6 or g7h8i9, ok",
            "the passwords for us are [redacted: password], ok",
        ),
        ("CVV: 123", "CVV: [redacted: cvv]"),
        ("cvc2 = 1234;", "cvc2 = [redacted: cvv];"),
        ("the security code is 123.", "the security code is [redacted: cvv]."),
        ("exp 12/29 cvv 123", "exp 12/29 cvv [redacted: cvv]"),
        ("PIN 1234", "PIN [redacted: pin]"),
        ("my pin 4821, please", "my pin [redacted: pin], please"),
        ("pin code 4821", "pin code [redacted: pin]"),
        ("the pins are 1234 and 5678.", "the pins are [redacted: pin]."),
        ("PIN：4821", "PIN：[redacted: pin]"),
        ("card ４１１１ １１１１ １１１１ １１１１!", "card [redacted: card number]!"),
        ("card 4111–1111–1111–1111", "card [redacted: card number]"),
        ("card 4111\u30001111\u20091111\u00a01111", "card [redacted: card number]"),
        ("٤١١١١١١١١١١١١١١١ is it", "[redacted: card number] is it"),
        ("4111\u200b1111\u00ad1111\u20601111", "[redacted: card number]"),
        (f"a sk-\u200b{MIXED[:9]}\u00ad{MIXED[9:]} b\u200bc", "a [redacted: api key] b\u200bc"),
        ("pass\u00adword=hun\u200bter2 naïve", "pass\u00adword=[redacted: password] naïve"),
        ("my password is ｈｕｎｔｅｒ２ ok", "my password is [redacted: password] ok"),
        ("postgres://bob:s3c@ret@db/x", "postgres://bob:[redacted: url password]@db/x"),
        ("https://u:p:q@r@s@host and a@b", "https://u:[redacted: url password]@host and a@b"),
    ],
)
def test_an_assigned_value_is_masked_and_the_rest_stays(text: str, masked: str):
    assert builtin.mask(text).text == masked


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password",
        "token economy",
        "the secret is to add salt",
        "the secret is 100% cocoa",
        "the secret to good bread is 24 hours of rest",
        "the secret ingredient: 2 cups of sugar",
        "password: reset",
        "password: what?",
        "password is case-sensitive and was changed 3 times",
        "password must be at least 12 characters",
        "passwordless login: 2024",
        "token = None",
        'password = os.environ["PW"]',
        "password = config.password",
        "token = get_token(user)",
        "password=<your-password>",
        "api_key=${API_KEY}",
        "if token == expected1:",
        "max_tokens=4096 and token_count: 12",
        "pwd: /home/bob",
        "my key: the map",
        "sk-learn-based-pipeline-for-text",
        "npm_config_registry_default_value",
        "pypi-attestations package",
        "bearer of bad news",
        "shopping list: 4 apples, pin board 2024",
        "+49 176 12345678 and order 4111 1111 1111 1112",
        "ISBN 978-3-16-148410-0 at 1700000000000",
        "IBAN DE89 3704 0044 0532 0130 00",
        "0.4111111111111111",
        "123e4567-e89b-12d3-a456-426614174000",
        "https://example.com:8080/a@b",
        "The file begins with -----BEGIN PRIVATE KEY----- and then I stopped",
        *("my pin is blue", "token limits are 4096", "the tokens are 4096", "max tokens: 4096"),
        *("passwords are hard to remember", "passwords are short, 8-12 characters", "his pw is weak"),
        *("passwords are kept for 90 days", "The secrets are 3 things", "he passed 12345 people"),
        *("CVV is the code of 3 digits", "cvv: ask me", "the security code of 2021", "a CVC 30% off"),
        *("PIN board 2024", "pin 2024 to the wall", "spin 1234 times", "two pins 1234", "Pin 4 photos"),
        *("pwned 12 times", "the power is 1500", "cookies are 12 in a box", "x²＋y² ＝ １２３４"),
        *(
            "soft\u00adhyphens and \u200bspaces stay",
            "全角１２３４５６７８９０１２３４",
            "日本語　パスタ：１２分",
        ),
    ],
)
def test_ordinary_text_survives(text: str):
    assert builtin.mask(text) == Masked(text)


def test_the_kinds_tell_how_many_secrets_there_were():
    assert builtin.mask(f"sk-{MIXED} sk-{MIXED} pin: 4821").kinds == ("api key", "api key", "pin")


@pytest.mark.parametrize(
    "name",
    ["password", "db_password", "userPassword", "api_key", "apiKey", "access_token", "PIN", "passwords"]
    + ["db_pass", "dbPass", "pass", "userpass", "pw", "tokens", "refreshTokens", "credentials", "aws-creds"]
    + ["cardNumber", "card_number", "cc_num", "cookie", "sessionCookie", "Set-Cookie", "cvv2", "otp"]
    + ["securityCode", "ｐａｓｓｗｏｒｄ", "pass\u00adword", "clientSecrets", "api_keys"],
)
def test_a_field_may_be_a_secret_by_its_name(name: str):
    assert builtin.mask_field(name, "reset").text == "[redacted: secret]"
    assert builtin.mask_field(name, "[redacted: secret]").kinds == ()


@pytest.mark.parametrize(
    "name",
    ["token_count", "keyboard", "shipping", "topic", "", "bypass", "compass", "boarding_pass", "skiPass"]
    + ["discard_number", "cookie_count", "spin", "credential_id_type", "pw_strength", "tokenizer", "cards"],
)
def test_other_fields_are_read_as_text(name: str):
    assert builtin.mask_field(name, "reset") == Masked("reset")
    assert builtin.mask_number(name, "4096") == Masked("4096")


@pytest.mark.parametrize("name", ["pin", "cvv", "password", "cardNumber", "token", "db_pass"])
def test_a_number_may_be_a_secret_by_the_name_of_its_field(name: str):
    assert builtin.mask_number(name, "1234") == Masked("[redacted: secret]", ("secret",))


@pytest.mark.parametrize("name", ["tokens", "prompt_tokens", "maxTokens"])
def test_a_number_of_tokens_is_a_count(name: str):
    assert builtin.mask_number(name, "4096") == Masked("4096")


def test_options_add_to_the_builtin_kinds():
    found = redactor([r"EMP-\d+", re.compile("(?i)project x"), lambda text: text.replace("Bob", "B.")])
    masked = found.mask("Bob EMP-77 on Project X, password=hunter2")
    assert masked.text == "B. [redacted: custom] on [redacted: custom], password=[redacted: password]"
    assert masked.kinds == ("password", "custom", "custom", "custom")


def test_true_is_the_builtin_kinds_and_false_is_nothing():
    assert redactor(True) == Redactor()
    assert redactor(False).mask("password=hunter2") == Masked("password=hunter2")
    assert redactor(False).mask_field("password", "hunter2") == Masked("hunter2")


def test_a_pattern_takes_the_masks_that_it_touches_along():
    found = redactor(r"user.*")
    masked = found.mask("the user bob has password=hunter2")
    assert masked.text == "the [redacted: custom]"
    assert found.mask(masked.text) == Masked(masked.text)


@pytest.mark.parametrize("option", ["(", ["a", "(["], 5, [5], None, re.compile(b"x"), {"a": 1}])
def test_a_wrong_option_is_refused(option: object):
    with pytest.raises(ConfigError, match="redact= "):
        redactor(option)  # pyright: ignore[reportArgumentType]


def returns_nothing(_: str) -> Any:  # Any: what a careless caller's function gives
    return None


@pytest.mark.parametrize("calls", [1, 2])
def test_a_function_must_return_text(calls: int):
    with pytest.raises(ConfigError, match="returned NoneType"):
        redactor([returns_nothing] * calls).mask("text")


SCRAPS = st.lists(
    st.sampled_from(
        [
            *(
                "password",
                "token",
                "secret is ",
                "api key",
                "pin",
                "密码是",
                "://",
                ":",
                "=",
                " ",
                '"',
                "'",
                "@",
                "a1b2c3",
            ),
            *(
                "4111 1111 1111 1111",
                "4111",
                f"sk-{MIXED}",
                "-",
                "[redacted: ",
                "[redacted: token]",
                "]",
                PEM,
                "\n",
            ),
            *("Authorization: Bearer ", "is ", "hunter2!", "!!!!", "eyJhbGciOi.eyJzdWIiOi.", "x"),
            *("\u200b", "\u00ad", "４１１１", "：", "passwords are ", " and ", "cvv ", "PIN ", "my pw is "),
        ]
    ),
    max_size=12,
).map("".join)


@given(SCRAPS | st.text(st.characters(codec=None)), st.sampled_from([(), (r"\w+",), (".*",), ("", "a|e")]))
def test_masking_a_masked_text_changes_nothing(text: str, patterns: tuple[str, ...]):
    found = Redactor(patterns)
    once = found.mask(text)
    assert found.mask(once.text) == Masked(once.text)
    assert bool(once.kinds) == (once.text != text)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            "1",
            "sk-",
            "1-",
            "1234 ",
            "4111 1111 1111 1112 ",
            "eyJ",
            "eyJ.",
            "://",
            "://a:",
            "SG.a",
            "hvs.1.a",
        ),
        *(
            "password=",
            "password: ",
            "password for ",
            'password="',
            "password='a",
            "token is ",
            "my pin for ",
        ),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "密码是",
            "[redacted: ",
            "bearer ",
            "authorization: ",
            "token:token",
        ),
    ],
)
def test_time_is_linear_on_hostile_text(unit: str):
    text = unit * (500_000 // len(unit))
    started = time.process_time()
    builtin.mask(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "text", ["password" + " " * 10**6, "-----BEGIN PRIVATE KEY-----" + " " * 10**6, "sk-" + "a" * 10**6]
)
def test_time_is_linear_on_long_runs(text: str):
    started = time.process_time()
    builtin.mask(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "run", [" ", "\n", "\t", "\u00a0", " \n", "a ", "a.", "'", '"a', "=", ":", "-", "1", "1 "]
)
@pytest.mark.parametrize(
    "start",
    ["password is", "password for", "token is", "api key to", "my secret", "the pin", "pin for", "pw", "密码"]
    + ["://", "://a:", "bearer", "authorization:", "sk-a", "eyJa", "xoxb-", "-----BEGIN PRIVATE KEY-----"],
)
def test_time_is_linear_on_a_run_after_the_beginning_of_a_secret(start: str, run: str):
    text = f"{start}{run * (100_000 // len(run))}is hunter22"
    started = time.process_time()
    builtin.mask(text)
    builtin.mask_field(text, "x")
    assert time.process_time() - started < 0.8


def test_every_kind_of_the_table_has_its_mask_recognised() -> None:
    for rule in secrets._RULES:  # pyright: ignore[reportPrivateUsage]  # the table itself is what is checked
        assert secrets.MASK.fullmatch(secrets.mask_of(rule.kind))
