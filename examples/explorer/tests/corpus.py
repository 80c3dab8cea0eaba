"""Documents for the tests and the pictures in docs/: reports with versions, letters that have nothing in common, and
documents that attack the reader's browser."""

from random import Random

REPORTS = {
    "Ferry terminal closed": (
        "The harbour office closed the old ferry terminal on Friday, after divers found cracks in two of its main"
        " supports. Passengers for the islands will board at the north pier until the repairs are finished in spring."
        " The office says that the supports were last examined nine years ago. Cars can still cross twice a day, from"
        " the quay behind the fish market. Tickets that were bought for the terminal stay valid."
    ),
    "Council repairs the bridge": (
        "The council voted on Monday to repair the old bridge before winter. Work begins in June and will cost two"
        " million, most of it paid by the state. Walkers may use the bridge on most days; lorries have to take the road"
        " through the valley. Four members voted against the plan, because they would rather build a new one of steel."
    ),
    "A comet in the evening sky": (
        "A comet will be seen without a telescope from Tuesday on, low in the west and half an hour after sunset. It"
        " was found last autumn by two teachers who had been looking for something else. Astronomers expect it to be"
        " brightest on Saturday. After that it leaves the sun, and will be back in some four thousand years."
    ),
    "Library opens on Sundays": (
        "From next month the town library will be open on Sundays from ten to four. Readers had asked for it in more"
        " than six hundred letters. On Sundays there will be no advice, but books can be borrowed and returned at the"
        " machines by the door. The cafe on the first floor wants to join in, once it has found a second cook."
    ),
}
PAPERS = ["Harbour Post", "Island Courier", "Evening Mail", "The Valley"]

HOSTILE = [
    ("<script>document.title = 'pwned'</script>",
     "<script>document.title = 'pwned'</script> Words that follow a script, so that this text has a fingerprint."),
    ('"><img src=x onerror="document.title=\'pwned\'">',
     '"><img src=x onerror="document.title=\'pwned\'"> </textarea></pre><svg onload="document.title=\'pwned\'">'
     " Words that follow a picture, a drawing and the ends of some elements: nothing of it may run."),
    ("\u202egnidaer\u202c {title} &amp; %s",
     "\u202eThis is written from right to left. \u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd \x01\x1b[31m\x7f\x9b"
     " {text} {0} &lt;b&gt; %(si)s shown as it stands, with its control characters made visible."),
]

SYLLABLES = "ba do fe gi ka lo ma ne po ra si ta ve zu bren dal fin gor hul lam mir nor pas quil ros sten tor vun yar"


def letters(count: int) -> list[tuple[str, str]]:
    """Letters in a language of their own, in which no two say the same, and copies of some of them with other words."""
    random = Random(1)
    syllables = SYLLABLES.split()

    def word() -> str:
        return "".join(random.choices(syllables, k=random.randint(2, 3)))

    made: list[tuple[str, str]] = []
    while len(made) < count:
        words = [word() for _ in range(random.randint(80, 300))]
        for place in range(0, len(words), random.randint(6, 12)):
            words[place] = words[place].capitalize()
            words[place - 1] += "."
        made.append((f"Letter {len(made) + 1}", " ".join(words)))
        if random.random() < 0.12:
            for _ in range(random.randint(1, len(words) // 3)):
                words[random.randrange(len(words))] = word()
            made.append((f"Copy of letter {len(made)}", " ".join(words)))
    return made


def versions(report: str) -> list[str]:
    """A report as four papers print it."""
    return [
        report,
        report.replace(" on ", " late on ", 1).replace(" will ", " is to ", 1),
        report.replace(". ", ". Reporters add: ", 1).replace("The ", "Our ", 1),
        report.rsplit(". ", 1)[0] + ". Read more on page two.",
    ]


def documents() -> list[tuple[str, str]]:
    """Titles and texts, in the order of their keys."""
    reports = [
        (f"{title} ({paper})", text)
        for title, report in REPORTS.items()
        for paper, text in zip(PAPERS, versions(report), strict=True)
    ]
    hostile = [(title, text + f" {again}") for title, text in HOSTILE for again in ("Once.", "Once more.")]
    # Fewer than 1,000 in all: hamming_histogram then takes all rows, and gives the same numbers each time.
    return reports + hostile + letters(900)
