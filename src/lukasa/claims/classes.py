"""What belongs to what, as far as likes and diets need it."""

from __future__ import annotations

from typing import Final

KINDS: Final[dict[str, frozenset[str]]] = {
    "dairy": frozenset(
        "milk cheese yoghurt yogurt butter cream icecream latte 牛奶 奶酪 芝士 酸奶 黄油 奶油 冰淇淋 奶茶".split()
    ),
    "meat": frozenset(
        "beef pork chicken lamb bacon ham sausage steak ribs burger burgers turkey duck meat meatballs kebab mutton "
        "牛肉 猪肉 羊肉 鸡肉 烤肉 牛排 培根 火腿 香肠 排骨 烧烤 肉".split()
    ),
    "fish": frozenset(
        "fish salmon tuna sushi shrimp prawns seafood oysters 鱼 三文鱼 寿司 虾 海鲜 螃蟹".split()
    ),
    "egg": frozenset("egg eggs omelette omelet 鸡蛋 蛋".split()),
    "alcohol": frozenset(
        "wine beer whisky whiskey gin vodka rum cocktail cocktails alcohol drinking 酒 啤酒 红酒 白酒 威士忌".split()
    ),
    "caffeine": frozenset("coffee espresso latte tea caffeine 咖啡 拿铁 美式 茶".split()),
    "sugar": frozenset(
        "sugar sweets candy honey chocolate cake dessert desserts 糖 甜食 甜品 蛋糕 巧克力 蜂蜜".split()
    ),
    "gluten": frozenset("gluten bread pasta wheat flour noodles 面包 面条 面食".split()),
    "vaping": frozenset(("vape", "vapes")),
    "smoking": frozenset("smoking smoke smokes cigarettes cigarette vaping 烟 抽烟 吸烟 香烟".split()),
}
DIETS: Final[dict[str, tuple[str, ...]]] = {
    "vegan": ("meat", "fish", "dairy", "egg"),
    "vegetarian": ("meat", "fish"),
    "pescatarian": ("meat",),
    "纯素": ("meat", "fish", "dairy", "egg"),
    "吃素": ("meat", "fish"),
    "素食": ("meat", "fish"),
}


def members(word: str) -> frozenset[str]:
    """The word and what it stands for."""
    return KINDS.get(word, frozenset()) | {word}
