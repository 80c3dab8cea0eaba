"""The pages. Each takes what the visitor filled in, asks PostgreSQL, and returns HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .layout import Fields, Page, Refused, frame, grid, link_to, name_of, results
from .markup import Html, address, html, html_of_server
from .plots import bars, bits
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
    return Document(None, "Your text", text, queries.fingerprint(text))


def search(queries: Queries, fields: Fields) -> Page:
    """Paste a text, and see its nearest documents."""
    text, radius, plan = fields.get("text", ""), fields.radius(), "plan" in fields
    if text.strip():
        found = found_near(queries, text, radius, plan)
    else:
        said = html('<p role="status" class="note">There is no text to look for.</p>') if "text" in fields else None
        found = html("{said}<h2>Or begin with one of these</h2>{rows}", said=said, rows=results(queries.some()))
    form = html(
        '<h1>Find near-duplicates</h1><form action="/" {form}>'
        '<label for="text">Text</label><textarea id="text" name="text" rows="7" dir="auto" spellcheck="false"'
        ' placeholder="Paste a text here">\n{text:exact}</textarea>'
        '<div class="row"><label>or a file <input type="file" name="file"></label>{radius}'
        '<label><input type="checkbox" name="plan"{checked}> time and plan</label>'
        '<button class="main">Search</button></div>{found}</form>',
        form=FORM, text=text, radius=choice("radius", "Radius", radius, 0, 64), found=found,
        checked=html(" checked") if plan else None,
    )
    return frame(queries.table, "/", "Search", form)


def found_near(queries: Queries, text: str, radius: int, plan: bool) -> Html:
    fingerprint = queries.fingerprint(text)
    if fingerprint is None:
        return html('<p role="status" class="note">This text has no words, so it has no fingerprint.</p>')
    rows, statement, lines = queries.nearest(fingerprint, plan)
    near = sum(row.distance <= radius for row in rows)
    count = "None" if not near else f"{near} or more" if near == len(rows) else str(near)
    return html(
        '<h2 id="found">Nearest documents</h2><p role="status">{count} within {radius} of 64 bits. Unrelated texts are'
        ' some 32 bits apart.</p>{plan}{results}',
        count=count, radius=radius, plan=shown_plan(statement, lines) if plan else None,
        results=results(rows, radius),
    )


def shown_plan(statement: str, lines: list[str]) -> Html:
    return html(
        '<details open><summary>Time and plan</summary><pre class="sql">{statement};</pre><pre>{plan}</pre></details>',
        statement=statement, plan="\n".join(lines),
    )


def document(queries: Queries, fields: Fields) -> Page:
    """One document, and what is near it."""
    shown, radius = wanted(queries, fields.get("key", "")), fields.radius()
    rows = queries.nearest(shown.fingerprint)[0] if shown.fingerprint is not None else []
    others = [row for row in rows if row.key != shown.key]
    content = html(
        '<h1>{name}</h1><p class="facts">key <bdi>{d.key}</bdi> · {length:,} characters · fingerprint {print}</p>'
        "<h2>Text</h2>{text}<h2>Nearest documents</h2>"
        '<form><input type="hidden" name="a" value="{d.key:exact}">{results}</form>',
        name=name_of(shown), d=shown, length=len(shown.text),
        print="none" if shown.fingerprint is None else shown.fingerprint,
        text=box("Text", html('<span class="text">{text}</span>', text=shown.text)),
        results=results(others, radius),
    )
    return frame(queries.table, "", "Document", content)


def box(label: str, text: Html) -> Html:
    """A text in a box that scrolls by itself. The keyboard reaches it by its tabindex."""
    return html('<pre class="document" dir="auto" tabindex="0" role="region" aria-label="{label}">{text}</pre>',
                label=label, text=text)


def compare(queries: Queries, fields: Fields) -> Page:
    """Two documents, or a pasted text and a document, with what they share."""
    min_length, text = fields.number("min", 50, 1, 10_000), fields.get("text", "")
    differences = fields.get("show") == "differences"
    first: Document | None
    own = None
    if text.strip():
        first = pasted(queries, text)
        own = html('<label for="text">Your text</label><textarea id="text" name="text" rows="5" dir="auto"'
                   ' spellcheck="false">\n{text:exact}</textarea>', text=text)
    else:
        first = wanted(queries, fields["a"]) if fields.get("a") else None
    second = wanted(queries, fields["b"]) if fields.get("b") else None
    form = html(
        '<h1>Compare two documents</h1><form action="/compare" {method}>{pasted}<div class="row">{a}{b}{min}'
        '<fieldset><legend class="hidden">Mark</legend>'
        '<label><input type="radio" name="show" value="shared"{shared}> mark what is shared</label>'
        '<label><input type="radio" name="show" value="differences"{different}> mark what differs</label></fieldset>'
        '<button class="main">Compare</button></div></form>',
        method=FORM if own else None, pasted=own, a=None if own else key_input("a", "First key", fields),
        b=key_input("b", "Key" if own else "Second key", fields),
        min=choice("min", "Passages of at least", min_length, 1, 10_000, " characters"),
        shared=None if differences else html(" checked"), different=html(" checked") if differences else None,
    )
    shown = compared(queries, first, second, min_length, differences) if first and second else None
    return frame(queries.table, "/compare", "Compare", html("{form}{shown}", form=form, shown=shown))


def key_input(name: LiteralString, label: str, fields: Fields) -> Html:
    return html(
        '<label class="key">{label} <input name="{name}" value="{value:exact}" required maxlength="200"></label>',
        name=name, label=label, value=fields.get(name, ""),
    )


def compared(queries: Queries, a: Document, b: Document, min_length: int, differences: bool) -> Html:
    whole = len(a.text) + len(b.text) <= WHOLE_TEXTS
    row = queries.compare(a, b, min_length, whole)
    sides = [
        html(
            '<section><h2>{name}</h2><p class="facts">{share} shared of {length:,} characters</p>{text}</section>',
            name=name_of(side) if side.key is None else link_to(side), length=len(side.text),
            # Rounded down: 100 % is all of it.
            share=f"{100 * shared // len(side.text)} %" if side.text else "nothing",
            text=box(f"{which} document", html('<span class="text">{text}</span>', text=html_of_server(headline))),
        )
        for which, side, shared, headline in zip(
            ("First", "Second"), (a, b), (row.shared_a, row.shared_b), (row.headline_a, row.headline_b), strict=True)
    ]
    cut = None if whole else html(
        '<p class="note">These texts are long. Here are the passages that they share, with what stands around them: at'
        " most {fragments} of each.</p>", fragments=FRAGMENTS)
    return html(
        '{cut}<div class="pair{kind}">{sides}</div>{why}', cut=cut, sides=sides,
        kind=" differences" if differences else "", why=why(a, b, row.distance, queries.explain(a, b)),
    )


def why(a: Document, b: Document, distance: int | None, explanation: dict[str, Any] | None) -> Html:
    """What simhash_explain says about two fingerprints."""
    if distance is None or a.fingerprint is None or b.fingerprint is None:
        return html('<p class="note">One of them has no words, so there is no distance.</p>')
    facts = None
    if explanation and explanation.get("features"):
        names = {"a": "the first", "b": "the second"}
        rows = [
            (html("<bdi>{feature}</bdi>", feature=item["feature"]), names.get(item["of"]), item["bits"])
            for item in explanation.get("deciding", [])[:10]
        ]
        caption = "Features that decide the bits that differ"
        table = grid(caption, ["feature", "only in", "#bits"], rows) if rows else None
        facts = html(
            "<p>The texts have {f[shared]:,} features in common, such as words and pairs of words. The first has"
            " {f[a]:,} in all, and the second {f[b]:,}.</p>{table}", f=explanation["features"], table=table)
    return html(
        '<section class="why"><h2>Why this distance</h2><div class="reasons"><figure>{bits}<figcaption>{d} of 64 bits'
        " differ</figcaption></figure><div>{facts}</div></div></section>",
        bits=bits(a.fingerprint, b.fingerprint), d=distance, facts=facts,
    )


def clusters(queries: Queries, fields: Fields) -> Page:
    """Groups of near-duplicates, each with the document that keeps it."""
    radius, page = fields.radius(), fields.number("page", 1, 1, 1_000_000)
    rows = queries.clusters(radius, page)

    def at(number: int) -> str:
        return address("/clusters", radius=radius, page=number)

    items = [
        (f"{row.members:,}", html('<a href="{href}">{name}</a><p class="beginning" dir="auto">{row.beginning}</p>',
                                  row=row, name=name_of(row), href=address("/cluster", radius=radius, keeper=row.key)))
        for row in rows
    ]
    if rows:
        clusters, documents = rows[0].clusters, int(rows[0].documents)
        found = html(
            '<p role="status">{clusters:,} clusters have {documents:,} documents. If each kept its first one,'
            " {gone:,} would go.</p>{table}{pages}<h2>To delete all but the keepers</h2>"
            "<p>This app deletes nothing. Look at some clusters first: a near text is not always a duplicate. Then"
            " these statements, run by the table's owner, keep the first document of each cluster.</p>"
            '<pre class="sql" tabindex="0" role="region" aria-label="Statements">{sql}</pre>',
            clusters=clusters, documents=documents, gone=documents - clusters,
            table=grid("Clusters, the largest first", ["#documents", "keeper"], items),
            pages=pager("More clusters", ("Larger ones", at(page - 1) if page > 1 else None),
                        ("Smaller ones", at(page + 1) if page * CLUSTERS < clusters else None)),
            sql=queries.deletion(radius),
        )
    else:
        found = html('<p role="status" class="note">No two documents are within {radius} bits.</p>', radius=radius)
    form = html(
        '<h1>Clusters</h1><p>A document belongs to a cluster if it is within the radius of its keeper, the first one'
        ' in the order of keys.</p><form action="/clusters"><div class="row">{radius}'
        '<button class="main">Show</button></div></form>{found}',
        radius=choice("radius", "Radius", radius, 0, 64), found=found,
    )
    return frame(queries.table, "/clusters", "Clusters", form)


def pager(label: str, *links: tuple[str, str | None]) -> Html:
    """Links to pages before and after this one. Those without an address are left out."""
    shown = [html('<a href="{href}">{name}</a>', href=href, name=name) for name, href in links if href]
    return html('<nav aria-label="{label}" class="pager">{shown}</nav>', label=label, shown=shown)


def cluster(queries: Queries, fields: Fields) -> Page:
    """A keeper beside one of its duplicates, and the list of the others."""
    radius, keeper = fields.radius(), wanted(queries, fields.get("keeper", ""))
    rows = queries.members(radius, keeper.key or "", keeper.fingerprint)
    if not rows:
        raise Refused(404, "This document keeps no cluster", f"Nothing belongs to it within {radius} bits.")
    shown = next((place for place, row in enumerate(rows) if row.key == fields.get("with")), 0)
    places = [address("/cluster", radius=radius, keeper=keeper.key, **{"with": row.key}) for row in rows]
    items = [
        (row.distance, html('<a href="{href}">{name}</a>', href=href, name=name_of(row)), f"{row.length or 0:,}")
        for row, href in zip(rows, places, strict=True)
    ]
    more = html('<p class="note">The first {most} are listed.</p>', most=MEMBERS) if len(rows) == MEMBERS else None
    content = html(
        '<p><a href="{back}">All clusters within {radius}</a></p><h1>A keeper and its duplicates</h1>'
        "<p>The keeper comes first, and then duplicate {number} of {count}. What differs is marked, and so is what"
        " both have if it is shorter than {min} characters.</p>{pager}{pair}"
        "<h2>All duplicates of this keeper</h2>{table}{more}",
        back=address("/clusters", radius=radius), radius=radius, number=shown + 1, count=len(rows),
        min=PASSAGE_OF_VERSIONS, table=grid(None, ["#bits", "document", "#characters"], items, shown), more=more,
        pager=pager("Other duplicates", ("Previous duplicate", places[shown - 1] if shown else None),
                    ("Next duplicate", places[shown + 1] if shown + 1 < len(rows) else None)),
        pair=compared(queries, keeper, wanted(queries, rows[shown].key), PASSAGE_OF_VERSIONS, differences=True),
    )
    return frame(queries.table, "", "Cluster", content)


def distances(queries: Queries, fields: Fields) -> Page:
    """What distances mean in this table."""
    rows = queries.histogram()
    recommended = next((row.distance for row in rows if row.recommended), None)
    advice = (
        html('<p class="lead">The recommended radius is <strong>{radius}</strong>: <a href="{clusters}">clusters</a>,'
             ' <a href="{search}">search</a>.</p>', radius=recommended,
             clusters=address("/clusters", radius=recommended), search=address("/", radius=recommended))
        if recommended is not None
        else html('<p class="lead">No radius can be recommended: at each, too much of what is found is unrelated, or'
                  " there are too few rows to tell.</p>")
    )
    content = html(
        "<h1>Which radius suits this table</h1>{advice}<p>Versions of a text are on the left, unrelated texts around 32"
        " bits. The recommended radius is for searching: at most one search in ten finds an unrelated row. To delete what"
        " is found, choose a smaller one.</p>"
        "<figure>{pairs}<figcaption>Pairs of a sample, by distance</figcaption></figure>"
        "<figure>{nearest}<figcaption>Rows, by the distance of the nearest other row</figcaption></figure>{table}",
        advice=advice,
        pairs=bars("pairs", "Pairs by distance", "pairs", [row.pairs for row in rows], recommended),
        nearest=bars("nearest", "Rows by the distance of the nearest other", "rows", [row.nearest for row in rows],
                     recommended),
        table=numbers(rows),
    )
    return frame(queries.table, "/distances", "Distances", content)


def numbers(rows: list[Any]) -> Html:
    cells = [
        (
            f"recommended: {row.distance}" if row.recommended else row.distance, f"{row.pairs:,}", f"{row.nearest:,}",
            "" if row.found is None else f"{row.found:,.2f}", "" if row.unrelated is None else f"{row.unrelated:,.4f}",
        )
        for row in rows
    ]
    recommended = next((place for place, row in enumerate(rows) if row.recommended), -1)
    return html(
        "<h2>The same in numbers</h2><p><i>Found</i> is how many rows a search with this radius finds on average, and"
        " <i>unrelated</i> how many of these are expected to be unrelated.</p>"
        '<div class="wide" tabindex="0" role="region" aria-label="Distances">{table}</div>',
        table=grid(None, ["#distance", "#pairs", "#nearest", "#found", "#unrelated"], cells, recommended),
    )
