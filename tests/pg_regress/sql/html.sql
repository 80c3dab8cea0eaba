-- the text that readers see
SELECT extract_text($$<!doctype html><html lang=en><head><meta charset=utf-8><title>Title</title>
<style>p { margin: 0 }</style><script>if (1 < 2) document.write("<p>no</p>")</script></head>
<body><h1>Annual   report</h1><p>Sales of <b>W</b>idgets &amp; more,<br>caf&eacute; &#8212; see <a href="https://example.org/?a=1&b=2">here</a>.
<table><caption>Table 1</caption><tr><th>Year<th>Units<tr><td>1994</td><td>25</td></table>
<figure><img src=x alt="not text"><figcaption>Fig. 1</figcaption></figure><blockquote>Quoted.</blockquote>
<pre>  as
    is</pre><ol><li>Knuth 1973<li>Manber 1994</ol><!-- comment --></body></html>$$);
-- malformed
SELECT extract_text(html) FROM unnest(ARRAY['', 'plain', 'a < b > c', '<p>x', '</p></div>y', '<b><i>crossed</b></i>', '<p title="</p>">z', '<', '</', '<!', '&#xD800;&#0;|', '<title>open']) AS html;
SELECT extract_text(NULL) AS null;
-- bombs
SELECT extract_text(repeat('<div>', 100000) || 'x') AS deep, length(extract_text(repeat('&amp;', 100000))) AS entities, extract_text(repeat('<a b=c ', 100000)) AS unclosed;
-- with fingerprints
SELECT simhash(extract_text('<p>Hello, <b>big</b> world')) = simhash('hello big world') AS same;
