# SPDX-License-Identifier: GPL-2.0-or-later
# The file of tests/bench/stats, looked over with R: prints what differs.
lines <- readLines(commandArgs(TRUE)[1])
bad <- 0
seen <- 0
near <- function(a, b, tolerance = 1e-9) {
	if (is.nan(a) || is.nan(b) || is.na(a) || is.na(b))
		return(is.na(a) == is.na(b))
	a == b || abs(a - b) <= tolerance * max(abs(a), abs(b)) || max(abs(a), abs(b)) < 1e-290
}
tell <- function(set, what, ours, theirs) {
	bad <<- bad + 1
	cat(sprintf("set %d (%s): %s is %.15g, R has %.15g\n", set, lines[4 * set - 3], what, ours, theirs))
}
numbers <- function(line) as.numeric(strsplit(line, " ")[[1]])
for (set in seq_len(length(lines) / 4)) {
	head <- strsplit(lines[4 * set - 3], " ")[[1]]
	x <- numbers(lines[4 * set - 2])
	y <- numbers(lines[4 * set - 1])
	ours <- numbers(lines[4 * set])
	check <- function(what, mine, theirs, tolerance = 1e-9) {
		seen <<- seen + 1
		if (!near(mine, theirs, tolerance)) tell(set, what, mine, theirs)
	}
	if (head[1] == "joint") next # stats.py counts them
	paired <- head[2] == "1"
	tied <- if (paired) any(y == x) || anyDuplicated(abs(y - x)) > 0 else anyDuplicated(c(x, y)) > 0
	# R before 4.6 has no exact values with ties: stats.py compares those with brute force.
	exact <- ours[7] == 1 && !tied
	w <- suppressWarnings(wilcox.test(y, x, paired = paired, exact = exact, conf.int = exact && length(x) > 2 &&
		length(y) > 2))
	p <- w$p.value
	if (is.nan(p)) p <- 1 # nothing differs
	# R 4.6 subtracts small p-values from 1: the last digits are lost.
	if ((!tied || ours[7] == 0) && (getRversion() < "4.6" || abs(ours[1] - p) > 1e-15)) check("p", ours[1], p)
	if (is.finite(w$p.value)) check("statistic", ours[3], unname(w$statistic))
	if (!is.null(w$conf.int)) {
		check("shift", ours[4], unname(w$estimate), 1e-7)
		check("shift low", ours[5], w$conf.int[1])
		check("shift high", ours[6], w$conf.int[2])
	}
	# Of fourth powers of huge and tiny errors R makes inf and 0; t is the same in any unit.
	unit <- if (head[1] == "huge") 1e150 else if (head[1] == "tiny") 1e-150 else 1
	t <- tryCatch(t.test(y / unit, x / unit, paired = paired)$p.value, error = function(e) NaN)
	check("p of t", ours[2], t, 1e-7)
	check("mean", ours[8], mean(x), 1e-12)
	check("stdev", ours[9], sd(x), 1e-9)
	q <- quantile(x, c(.5, .9, .95, .99, .999), type = 7, names = FALSE)
	for (i in 1:5) check(c("p50", "p90", "p95", "p99", "p99_9")[i], ours[9 + i], q[i], 1e-12)
}
cat(sprintf("%d figures held to R, %d differ\n", seen, bad))
if (bad > 0 || seen < 1000) quit(status = 1)
