# Two pictures for docs/choosing-a-threshold.md, from plots.tsv: scheme, radius, insertions, deletions and all found (%), false pairs in a million.
set datafile separator "\t"
set key outside right top Left reverse samplen 1.5 noenhanced
set grid linecolor "gray85"
set pointsize 0.4
array schemes = ["doc1", "commoncrawl", "word:1", "char:8", "tsvector", "minhash, 64 × 1 bit", "clickhouse word:3", "python simhash"]
array colors = ["#d62728", "#1f77b4", "#17becf", "#2ca02c", "#ff7f0e", "#000000", "#9467bd", "#8c564b"]
wide(i) = i == 1 ? 3.5 : 1.8
of(name, value) = strcol(1) eq name ? value : NaN

set terminal svg size 800,420 font "sans-serif,13" background "white"
set output "found.svg"
set xlabel "false pairs in a million pairs of unrelated documents"
set ylabel "insertions and deletions found, %"
set logscale x
set xrange [0.02:10000]
set yrange [40:100]
set arrow from 10, 40 to 10, 100 nohead dashtype 2 linecolor "gray40"
set arrow from 0.02, 66 to 10000, 66 nohead dashtype 2 linecolor "gray40"
set label "66 %: the paper, at radius 6" at 9000, 64.5 right font "sans-serif,11" textcolor "gray30"
plot for [i = 1:|schemes|] "plots.tsv" using (of(schemes[i], $6)):5 with linespoints linewidth wide(i) pointtype 7 linecolor rgb colors[i] title schemes[i]

set terminal svg size 980,380 font "sans-serif,13" background "white"
set output "radius.svg"
unset arrow
unset label
unset logscale
set xlabel "radius"
set xrange [0:20]
set multiplot
set size 0.4, 1
set origin 0, 0
set ylabel "deletions found, %"
set yrange [0:100]
plot for [i = 1:|schemes|] "plots.tsv" using 2:(of(schemes[i], $4)) with lines linewidth wide(i) linecolor rgb colors[i] notitle
set size 0.6, 1
set origin 0.4, 0
set ylabel "false pairs in a million"
set logscale y
set yrange [0.03:100000]
plot for [i = 1:|schemes|] "plots.tsv" using 2:(of(schemes[i], $6)) with lines linewidth wide(i) linecolor rgb colors[i] title schemes[i]
unset multiplot
