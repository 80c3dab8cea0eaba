# Two pictures for docs/choosing-a-threshold.md, from plots.tsv: collection, kind, change, scheme, radius, false pairs in a million, found (%).
set datafile separator "\t"
set grid linecolor "gray85"
set pointsize 0.3
array schemes = ["doc2", "doc1", "minhash, 64 × 1 bit", "word:1", "char:8", "commoncrawl", "simhash-doc", "tsvector", "clickhouse word:3", "python simhash"]
array colors = ["#d62728", "#ff9896", "#000000", "#17becf", "#2ca02c", "#1f77b4", "#bcbd22", "#ff7f0e", "#9467bd", "#8c564b"]
array kinds = ["documents", "documents", "documents", "sentences"]
array changes = ["deleted", "replaced", "framed", "replaced"]
array titles = ["deleted: 1 to 80 %", "replaced: 5 to 30 % of the words", "framed: header and footer", "sentences, words replaced"]
array collections = ["A", "B"]
array languages = ["English", "other languages"]
wide(i) = i == 1 ? 3 : 1.5
of(c, k, scheme, value) = strcol(1) eq collections[c] && strcol(2) eq kinds[k] && strcol(3) eq changes[k] && strcol(4) eq scheme ? value : NaN

set terminal svg size 1240,620 font "sans-serif,12" background "white"
set output "found.svg"
set logscale x
set format x "10^{%T}"
set xrange [0.1:1000]
set yrange [0:100]
set arrow from 10, 0 to 10, 100 nohead dashtype 2 linecolor "gray40"
unset key
set multiplot
do for [c = 1:2] {
    do for [k = 1:4] {
        set origin 0.2 * (k - 1), 0.5 * (2 - c)
        set size 0.2, 0.5
        set title titles[k] offset 0, -0.5
        set xlabel (c == 2 ? "false pairs in a million" : "")
        set ylabel (k == 1 ? sprintf("%s: found, %%", languages[c]) : "")
        plot for [i = 1:|schemes|] "plots.tsv" using (of(c, k, schemes[i], $6)):7 with linespoints linewidth wide(i) pointtype 7 linecolor rgb colors[i]
    }
}
# The names of the lines.
set origin 0.8, 0
set size 0.2, 1
unset title
unset xlabel
unset ylabel
unset border
unset tics
unset grid
unset arrow
set key at screen 0.81, 0.95 left top Left reverse samplen 2 noenhanced
plot for [i = 1:|schemes|] NaN with lines linewidth wide(i) linecolor rgb colors[i] title schemes[i]
unset multiplot

reset
set datafile separator "\t"
set grid linecolor "gray85"
set terminal svg size 1080,380 font "sans-serif,13" background "white"
set output "radius.svg"
set key outside right top Left reverse samplen 1.5 noenhanced
set xlabel "radius"
set xrange [0:20]
set multiplot
set size 0.4, 1
set origin 0, 0
set ylabel "deleted: found in English, %"
set yrange [0:100]
plot for [i = 1:|schemes|] "plots.tsv" using 5:(of(1, 1, schemes[i], $7)) with lines linewidth wide(i) linecolor rgb colors[i] notitle
set size 0.6, 1
set origin 0.4, 0
set ylabel "false pairs in a million, English"
set logscale y
set yrange [0.03:100000]
plot for [i = 1:|schemes|] "plots.tsv" using 5:(of(1, 1, schemes[i], $6)) with lines linewidth wide(i) linecolor rgb colors[i] title schemes[i]
unset multiplot
