"""What a plan relies on, for people: questions whose answers follow from others are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DIVIDED = re.compile(r"(.+) % (\d+) (==|!=) 0")
_COMPARED = re.compile(r"(.+) (<=|>|==) (-?\d+)")


def essential(guards: Iterable[str]) -> list[str]:
    """The guards (as `Facts` writes them) without those that others imply, those of one formula on one line each.

    All of them are true of the same sizes, so that of two bounds the tighter one is enough, and an exact size is
    enough for everything.
    """
    exact: dict[str, int] = {}
    lows: dict[str, int] = {}
    highs: dict[str, int] = {}
    divisors: dict[str, set[int]] = {}
    odd: dict[str, set[int]] = {}
    others: list[str] = []
    subjects: dict[str, None] = {}
    for part in (part for guard in guards for part in guard.split(" && ")):
        divided, compared = _DIVIDED.fullmatch(part), _COMPARED.fullmatch(part)
        if divided is not None:
            subject, number, sign = divided[1], int(divided[2]), divided[3]
            # `(M + V) % 4` and `M + V <= 4` speak of one formula.
            subject = subject[1:-1] if subject.startswith("(") and subject.endswith(")") else subject
            (divisors if sign == "==" else odd).setdefault(subject, set()).add(number)
        elif compared is not None:
            subject, sign, number = compared[1], compared[2], int(compared[3])
            if sign == "==":
                exact[subject] = number
            elif sign == ">":
                lows[subject] = max(number, lows.get(subject, number))
            else:
                highs[subject] = min(number, highs.get(subject, number))
        else:
            others.append(part)
            continue
        subjects.setdefault(subject)
    lines = []
    for subject in subjects:
        if subject in exact:
            lines.append(f"{subject} == {exact[subject]}")
            continue
        low = f"{subject} > {lows[subject]}" if subject in lows else ""
        high = f"{subject} <= {highs[subject]}" if subject in highs else ""
        text = f"({subject})" if " + " in subject or " - " in subject else subject
        own, not_own = divisors.get(subject, set()), odd.get(subject, set())
        divided = [f"{text} % {n} == 0" for n in sorted(own) if not any(m > n and m % n == 0 for m in own)]
        rest = [f"{text} % {n} != 0" for n in sorted(not_own) if not any(m < n and n % m == 0 for m in not_own)]
        lines.append(" && ".join(filter(None, (low, high, *divided, *rest))))
    return lines + list(dict.fromkeys(others))
