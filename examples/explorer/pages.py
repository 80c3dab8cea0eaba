"""The pages. Each takes what the visitor filled in, asks PostgreSQL, and returns HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import codes
from .codes import NotACode
from .layout import Fields, Page, Refused, frame, grid, link_to, name_of, picture_of, results
from .markup import Html, address, html, html_of_server, with_anchor
from .plots import bits
from .queries import CLUSTERS, FRAGMENTS, MEMBERS, Document, Queries

if TYPE_CHECKING:
    from typing import LiteralString

# Versions of a text share most of it, so short passages count too.
PASSAGE_OF_VERSIONS = 15
# Texts of more characters in all are shown by the passages that they share.
WHOLE_TEXTS = 200_000
FORM = html('method="post" enctype="multipart/form-data"')


def choice(name: LiteralString, label: str, value: int, least: int, most: int, unit: str = "") -> Html:
    return html(
        '<label class="number">{label} <input type="number" name="{name}" value="{value}" min="{least}" max="{most}"'
        " required>{unit}</label>",
        name=name, label=label, value=value, least=least, most=most, unit=unit,
    )


def wanted(queries: Queries, key: str) -> Document:
    found = queries.document(key)
    if not found:
        raise Refused(404, "There is no such document", f"No row has {queries.table.key} = {key[:100]}.")
    return found


def pasted(queries: Queries, text: str) -> Document:
    """What a visitor entered: a text, or a code."""
    if not queries.table.is_bits:
        return Document(None, "Your text", text, queries.fingerprint(text))
    try:
        return Document(None, "Your code", None, codes.read(text, queries.table.width))
    except NotACode as problem:
        raise Refused(400, "This is not a code", str(problem)) from problem


def field(queries: Queries, text: str, rows: int) -> Html:
    """Where a text or a code is entered."""
    return html(
        '<label for="text">{label}</label><textarea id="text" name="text" rows="{rows}" dir="auto" spellcheck="false"'
        ' placeholder="Paste a {kind} here">\n{text:exact}</textarea>',
        label="Code, in hex digits" if queries.table.is_bits else "Text", rows=2 if queries.table.is_bits else rows,
        kind="code" if queries.table.is_bits else "text", text=text,
    )


def search(queries: Queries, fields: Fields) -> Page:
    """Paste a text, and see its nearest documents."""
    text = fields.get("text", "")
    radius = fields.radius(queries.table)
    plan = "plan" in fields
    if text.strip():
        found = found_near(queries, text, radius, plan)
    else:
        said = html('<p role="status" class="note">There is no {kind} to look for.</p>',
                    kind="code" if queries.table.is_bits else "text") if "text" in fields else None
        found = html("{said}<h2>Or begin with one of these</h2>{rows}", said=said, rows=results(queries.some()))
    file = None if queries.table.is_bits else html('<label>or a file <input type="file" name="file"></label>')
    form = html(
        '<h1>Find near-duplicates</h1><form action="/" {form}>{field}<div class="row">{file}{radius}'
        '<label><input type="checkbox" name="plan"{checked}> time and plan</label>'
        '<button class="main">Search</button></div>{found}</form>',
        form=FORM, field=field(queries, text, 7), file=file, radius=radius_of(queries, radius), found=found,
        checked=html(" checked") if plan else None,
    )
    return frame(queries.table, "/", "Search", form)


def radius_of(queries: Queries, radius: int) -> Html:
    return choice("radius", "Radius", radius, 0, queries.table.most_bits)


def found_near(queries: Queries, text: str, radius: int, plan: bool) -> Html:
    fingerprint = pasted(queries, text).fingerprint
    if fingerprint is None:
        return html('<p role="status" class="note">This text has no words, so it has no fingerprint.</p>')
    rows, statement, lines = queries.nearest(fingerprint, plan)
    near = sum(row.distance <= radius for row in rows)
    count = "None" if not near else f"{near} or more" if near == len(rows) else str(near)
    width = len(codes.bits_of(fingerprint))
    return html(
        '<h2 id="found">Nearest documents</h2><p role="status">{count} within {radius} of {width} bits. Unrelated'
        " {kind} are some {half} bits apart.</p>{results}{plan}",
        count=count, radius=radius, width=width, half=width // 2, kind="codes" if queries.table.is_bits else "texts",
        results=results(rows, radius), plan=shown_plan(statement, lines) if plan else None,
    )


def shown_plan(statement: str, lines: list[str]) -> Html:
    return html(
        '<details open><summary>Time and plan</summary><pre class="sql">{statement};</pre><pre>{plan}</pre></details>',
        statement=statement, plan="\n".join(lines),
    )


def document(queries: Queries, fields: Fields) -> Page:
    """One document, and what is near it."""
    shown = wanted(queries, fields.get("key", ""))
    radius = fields.radius(queries.table)
    rows = queries.nearest(shown.fingerprint)[0] if shown.fingerprint is not None else []
    others = [row for row in rows if row.key != shown.key]
    content = html(
        '<h1>{name}</h1><p class="facts">key <bdi>{d.key}</bdi>{length} · {kind} {print}</p>'
        "{picture}{text}<h2>Nearest documents</h2>"
        '<form><input type="hidden" name="a" value="{d.key:exact}">{results}</form>',
        name=name_of(shown), d=shown, kind="code" if queries.table.is_bits else "fingerprint",
        length=None if shown.text is None else f" · {len(shown.text):,} characters",
        print=codes.shown(shown.fingerprint), picture=picture_of(shown),
        text=None if shown.text is None else html(
            "<h2>Text</h2>{text}", text=box("Text", html('<span class="text">{text}</span>', text=shown.text))),
        results=results(others, radius),
    )
    return frame(queries.table, "", "Document", content)


def box(label: str, text: Html) -> Html:
    """A text in a box that scrolls by itself. The keyboard reaches it by its tabindex."""
    return html('<pre class="document" dir="auto" tabindex="0" role="region" aria-label="{label}">{text}</pre>',
                label=label, text=text)


def compare(queries: Queries, fields: Fields) -> Page:
    """Two documents, or a pasted text and a document, with what they share."""
    min_length = fields.number("min", 50, 1, 10_000)
    text = fields.get("text", "")
    differences = fields.get("show") == "differences"
    first: Document | None
    own = None
    if text.strip():
        first = pasted(queries, text)
        own = field(queries, text, 5)
    else:
        first = wanted(queries, fields["a"]) if fields.get("a") else None
    second = wanted(queries, fields["b"]) if fields.get("b") else None
    marks = None if queries.table.text is None else html(
        '{min}<fieldset><legend class="hidden">Mark</legend>'
        '<label><input type="radio" name="show" value="shared"{shared}> mark what is shared</label>'
        '<label><input type="radio" name="show" value="differences"{different}> mark what differs</label></fieldset>',
        min=choice("min", "Passages of at least", min_length, 1, 10_000, " characters"),
        shared=None if differences else html(" checked"), different=html(" checked") if differences else None,
    )
    form = html(
        '<h1>Compare two documents</h1><form action="/compare" {method}>{pasted}<div class="row">{a}{b}{marks}'
        '<button class="main">Compare</button></div></form>',
        method=FORM if own else None, pasted=own, a=None if own else key_input("a", "First key", fields),
        b=key_input("b", "Key" if own else "Second key", fields), marks=marks,
    )
    shown = compared(queries, first, second, min_length, differences) if first and second else None
    if not (first or second):
        shown = html(
            "<h2>Or choose a document</h2><p>Its page lists the documents near it, each of which has a button that"
            " compares the two.</p>{rows}", rows=results(queries.some()))
    return frame(queries.table, "/compare", "Compare", html("{form}{shown}", form=form, shown=shown))


def key_input(name: LiteralString, label: str, fields: Fields) -> Html:
    return html(
        '<label class="key">{label} <input name="{name}" value="{value:exact}" required maxlength="200"></label>',
        name=name, label=label, value=fields.get(name, ""),
    )


def compared(queries: Queries, a: Document, b: Document, min_length: int, differences: bool) -> Html:
    texts = None
    if a.text is not None and b.text is not None:
        texts = equal_texts(a, b, a.text) if a.text == b.text else pair(
            queries, (a, a.text), (b, b.text), min_length, differences)
    else:
        names = [side(which, document, "code " + codes.shown(document.fingerprint), None)
                 for which, document in (("First", a), ("Second", b))]
        texts = html('<div class="pair">{names}</div>', names=names)
    return html("{texts}{why}", texts=texts, why=why(queries, a, b))


def side(which: str, document: Document, facts: object, text: Html | None) -> Html:
    """One of two documents."""
    return html(
        '<section><h2>{name}</h2><p class="facts">{facts}</p>{picture}{text}</section>',
        name=name_of(document) if document.key is None else link_to(document), facts=facts, picture=picture_of(document),
        text=box(f"{which} document", html('<span class="text">{text}</span>', text=text)) if text else None,
    )


def equal_texts(a: Document, b: Document, text: str) -> Html:
    """Nothing has to be looked for: all of it is shared, however short it is."""
    facts = html("{share} shared of {length:,} characters", length=len(text), share="100 %" if text else "nothing")
    marked = html("<mark>{text}</mark>{more}", text=text[: WHOLE_TEXTS // 2],
                  more="" if len(text) <= WHOLE_TEXTS // 2 else " …")
    return html(
        '<p class="note">These texts are equal in every character.</p><div class="pair">{sides}</div>',
        sides=[side("First", a, facts, marked), side("Second", b, facts, marked)],
    )


def pair(queries: Queries, a: tuple[Document, str], b: tuple[Document, str], min_length: int, differs: bool) -> Html:
    """Two texts that differ, with marks at what they share, or at the rest."""
    whole = len(a[1]) + len(b[1]) <= WHOLE_TEXTS
    row = queries.compare(a[1], b[1], min_length, whole)
    sides = []
    for number, (document, text), shared, headline in (
        (1, a, row.shared_a, row.headline_a), (2, b, row.shared_b, row.headline_b)
    ):
        marked, found = with_anchor(html_of_server(headline), f"difference-{number}")
        # Rounded down: 100 % is all of it.
        share = f"{100 * shared // len(text)} %" if text else "nothing"
        jump = html(' · <a href="#difference-{number}">jump to the first difference</a>', number=number)
        facts = html("{share} shared of {length:,} characters{jump}", share=share, length=len(text),
                     jump=jump if found else None)
        sides.append(side("First" if number == 1 else "Second", document, facts, marked))
    cut = None if whole else html(
        '<p class="note">These texts are long. Here are the passages that they share, with the text around them: at'
        " most {fragments} of each.</p>", fragments=FRAGMENTS)
    return html('{cut}<div class="pair{kind}">{sides}</div>', cut=cut, sides=sides,
                kind=" differences" if differs else "")


def why(queries: Queries, a: Document, b: Document) -> Html:
    """The bits that differ, and what simhash_explain says about them."""
    if a.fingerprint is None or b.fingerprint is None:
        return html('<p class="note">One of them has no {kind}, so there is no distance.</p>',
                    kind="code" if queries.table.is_bits else "words")
    first = codes.bits_of(a.fingerprint)
    second = codes.bits_of(b.fingerprint)
    if len(first) != len(second):
        return html('<p class="note">One has {a} bits and the other {b}, so there is no distance.</p>',
                    a=len(first), b=len(second))
    explained = not queries.table.is_bits and a.text is not None and b.text is not None
    return html(
        '<section class="why"><h2>Why this distance</h2><div class="reasons"><figure>{bits}<figcaption>{d} of {width}'
        " bits differ</figcaption></figure><div>{facts}</div></div></section>",
        bits=bits(first, second), d=sum(x != y for x, y in zip(first, second)), width=len(first),
        facts=features(queries.explain(a.text or "", b.text or "")) if explained else None,
    )


def features(explanation: dict[str, Any] | None) -> Html | None:
    if not explanation or not explanation.get("features"):
        return None
    names = {"a": "the first", "b": "the second"}
    rows = [
        (html("<bdi>{feature}</bdi>", feature=item["feature"]), names.get(item["of"]), item["bits"])
        for item in explanation.get("deciding", [])[:10]
    ]
    caption = "Features that decide the bits that differ"
    return html(
        "<p>The texts have {f[shared]:,} features in common, such as words and pairs of words. The first has"
        " {f[a]:,} in all, and the second {f[b]:,}.</p>{table}", f=explanation["features"],
        table=grid(caption, ["feature", "only in", "#bits"], rows) if rows else None,
    )


def clusters(queries: Queries, fields: Fields) -> Page:
    """Groups of near-duplicates, each with the document that keeps it."""
    radius = fields.radius(queries.table)
    page = fields.number("page", 1, 1, 1_000_000)
    after = fields.get("after", "")
    rows = queries.clusters(radius, page, after)

    def at(number: int) -> str:
        return address("/clusters", radius=radius, after=after, page=number)

    def item(row: Any) -> tuple[object, ...]:
        link = html(
            '{picture}<a href="{href}">{name}</a><p class="beginning" dir="auto">{row.beginning}</p>',
            row=row, picture=picture_of(row), name=name_of(row), href=address("/cluster", radius=radius, after=after, keeper=row.key))
        return f"{row.texts:,}" if row.texts > 1 else "copies", f"{row.members:,}", link

    if rows:
        clusters = int(rows[0].clusters)
        documents = int(rows[0].documents)
        heads = ["#different", "#documents", "keeper"]
        found = html(
            '<p role="status">{clusters:,} clusters have {documents:,} documents. If each kept its first one,'
            " {gone:,} would go.</p>{table}{pages}{differences}<h2>To delete duplicates</h2>"
            "<p>This app deletes nothing. Look at some clusters first: a near text is not always a duplicate. Then"
            " these statements, run by the table's owner, keep the first document of each cluster{rare}.</p>"
            '<pre class="sql" tabindex="0" role="region" aria-label="Statements">{sql}</pre>',
            clusters=clusters, documents=documents, gone=documents - clusters,
            table=grid("Clusters, those with the most different documents first", heads, [item(row) for row in rows]),
            pages=pager("More clusters", ("Before these", at(page - 1) if page > 1 else None),
                        ("After these", at(page + 1) if page * CLUSTERS < clusters else None)),
            sql=queries.deletion(radius), differences=differing_words(queries, radius) if queries.table.text else None,
            rare=", and rows that differ from it in words that are rare in the table" if queries.table.text else None,
        )
    else:
        found = html('<p role="status" class="note">No two documents are within {radius} bits.</p>', radius=radius)
    content = html(
        '<h1>Clusters</h1><p>A document belongs to a cluster if it is within the radius of its keeper, the first one'
        ' in the order of keys.</p><form action="/clusters"><input type="hidden" name="after" value="{after:exact}">'
        '<div class="row">{radius}<button class="main">Show</button></div></form>{part}{found}',
        radius=radius_of(queries, radius), found=found, after=after, part=part_of_table(queries, radius, after),
    )
    return frame(queries.table, "/clusters", "Clusters", content)


def differing_words(queries: Queries, radius: int) -> Html:
    """What to read before anything is deleted."""
    rows = [
        (html("<bdi>{feature}</bdi>", feature=row.feature), f"{row.pairs:,}", f"{100 * row.share:.0f} %",
         f"{100 * row.of_all:.0f} %",
         html('<a href="{href}">a pair</a>', href=address("/compare", a=row.a, b=row.b, show="differences")))
        for row in queries.differences(radius)
    ]
    heads = ["word", "#pairs", "#of pairs", "#of all, with those above", "example"]
    return html(
        "<h2>In which words do near documents differ?</h2><p>Of a sample of near pairs. Words that tell things apart,"
        " such as <i>documentation</i> and <i>development</i>, mark documents that are near and no duplicates; # is any"
        " number.</p>{table}",
        table=html('<div class="wide" tabindex="0" role="region" aria-label="Words that differ">{table}</div>',
                   table=grid(None, heads, rows)) if rows else html('<p class="note">No near pair differs in a word.</p>'),
    )


def part_of_table(queries: Queries, radius: int, after: str) -> Html | None:
    """Says that not all rows have been looked at, if so, with a way to the next ones."""
    end = queries.end_of_rows(after)
    if end is None and not after:
        return None
    where = html(" after <bdi>{after}</bdi>", after=after) if after else None
    return html(
        '<p class="note part">The table is large: these are the clusters among {which} {rows:,} documents{where}, in'
        " the order of keys. Documents outside of this part may belong to them as well, and SQL finds all of them at"
        " once.</p>{pages}",
        which="the first" if not after else "at most the", rows=queries.ROWS, where=where,
        pages=pager("Parts of the table",
                    ("The first part", address("/clusters", radius=radius) if after else None),
                    ("The next part", address("/clusters", radius=radius, after=end) if end else None)),
    )


def pager(label: str, *links: tuple[str, str | None]) -> Html:
    """Links to pages before and after this one. Those without an address are left out."""
    shown = [html('<a href="{href}">{name}</a>', href=href, name=name) for name, href in links if href]
    return html('<nav aria-label="{label}" class="pager">{shown}</nav>', label=label, shown=shown)


def cluster(queries: Queries, fields: Fields) -> Page:
    """A keeper next to one of its duplicates, and the list of the others."""
    radius = fields.radius(queries.table)
    after = fields.get("after", "")
    keeper = wanted(queries, fields.get("keeper", ""))
    rows = queries.members(radius, after, keeper)
    if not rows:
        raise Refused(404, "This document keeps no cluster", f"Nothing belongs to it within {radius} bits.")
    shown = next((place for place, row in enumerate(rows) if row.key == fields.get("with")), 0)
    places = [address("/cluster", radius=radius, after=after, keeper=keeper.key, **{"with": row.key}) for row in rows]
    has_texts = queries.table.text is not None
    items = [
        (row.distance, html('<a href="{href}">{name}</a>{copy}', href=href, name=name_of(row),
                            copy=" (equals the keeper)" if row.is_copy else None),
         f"{row.rows:,}", *([f"{row.length or 0:,}"] if has_texts else []))
        for row, href in zip(rows, places, strict=True)
    ]
    more = html('<p class="note">The first {most} are listed.</p>', most=MEMBERS) if len(rows) == MEMBERS else None
    marks = html(" What differs is marked, and so is what both have if it is shorter than {min} characters.",
                 min=PASSAGE_OF_VERSIONS) if has_texts else None
    content = html(
        '<p><a href="{back}">All clusters within {radius}</a></p><h1>A keeper and its duplicates</h1>'
        "<p>The keeper comes first, and then duplicate {number} of {count}.{marks}</p>{pager}{pair}"
        "<h2>All duplicates of this keeper</h2><p>Rows that are copies of one another are one line; copies of the"
        " keeper come last.</p>{table}{more}",
        back=address("/clusters", radius=radius, after=after), radius=radius, number=shown + 1, count=len(rows),
        marks=marks, more=more,
        table=grid(None, ["#bits", "document", "#rows", *(["#characters"] if has_texts else [])], items, shown),
        pager=pager("Other duplicates", ("Previous duplicate", places[shown - 1] if shown else None),
                    ("Next duplicate", places[shown + 1] if shown + 1 < len(rows) else None)),
        pair=compared(queries, keeper, wanted(queries, rows[shown].key), PASSAGE_OF_VERSIONS, differences=True),
    )
    return frame(queries.table, "", "Cluster", content)
