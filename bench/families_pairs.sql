-- Pairs of near texts of 2 KB, in an order that looks random.
SELECT left(a.body, 2000), left(b.body, 2000)
FROM document AS a JOIN document AS b ON a.id < b.id AND hamming(a.si, b.si) <= 18
WHERE length(a.body) >= 2000 AND length(b.body) >= 2000
ORDER BY hashint8(a.id * 100000 + b.id), a.id, b.id LIMIT 3000;
