"""Writes text.txt, the log of a lighthouse that never was: what the example learns to continue.

    python examples/charlm/make_text.py > examples/charlm/text.txt

Every sentence is put together here, so that nobody else holds rights to the text.
"""

from __future__ import annotations

from collections.abc import Sequence

DAYS = 150
MONTHS = (("March", 31), ("April", 30), ("May", 31), ("June", 30), ("July", 31), ("August", 31))
WINDS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
STRENGTHS = ("No wind to speak of", "A light wind", "A fair wind", "A fresh wind", "A strong wind", "Half a gale")
SKIES = (
    "the sky clear from end to end", "high thin cloud", "a grey lid of cloud", "rain before noon", "rain all day",
    "fog until the bell at ten", "fog so thick that the rail was the end of the world", "a red sky at dawn",
    "hail on the glass for a quarter of an hour", "stars out early", "haze along the land",
)  # fmt: skip
SEAS = (
    "The sea is flat as slate", "The sea is short and choppy", "A long swell comes in from the open water",
    "The waves break over the lower steps", "The water is green and slow", "The tide left the whole reef bare",
    "Spray reached the kitchen window", "The sea made no sound at all",
)  # fmt: skip
SHIPS = ("brig", "schooner", "collier", "ketch", "steamer", "trawler", "pilot boat", "barge", "mail boat")
LOADS = ("timber", "coal", "salt", "slate", "herring", "barrels", "sheep", "nothing that I could see", "bricks")
DOINGS = (
    "passed inside the reef", "stood off until the light was lit", "went by with all sails set",
    "signalled for the time and I gave it", "lay at anchor in the lee of the island",
    "turned back at the outer buoy", "kept well clear of the rocks, as she should",
)  # fmt: skip
CHORES = (
    "trimmed the wick", "polished the lens", "wound the clockwork", "carried oil up the stairs", "painted the rail",
    "greased the hinges of the iron door", "mended the net", "baked two loaves", "counted the candles",
    "swept the gallery", "cut driftwood", "set the barometer against the one at the station", "washed the blankets",
    "copied last week's figures into the big book", "dug the potato bed", "caulked the small boat",
)  # fmt: skip
BIRDS = ("gannets", "terns", "two ravens", "a heron", "puffins", "gulls", "a tired swallow", "eider ducks", "a falcon")
PLACES = (
    "on the gallery", "over the reef", "by the landing", "in the lee of the wall", "far out to the west",
    "above the cliff", "at the foot of the tower",
)  # fmt: skip
PEOPLE = ("Anna", "the boy", "my brother", "old Marten", "the inspector", "the doctor", "the baker's wife")
NEWS = (
    "brought letters and a sack of flour", "stayed for tea and talked of prices", "says the harbour wall is finished",
    "asked after the lens and would not touch it", "rowed over for eggs and stayed until dark",
    "fell asleep by the stove", "lost at draughts three times", "read the newspaper aloud, all four pages",
    "left a pair of boots that nearly fit", "wants to know how far the light carries",
)  # fmt: skip
THOUGHTS = (
    "It is odd how soon one stops hearing the waves", "I dreamt of trees again",
    "The lamp burns better since the new oil came", "There is more to do in quiet weather than in a storm",
    "I thought of writing a longer letter, and wrote a short one", "Nothing happened, and I was glad of it",
    "The stairs are the same number every time, and still I count them",
    "One light seen from the sea is worth a great deal of paper", "The cat has opinions about the fog bell",
    "I have read the almanac twice now and like it less", "The island seems smaller in summer",
)  # fmt: skip
LIGHTS = ("Lit the lamp at", "Lamp lit at", "Light burning from")
HOURS = ("five", "half past five", "six", "half past six", "seven", "half past seven", "eight", "half past eight")
ENDS = ("put out at sunrise", "burned well all night", "burned well until morning", "trimmed twice in the night")


class Dice:
    """Numbers that are the same everywhere and always."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, limit: int) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % limit

    def one_of(self, choices: Sequence[str]) -> str:
        return choices[self.below(len(choices))]


def weather(dice: Dice) -> str:
    strength = dice.one_of(STRENGTHS)
    wind = strength if strength.startswith("No") else f"{strength} from the {dice.one_of(WINDS)}"
    return f"{wind}, {dice.one_of(SKIES)}. {dice.one_of(SEAS)}."


def ship(dice: Dice) -> str:
    kind, load = dice.one_of(SHIPS), dice.one_of(LOADS)
    return f"A {kind} with {load} {dice.one_of(DOINGS)}."


def chores(dice: Dice) -> str:
    first, second = dice.one_of(CHORES), dice.one_of(CHORES)
    return f"I {first}." if first == second else f"I {first} and {second}."


def birds(dice: Dice) -> str:
    return f"Saw {dice.one_of(BIRDS)} {dice.one_of(PLACES)}."


def visit(dice: Dice) -> str:
    person = dice.one_of(PEOPLE)
    return f"{person[0].upper()}{person[1:]} {dice.one_of(NEWS)}."


def entry(dice: Dice, date: str) -> str:
    sentences = [f"{date}.", weather(dice)]
    sentences += [part(dice) for part in (ship, chores, birds, visit) if dice.below(5) < 3]
    if dice.below(3) == 0:
        sentences.append(f"{dice.one_of(THOUGHTS)}.")
    sentences.append(f"{dice.one_of(LIGHTS)} {dice.one_of(HOURS)}, {dice.one_of(ENDS)}.")
    return " ".join(sentences)


def text() -> str:
    """The whole log, an entry a line."""
    dice = Dice(20)
    dates = [f"{day} {month}" for month, days in MONTHS for day in range(1, days + 1)]
    return "\n".join(entry(dice, date) for date in dates[:DAYS]) + "\n"


if __name__ == "__main__":
    print(text(), end="")
